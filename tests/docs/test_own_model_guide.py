"""The guide to an own model works as pasted, against a server in the form of OpenAI's API."""

import asyncio
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psycopg

from known_merchants import make_tenant, pay
from kontor.bootstrap import open_services
from kontor.config import export_settings
from model_servers import ModelServer
from process_tree import clean_environment
from processes import beside, running_server
from timeouts import WAIT_TIMEOUT_SECONDS

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "own-model.md"


async def test_every_line_works_as_pasted(settings, tmp_path):
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 8
    with ModelServer({"zirbelglueck": "SHOPPING_OTHER"}) as server, beside(settings) as own:
        own = replace(own, compute_processes=1, compute_preload=False)
        async with open_services(replace(own, pool_size=2), "kontor tests") as services:
            with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as owner:
                tenant = await make_tenant(services, owner, name="demo", is_on=False)
            await tenant.add_payer(pay("ZIRBELGLUECK"), pay("Peter Canary"))
        with running_server(own, tmp_path / "server.log") as address:
            environment = clean_environment(**export_settings(own)) | {
                "KONTOR_BASE_URL": address,
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            }
            script = "set -eu\n" + "echo ---\n".join(blocks).replace("http://127.0.0.1:11434/v1", server.base_url)
            ran = await asyncio.to_thread(
                subprocess.run,
                ["bash", "-c", script],
                env=environment,
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=WAIT_TIMEOUT_SECONDS,
                check=False,
            )
        assert ran.returncode == 0, ran.stderr
        _, preview, switched, _, measured, suggested, managed, off = ran.stdout.split("---\n")
        assert f"To {server.base_url}/chat/completions:" in ran.stderr + preview
        assert '{"merchant": "zirbelglueck"}' in preview
        assert "canary" not in ran.stdout.lower()
        assert server.merchants == ["zirbelglueck", "zirbelglueck", "quendelhof"]
        assert re.search(r"category right\W+1\.0\W+1\W", measured)
        assert re.search(r"asksOwnModel\W+(yes|true)", switched, re.IGNORECASE)
        assert re.search(r"asksOwnModel\W+(no|false)", off, re.IGNORECASE)
        assert '"systemName":"SHOPPING_OTHER"' in suggested
        assert '"status":"APPROVED"' in managed
        assert '"systemName":"RECREATION_HOBBY"' in managed
