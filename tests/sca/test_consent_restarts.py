"""A dialogue outlives the processes it runs in: the server is killed between any two steps of every flow."""

import os
import signal
from dataclasses import replace

import pytest

from banking import href, new_customer
from consenting import WAYS, Consent, at_server, codes, decide_at_bank, new_login, start
from plain_http import plain_client
from processes import free_port, start_kontor, wait_until_ready


class KillableServer:
    """`kontor serve` on a port of its own, to be killed and started again."""

    def __init__(self, settings, log):
        self.settings = replace(settings, base_url=f"http://127.0.0.1:{free_port()}", compute_preload=False)
        self.log = log
        self.start()

    def start(self):
        port = self.settings.base_url.rpartition(":")[2]
        self.process = start_kontor(self.settings, ["serve", "--port", port, "--workers", "1"], self.log)
        wait_until_ready(self.settings.base_url, self.process, self.log, seconds=90)

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)

    def revive(self):
        self.kill()
        self.start()


@pytest.fixture
def killable_server(settings, bank_server, tmp_path):
    server = KillableServer(settings, tmp_path / "killable_server.log")
    yield server
    server.kill()


def test_every_flow_goes_on_after_a_kill_between_any_two_steps(killable_server, shared, owner):
    """All flows side by side: each one makes a step, then the server dies and comes back, and so on."""
    with plain_client(base_url=killable_server.settings.base_url, timeout=60) as http:
        customer = at_server(new_customer(shared), http)
        flows: list[tuple[Consent, list]] = [(start(customer, new_login(login)), list(WAYS[login])) for login in WAYS]
        asking = start(customer, new_login("test_phototan"), queryTanSettings="true")
        flows.append(
            (
                asking,
                [
                    ("BA3010", "set_method", {"chosenScaMethodId": 902}),
                    ("BA3020", "set_medium", {"chosenScaMedia": "Mein Handy"}),
                    ("BA3030", "authenticate", "8534842"),
                ],
            )
        )
        failing = start(customer, new_login("test_chiptan"))
        cancelled = start(customer, new_login("test_sca_method"))
        kills = 0
        while any(steps for _, steps in flows):
            before = [consent.read() for consent, _ in flows]
            killable_server.revive()
            kills += 1
            assert [consent.read() for consent, _ in flows] == before
            if kills <= 3:
                expected = ["BA1103", "BA3040" if kills == 3 else "BA3030"]
                assert codes(failing.enter("1")) == expected
            if kills == 2:
                assert codes(cancelled.cancel()) == ["BA3040"]
            for consent, steps in flows:
                if steps:
                    step(consent, steps.pop(0), owner)
        killable_server.revive()
        assert [consent.code for consent, _ in flows] == ["BA3050"] * len(flows)
        assert codes(failing.read()) == ["BA1103", "BA3040"]
        assert failing.post({"scaAuthenticationData": "936086"}).status_code == 409
        assert cancelled.code == "BA3040"
        for consent, _ in flows:
            consent.wait_until_complete()


def step(consent: Consent, exchange, owner) -> None:
    code, rel, answer = exchange
    status = consent.read()
    assert codes(status) == [code]
    if code == "BA3005":
        decide_at_bank(owner, href(status, "redirect_url"))
    consent.answer(rel, answer if isinstance(answer, dict) else {"scaAuthenticationData": answer})
