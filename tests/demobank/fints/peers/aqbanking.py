"""AqBanking's command line tools, with somebody at the keyboard who accepts the certificate, and types PIN and TAN."""

import os
from pathlib import Path

import pexpect

WAIT_TIMEOUT_SECONDS = 60
QUESTIONS = [
    "wish to accept this certificate",
    "Input: ",
    pexpect.EOF,
]


class AqBanking:
    """One customer, with a configuration folder of its own."""

    def __init__(self, folder: Path, url: str, login: str, pin: str = "demo") -> None:
        self.folder = folder
        self.login = login
        self.url = url
        self.pin = pin
        self.tan = "2"
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, tool: str, *arguments: str) -> tuple[int, str]:
        """Exit code and everything printed."""
        command = [f"--cfgdir={self.folder}", *arguments]
        environment = os.environ | {"LC_ALL": "C.UTF-8", "GWEN_LOGLEVEL": "error", "AQBANKING_LOGLEVEL": "error"}
        child = pexpect.spawn(
            tool, command, timeout=WAIT_TIMEOUT_SECONDS, encoding="utf-8", codec_errors="replace", env=environment
        )
        shown = ""
        try:
            while True:
                found = child.expect(QUESTIONS)
                shown += (child.before or "") + (child.after if isinstance(child.after, str) else "")
                if found == 0:
                    child.sendline("1")
                elif found == 1:
                    child.sendline(self.tan if "TAN Entry" in child.before else self.pin)
                else:
                    break
        finally:
            child.close()
        return child.exitstatus or 0, shown

    def hbci(self, *arguments: str) -> tuple[int, str]:
        return self.run("aqhbci-tool4", *arguments)

    def cli(self, *arguments: str) -> tuple[int, str]:
        return self.run("aqbanking-cli", *arguments)

    def add_user(self) -> None:
        code, shown = self.hbci(
            "adduser",
            "-t",
            "pintan",
            "--context=1",
            "-b",
            "99999999",
            "-u",
            self.login,
            "-c",
            self.login,
            "-s",
            self.url,
            "-N",
            "Peer",
            "--hbciversion=300",
        )
        assert code == 0, shown
