"""What axe-core and a ruler find on a page."""

from collections.abc import Callable
from typing import Any, TypeVar

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
SCRIPT = Axe().axe_script
USUAL = {"resultTypes": ["violations"]}  # the rest would only be counted
# Contrasts take most of the time. Of cells and items that stand in the same place and are made of the same elements and
# classes, the first tells the colours of all; every other rule looks at everything.
RUN = """async (options) => {
    const isAtEdge = (one) => one.matches(":first-child, :last-child");
    const isWord = (one) => one.textContent.trim().length > 1; // axe passes over single signs
    const name = (one) =>
        [one.tagName, one.getAttribute("class"), one.getAttributeNames(), isAtEdge(one), isWord(one)].join();
    const seen = new Set();
    const alike = [];
    for (const one of document.querySelectorAll("td, th, li")) {
        const parts = [];
        for (let up = one; up; up = up.parentElement) parts.push(up === one ? "" : up.id, name(up));
        for (const below of one.querySelectorAll("*")) parts.push(name(below));
        const key = parts.join(" ");
        if (seen.has(key)) alike.push(one);
        seen.add(key);
    }
    const contrast = { runOnly: { type: "rule", values: ["color-contrast"] } };
    const others = { rules: { ...options.rules, "color-contrast": { enabled: false } } };
    const results = [
        await axe.run(document, { ...options, ...others }),
        await axe.run({ include: [document], exclude: alike }, { resultTypes: options.resultTypes, ...contrast }),
    ];
    return results.flatMap((all) => all.violations.flatMap((one) => one.nodes.map((node) => `${one.id} ${node.html}`)));
}"""

# How pages are called here: `form/legal`, `console/accounts`, `docs`.
NAME = """() => {
    const main = document.querySelector("main");
    if (!main || !(main.dataset.page || main.dataset.view)) return location.pathname.split("/")[1];
    return main.dataset.page ? `form/${main.dataset.page}` : `console/${main.dataset.view}`;
}"""
LOOKED_AT: set[str] = set()  # by the present test
DECLARED: dict[str, frozenset[str]] = {}  # pages that a function looks at, by its name
Looking = TypeVar("Looking", bound=Callable[..., object])


def shows(*pages: str) -> Callable[[Looking], Looking]:
    """The function looks at these pages in both colours and at both widths; a test that does not fails."""

    def declare(look: Looking) -> Looking:
        DECLARED[look.__name__] = frozenset(pages)
        return look

    return declare


def find_violations(page: Page, options: dict[str, Any] = USUAL) -> list[str]:
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(SCRIPT)
    found: list[str] = page.evaluate(RUN, options)
    return found


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def find_problems(page: Page, scheme: str, size: ViewportSize, options: dict[str, Any] = USUAL) -> list[str]:
    """In these colours and at this size: what axe finds, and what goes beyond the edge."""
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    page.set_viewport_size(size)
    found = find_violations(page, options) + ([] if fits(page) else ["the page scrolls sideways"])
    return [f"{scheme}: {problem}" for problem in found]


def find_all_problems(page: Page, options: dict[str, Any] = USUAL) -> list[str]:
    """Light on a desktop, dark on a phone: each colour and each layout is looked at, and the page is left as it was."""
    found = find_problems(page, "dark", PHONE, options) + find_problems(page, "light", DESKTOP, options)
    LOOKED_AT.add(page.evaluate(NAME))
    headings = page.locator("h1").count()
    return found + ([] if headings == 1 else [f"{headings} headings"]) + ([] if page.title() else ["no title"])


def check(page: Page, options: dict[str, Any] = USUAL) -> None:
    found = find_all_problems(page, options)
    assert found == [], f"{page.url}: {found}"
