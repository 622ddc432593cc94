"""Take a picture of each page of the console, and weigh it: `./dev screenshots` (needs Chromium).

Starts a demo of its own, signs in as its sample user, as its adviser and as its operator, and writes
`docs/screenshots/console/` and `docs/benchmarks/console.md`. With names of pages (`contracts ops`) only those pictures,
and no table; with `--weigh` no pictures.
"""

import os
import statistics
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "screenshots" / "console"
sys.path[:0] = [str(ROOT)]

from benchmarks.report import write_table_page  # noqa: E402
from playwright.sync_api import Browser, Page, Response, sync_playwright  # noqa: E402 (our own modules come next)
from running_demos import running_demo  # noqa: E402

PROGRAMS = ("/usr/bin/chromium", "/usr/bin/chromium-headless-shell")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
ROUNDS = 3
WAIT_TIMEOUT_SECONDS = 240
ENOUGH_CONTRACTS = 20
# A slow phone: the profile "Slow 4G" of Chromium's developer tools, and a processor of a quarter of this one's speed.
SLOW_NETWORK = {
    "offline": False, "latency": 150, "downloadThroughput": 1_600_000 / 8, "uploadThroughput": 750_000 / 8,
}  # fmt: skip
SLOWER_BY = 4
WATCH_SHIFTS = """
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
  }).observe({type: "layout-shift", buffered: true});
"""
FIND_TIMES = """() => {
  const {responseStart, domInteractive} = performance.getEntriesByType('navigation')[0];
  return [responseStart, domInteractive];
}"""


BERLIN = ZoneInfo("Europe/Berlin")
LAST_MONTH = f"{datetime.now(BERLIN).replace(day=1) - timedelta(days=1):%Y-%m}"


@dataclass(frozen=True)
class Scene:
    """A page; `account` stands for the address of the sample's first account."""

    name: str
    path: str
    is_phone: bool = False
    is_dark: bool = False
    is_english: bool = False
    is_operator: bool = False
    is_adviser: bool = False
    is_whole: bool = True

    @property
    def is_open(self) -> bool:
        """For everybody, signed in or not."""
        return self.name == "sign-in" or self.path.startswith("/docs")


SCENES = [
    Scene("sign-in", "/sign-in", is_whole=False),
    Scene("overview", ""),
    Scene("accounts", "/accounts"),
    Scene("account", "account"),
    Scene("transactions", "/transactions", is_whole=False),
    Scene("transactions-month-phone", f"/transactions?month={LAST_MONTH}", is_phone=True, is_whole=False),
    Scene("connect", "/connect"),
    Scene("imports", "/imports"),
    Scene("statements", "/statements"),
    Scene("contracts", "/contracts", is_whole=False),
    Scene("cashflow", "/cashflow", is_whole=False),
    Scene("cashflow-month-phone", f"/cashflow?month={LAST_MONTH}", is_phone=True, is_whole=False),
    Scene("disposable", "/disposable"),
    Scene("budgets", "/budgets"),
    Scene("goals", "/goals"),
    Scene("payments", "/payments"),
    Scene("devices", "/devices"),
    Scene("permissions", "/permissions"),
    Scene("disclosures", "/disclosures"),
    Scene("credit-files", "/credit-files"),
    Scene("life", "/life", is_whole=False),
    Scene("insurances", "/insurances", is_whole=False),
    Scene("sign-ins", "/sign-ins"),
    Scene("triggers", "/triggers"),
    Scene("affordability", "/affordability", is_whole=False),
    Scene("quickstart", "/quickstart", is_whole=False),
    Scene("data", "/data"),
    Scene("overview-phone-dark", "", is_phone=True, is_dark=True, is_whole=False),
    Scene("cashflow-dark-english", "/cashflow", is_dark=True, is_english=True, is_whole=False),
    Scene("disposable-phone", "/disposable", is_phone=True, is_whole=False),
    Scene("ops", "/ops", is_operator=True),
    Scene("contracts-phone", "/contracts", is_phone=True, is_whole=False),
    Scene("insurances-phone-dark", "/insurances", is_phone=True, is_dark=True, is_whole=False),
    Scene("adviser", "/adviser", is_adviser=True),
    Scene("credit-reviews", "/credit-reviews", is_adviser=True),
    Scene("docs", "/docs", is_whole=False),
    Scene("docs-customer-phone-dark", "/docs/customer", is_phone=True, is_dark=True, is_whole=False),
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
        who = (scene.is_operator, scene.is_adviser, scene.is_open)
        key = (scene.is_phone, scene.is_dark, scene.is_english, *who)
        if key not in self.pages:
            context = self.browser.new_context(
                locale="en-GB" if scene.is_english else "de-DE",
                viewport=PHONE if scene.is_phone else DESKTOP,
                color_scheme="dark" if scene.is_dark else "light",
                reduced_motion="reduce",
            )
            self.pages[key] = context.new_page()
            if not scene.is_open:
                self._sign_in(self.pages[key], scene)
        return self.pages[key]

    def _sign_in(self, page: Page, scene: Scene) -> None:
        if scene.is_operator:
            page.goto(f"{self.base}/ops/sign-in")
            page.fill("#operator-token", self.operator_token)
            page.locator("#operator-token").press("Enter")
        else:
            page.goto(f"{self.base}/sign-in")
            page.click("#sample-adviser" if scene.is_adviser else "#sample")
        page.wait_for_selector("body.signed-in")

    def wait_for_data(self) -> None:
        """Until the sample's first fetch is stored and all of it is tagged."""
        page = self.open(Scene("overview", ""))
        for _ in range(WAIT_TIMEOUT_SECONDS):
            page.goto(f"{self.base}/contracts")
            if page.locator("table.contracts tbody tr").count() > ENOUGH_CONTRACTS:
                return
            page.wait_for_timeout(1000)
        raise SystemExit("the sample user has no contracts")

    def visit(self, page: Page, scene: Scene) -> None:
        path = scene.path
        if path == "account":
            page.goto(f"{self.base}/accounts")
            path = str(page.locator("main table a").first.get_attribute("href")).removeprefix("/console")
        page.goto(path_of(self.base, path))
        if scene.name == "statements":
            self._ask_for_statements(page)
        if page.locator("figure.chart").count():
            page.wait_for_selector("html[data-charts=drawn]")
        page.wait_for_load_state("networkidle")

    def _ask_for_statements(self, page: Page) -> None:
        """Until some are there."""
        if page.locator("button.request:not(.quiet-button)").count():
            page.click("button.request")
        for _ in range(WAIT_TIMEOUT_SECONDS):
            if page.locator('.statements tr[data-state="VORHANDEN"]').count():
                return
            page.wait_for_timeout(1000)
            page.goto(f"{self.base}/statements")
        raise SystemExit("the sample user has no statements")

    def take(self, scene: Scene) -> None:
        page = self.open(scene)
        self.visit(page, scene)
        page.screenshot(path=TARGET / f"{scene.name}.png", full_page=scene.is_whole)
        print(f"{scene.name}.png", flush=True)

    def weigh(self, scene: Scene) -> tuple[str, ...]:
        """What a phone sees that has seen nothing yet, and how fast a slow one is: the middle of some visits."""
        page = self.open(scene)
        self.visit(page, scene)
        address = page.url
        fresh = self.browser.new_context(
            storage_state=page.context.storage_state(), locale="de-DE", viewport=PHONE, is_mobile=True, has_touch=True
        )
        first = fresh.new_page()
        responses: list[Response] = []
        # A method of a list cannot be marked as handled.
        first.on("response", lambda response: responses.append(response))
        first.goto(address)
        first.wait_for_load_state("networkidle")
        sizes = [response.request.sizes()["responseBodySize"] for response in responses]
        first.add_init_script(WATCH_SHIFTS)
        session = fresh.new_cdp_session(first)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", SLOW_NETWORK)
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER_BY})
        servers, pages, shifts = [], [], []
        for _ in range(ROUNDS):
            session.send("Network.clearBrowserCache")
            first.goto(address)
            first.wait_for_load_state("networkidle")
            start, interactive = first.evaluate(FIND_TIMES)
            servers.append(start)
            pages.append(interactive - start)
            shifts.append(first.evaluate("window.shift"))
        fresh.close()
        total = statistics.median(map(sum, zip(servers, pages, strict=True)))
        server, shown = statistics.median(servers), statistics.median(pages)
        return (
            scene.name, f"{sum(sizes) / 1000:.0f} kB", str(len(sizes)), f"{server:.0f} ms", f"{shown:.0f} ms",
            f"{total:.0f} ms", f"{max(shifts):.3f}",
        )  # fmt: skip


def path_of(base: str, path: str) -> str:
    """The pages about the API are beside the console."""
    return base.removesuffix("/console") + path if path.startswith("/docs") else base + path


def main(names: list[str]) -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    weighs_only = names == ["--weigh"]
    chosen = [scene for scene in SCENES if not names or scene.name in names]
    with running_demo() as facts, sync_playwright() as playwright:
        program = next(filter(Path.exists, map(Path, PROGRAMS)))
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        photographer = Photographer(browser, facts)
        photographer.wait_for_data()
        for scene in chosen:
            photographer.take(scene)
        if not names or weighs_only:
            plain = [scene for scene in SCENES if not (scene.is_phone or scene.is_dark)]
            machine = {
                "Cores": str(os.cpu_count()),
                "Load before": f"{os.getloadavg()[0]:.1f}",
                "Niceness": str(os.nice(0)),
                "Chromium": browser.version,
            }
            write_weights([photographer.weigh(scene) for scene in plain], machine)
        browser.close()


def write_weights(rows: list[tuple[str, ...]], machine: dict[str, str]) -> None:
    write_table_page(
        ROOT / "docs/benchmarks/console.md",
        "The console's pages",
        "Each page of the demo's sample user on a slow phone with an empty browser cache: 390 pixels wide, a processor"
        f" slowed down by {SLOWER_BY}, and the network profile Slow 4G (1.6 Mbit/s, 150 ms). Weight is as transferred,"
        ' with styles, scripts and images. "First byte" is how long connection and server take; "page" is the time from'
        " then until the page is interactive (`domInteractive`); both and their sum are medians of"
        f' {ROUNDS} visits. "Shift" is the largest cumulative layout shift. Written by `./dev screenshots`, without'
        " pictures by `./dev screenshots --weigh`; the times are from one run on one machine. Where"
        " it does other things, too, `nice -n -15 ./dev screenshots --weigh` lets this go first.",
        ("Page", "Weight", "Requests", "First byte", "Page", "Interactive", "Shift"),
        rows,
        [
            "Targets: under 300 kB, interactive within a second, and shift under 0.1. The first byte depends on what"
            " else the machine does."
        ],
        machine,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
