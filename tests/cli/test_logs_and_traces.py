"""What is told to the outside: log lines, and traces to a real receiver. Neither carries a secret."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from uuid import uuid4

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from kontor.config import export_settings
from kontor.domain.secrets import Secret
from kontor.logs import mask_secrets
from process_tree import clean_environment, find_port, running_servers, wait_until


def run_python(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=clean_environment())


LOGGING = """
import logging, sys, structlog
from kontor.domain.secrets import Secret
from kontor.logs import configure_logs
from kontor.services.runtime import correlation_id
configure_logs("info", sys.argv[1])
correlation_id.set("call-42")
log = structlog.get_logger("test")
log.info("an event", amount=7, password="hidden", nested={"client_secret": "hidden", "list": [Secret("hidden")]})
log.debug("too fine")
try:
    raise ValueError("token kontor_at_hidden and postgresql://kontor:hidden@db/x")
except ValueError:
    log.exception("failed")
logging.getLogger("library").warning("Authorization: Bearer hidden-hidden")
logging.getLogger("library").info("too fine")
"""


def test_json_logs_are_one_object_per_line_with_correlation_id_and_masks():
    told = run_python(LOGGING, "json").stderr
    lines = [json.loads(line) for line in told.splitlines()]
    assert [line["event"] for line in lines] == ["an event", "failed", "Authorization: Bearer ***"]
    assert {line["correlation_id"] for line in lines} == {"call-42"}
    assert all({"level", "timestamp"} <= set(line) for line in lines)
    assert all(line["timestamp"].endswith("Z") for line in lines)
    assert lines[0]["amount"] == 7
    assert "ValueError" in lines[1]["exception"]
    assert "hidden" not in told.replace("hidden-hidden", "hidden")


def test_text_logs_are_for_people_and_mask_as_well():
    told = run_python(LOGGING, "text").stderr
    assert "an event" in told
    assert "correlation_id=call-42" in told
    assert "ValueError" in told
    assert "hidden" not in told
    with pytest.raises(json.JSONDecodeError):
        json.loads(told.splitlines()[0])


@pytest.mark.parametrize(
    "name",
    [
        "password", "userPassword", "client_secret", "access_token", "Authorization", "api_key", "x-api-key", "apiKey",
        "credentials", "set-cookie", "pin", "bank_pin", "userPin", "tan", "tan-value", "database_url", "master_key",
    ],
)  # fmt: skip
def test_fields_that_sound_secret_are_masked(name):
    assert mask_secrets(None, "info", {name: "value"}) == {name: "***"}


@pytest.mark.parametrize("name", ["operation", "shipping", "instant", "amount", "status", "tenant", "iban_count"])
def test_other_fields_are_left_alone(name):
    assert mask_secrets(None, "info", {name: "value"}) == {name: "value"}


def test_secrets_are_masked_at_every_depth_and_in_texts():
    deep = {"a": [{"b": ({"pin": "1234"}, Secret("x"), "Basic YWJjOmRlZg==")}]}
    masked = mask_secrets(None, "info", {"event": "kontor_key_abc-DEF", "facts": deep})
    assert masked == {"event": "kontor_key_***", "facts": {"a": [{"b": [{"pin": "***"}, "***", "Basic ***"]}]}}


def test_libraries_cannot_bring_down_a_log_line():
    """An object that nobody foresaw is shown by its name, not raised."""
    script = (
        "import structlog, logging; from kontor.logs import configure_logs; configure_logs('info', 'json')\n"
        "structlog.get_logger().info('odd', what=object(), key=b'bytes')\n"
        "logging.getLogger('x').warning('%s', 'formatted')"
    )
    lines = [json.loads(line) for line in run_python(script).stderr.splitlines()]
    assert [line["event"] for line in lines] == ["odd", "formatted"]


# Traces


class Collector(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/v1/traces":
            request = ExportTraceServiceRequest.FromString(body)
            for resource in request.resource_spans:
                for scope in resource.scope_spans:
                    self.server.spans += [(resource.resource, span) for span in scope.spans]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Collector)
    server.spans = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_real_receiver_gets_the_spans_and_logs_carry_the_correlation_id(collector, settings, shared, tmp_path):
    own = replace(settings, otlp_endpoint=f"http://127.0.0.1:{collector.server_port}", log_level="info")
    trace, parent, call = uuid4().hex, uuid4().hex[:16], f"call-{uuid4()}"
    with running_servers(own, tmp_path, 1) as [(address, server)]:
        headers = {"traceparent": f"00-{trace}-{parent}-01", "x-correlation-id": call, **shared.as_user}
        answer = httpx.get(f"{address}/providers/v2?q=in-the-query", headers=headers)
        assert answer.headers["x-correlation-id"] == call
        assert httpx.get(f"{address}/no/such/path", headers={"traceparent": "nonsense"}).status_code == 404
    # The server has ended; what it had not sent by then was sent on the way.
    spans = {span.name: (resource, span) for resource, span in collector.spans}
    resource, span = spans["GET list_providers"]
    assert span.trace_id.hex() == trace
    assert span.parent_span_id.hex() == parent
    facts = {attribute.key: attribute.value for attribute in span.attributes}
    assert facts["http.response.status_code"].int_value == 200
    assert facts["http.request.method"].string_value == "GET"
    assert facts["kontor.operation"].string_value == "list_providers"
    assert span.status.code != Status.STATUS_CODE_ERROR
    assert {entry.key: entry.value.string_value for entry in resource.attributes}["service.name"] == "kontor"
    stranger = spans["GET none"][1]
    assert stranger.parent_span_id == b""
    told = "".join(str(span) for _, span in spans.values())
    for hidden in ("in-the-query", shared.tokens["user"], call):
        assert hidden not in told
    lines = [json.loads(line) for line in server.printed.splitlines()]
    [line] = [line for line in lines if line["correlation_id"] == call]
    assert (line["event"], line["operation"], line["status"]) == ("request", "list_providers", 200)
    assert line["tenant"] == shared.name
    assert shared.tokens["user"] not in server.printed
    assert "in-the-query" not in server.printed


def test_a_collector_that_is_away_harms_nobody(settings, tmp_path):
    own = replace(settings, otlp_endpoint=f"http://127.0.0.1:{find_port()}")
    with running_servers(own, tmp_path, 1) as [(address, server)]:
        assert [httpx.get(f"{address}/health/live").status_code for _ in range(5)] == [200] * 5
        server.process.terminate()
        wait_until(lambda: server.process.poll() is not None, "the server ends all the same", 20)
        assert server.process.returncode == 0


def test_without_a_collector_nothing_of_opentelemetry_is_loaded(settings):
    """Apart from a few names that Litestar looks for by itself, and does nothing with."""
    script = (
        "import sys; from kontor.bootstrap import create_app, create_worker; from kontor.config import read_settings\n"
        "create_app(); create_worker(read_settings())\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry.') and 'semconv' not in name])"
    )
    environment = clean_environment(**export_settings(settings))
    result = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
