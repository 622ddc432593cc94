"""Take a picture of each page of the console, and weigh it: `./dev screenshots` (needs Chromium).

Starts a demo of its own, signs in as its sample user and as its operator, and writes `docs/screenshots/console/` and
`docs/benchmarks/console.md`. With names of pages (`contracts ops`) only those pictures, and no table.
"""

import os
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "screenshots" / "console"
sys.path[:0] = [str(ROOT)]

from benchmarks.report import write_table_page  # noqa: E402
from playwright.sync_api import Browser, Page, Response, sync_playwright  # noqa: E402 (our own modules come next)
from running_demos import running_demo  # noqa: E402

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
ROUNDS = 5


@dataclass(frozen=True)
class Scene:
    """A page; `account` stands for the address of the sample's first account."""

    name: str
    path: str
    is_phone: bool = False
    is_dark: bool = False
    is_english: bool = False
    is_operator: bool = False
    is_whole: bool = True


SCENES = [
    Scene("sign-in", "/sign-in", is_whole=False),
    Scene("overview", ""),
    Scene("accounts", "/accounts"),
    Scene("account", "account"),
    Scene("transactions", "/transactions", is_whole=False),
    Scene("imports", "/imports"),
    Scene("statements", "/statements"),
    Scene("contracts", "/contracts", is_whole=False),
    Scene("cashflow", "/cashflow", is_whole=False),
    Scene("disposable", "/disposable"),
    Scene("life", "/life", is_whole=False),
    Scene("insurances", "/insurances", is_whole=False),
    Scene("triggers", "/triggers"),
    Scene("affordability", "/affordability", is_whole=False),
    Scene("quickstart", "/quickstart", is_whole=False),
    Scene("data", "/data"),
    Scene("overview-phone-dark", "", is_phone=True, is_dark=True, is_whole=False),
    Scene("cashflow-dark-english", "/cashflow", is_dark=True, is_english=True, is_whole=False),
    Scene("disposable-phone", "/disposable", is_phone=True, is_whole=False),
    Scene("ops", "/ops", is_operator=True),
    Scene("ops-tenants", "/ops/tenants", is_operator=True),
    Scene("ops-accesses", "/ops/accesses", is_operator=True),
    Scene("ops-audit", "/ops/audit?tenant=demo-redirect&verify=yes", is_operator=True, is_whole=False),
]


class Photographer:
    def __init__(self, browser: Browser, facts: dict[str, Any]) -> None:
        self.browser = browser
        self.base = facts["console"]["url"]
        self.operator_token = facts["console"]["operatorToken"]
        self.pages: dict[tuple[bool, ...], Page] = {}

    def open(self, scene: Scene) -> Page:
        """A browser of the scene's kind, signed in where the scene needs it."""
        key = (scene.is_phone, scene.is_dark, scene.is_english, scene.is_operator, scene.name == "sign-in")
        if key not in self.pages:
            context = self.browser.new_context(
                locale="en-GB" if scene.is_english else "de-DE",
                viewport=PHONE if scene.is_phone else DESKTOP,
                color_scheme="dark" if scene.is_dark else "light",
                reduced_motion="reduce",
            )
            self.pages[key] = context.new_page()
            if scene.name != "sign-in":
                self._sign_in(self.pages[key], is_operator=scene.is_operator)
        return self.pages[key]

    def _sign_in(self, page: Page, *, is_operator: bool) -> None:
        if is_operator:
            page.goto(f"{self.base}/ops/sign-in")
            page.fill("#operator-token", self.operator_token)
            page.locator("#operator-token").press("Enter")
        else:
            page.goto(f"{self.base}/sign-in")
            page.click("#sample")
        page.wait_for_selector("body.signed-in")

    def visit(self, page: Page, scene: Scene) -> None:
        path = scene.path
        if path == "account":
            page.goto(f"{self.base}/accounts")
            path = str(page.locator("main table a").first.get_attribute("href")).removeprefix("/console")
        page.goto(self.base + path)
        if page.locator("figure.chart").count():
            page.wait_for_selector("html[data-charts=drawn]")
        page.wait_for_load_state("networkidle")

    def take(self, scene: Scene) -> None:
        page = self.open(scene)
        self.visit(page, scene)
        page.screenshot(path=TARGET / f"{scene.name}.png", full_page=scene.is_whole)
        print(f"{scene.name}.png", flush=True)

    def weigh(self, scene: Scene) -> tuple[str, ...]:
        """Its weight for a browser that has seen nothing yet, and when it can be used: the middle of some visits."""
        page = self.open(scene)
        self.visit(page, scene)
        address = page.url
        fresh = self.browser.new_context(
            storage_state=page.context.storage_state(), locale="de-DE", viewport=DESKTOP, reduced_motion="reduce"
        )
        first = fresh.new_page()
        responses: list[Response] = []
        # A method of a list cannot be marked as handled.
        first.on("response", lambda response: responses.append(response))
        first.goto(address)
        first.wait_for_load_state("networkidle")
        sizes = [response.request.sizes()["responseBodySize"] for response in responses]
        times = []
        for _ in range(ROUNDS):
            first.goto(address)
            times.append(first.evaluate("performance.getEntriesByType('navigation')[0].domInteractive"))
        fresh.close()
        return scene.name, f"{sum(sizes) / 1000:.0f} kB", str(len(sizes)), f"{statistics.median(times):.0f} ms"


def main(names: list[str]) -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    chosen = [scene for scene in SCENES if not names or scene.name in names]
    with running_demo() as facts, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        photographer = Photographer(browser, facts)
        for scene in chosen:
            photographer.take(scene)
        if not names:
            plain = [scene for scene in SCENES if not (scene.is_phone or scene.is_dark)]
            machine = {
                "Cores": str(os.cpu_count()),
                "Load before": f"{os.getloadavg()[0]:.1f}",
                "Chromium": browser.version,
            }
            write_weights([photographer.weigh(scene) for scene in plain], machine)
        browser.close()


def write_weights(rows: list[tuple[str, ...]], machine: dict[str, str]) -> None:
    write_table_page(
        ROOT / "docs/benchmarks/console.md",
        "The console's pages",
        "Size of each page of the demo's sample user with an empty browser cache (as transferred, with styles,"
        " scripts and images), number of requests, and time until it is interactive (`domInteractive`, median of"
        f" {ROUNDS} visits). Written by `./dev screenshots`; the times are from one run on one machine.",
        ("Page", "Weight", "Requests", "Interactive"),
        rows,
        ["Targets: under 300 kB, and interactive within a second on the demo's data."],
        machine,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
