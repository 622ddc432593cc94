"""People who use a page with the keyboard alone, wide and light or narrow and dark."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, ViewportSize, expect

from browser.accessibility import DESKTOP, PHONE, USUAL, find_problems

MAX_STEPS = 300
HAS_FOCUS = "one => one === document.activeElement"
MARK = "one => { const style = getComputedStyle(one); return style.outlineStyle + ' ' + style.outlineWidth; }"


@dataclass(frozen=True)
class Look:
    """How wide a screen is, and its colours."""

    scheme: str
    size: ViewportSize

    @property
    def is_phone(self) -> bool:
        return self.size == PHONE

    @property
    def options(self) -> dict[str, Any]:
        """For a browser's context."""
        return {"is_phone": self.is_phone, "color_scheme": self.scheme}

    def __str__(self) -> str:
        return f"{self.size['width']}-{self.scheme}"


TWO_LOOKS = (Look("light", DESKTOP), Look("dark", PHONE))
ALL_LOOKS = (*TWO_LOOKS, Look("dark", DESKTOP), Look("light", PHONE))


def tab_to(page: Page, target: Locator) -> None:
    """Tab until it has the focus, which must be seen."""
    for _ in range(MAX_STEPS):
        if target.evaluate(HAS_FOCUS):
            break
        page.keyboard.press("Tab")
    expect(target).to_be_focused()
    assert target.evaluate(MARK) not in ("none 0px", "auto 0px")


@dataclass
class Person:
    """Without a mouse: what is pressed is reached with Tab, and shows that it is."""

    page: Page
    look: Look
    options: dict[str, Any] | None = None  # of axe

    def find(self, target: str | Locator) -> Locator:
        return self.page.locator(target) if isinstance(target, str) else target

    def at(self, view: str) -> Locator:
        """The console's page of this name, looked at with axe in the colours and at the width of this person."""
        main = self.page.locator(f"main[data-view={view}]")
        expect(main).to_be_visible()
        self.check()
        return main

    def check(self) -> None:
        problems = find_problems(self.page, self.look.scheme, self.look.size, self.options or USUAL)
        assert problems == [], f"{self.page.url}: {problems}"

    def reach(self, target: str | Locator) -> Locator:
        found = self.find(target)
        tab_to(self.page, found)
        return found

    def press(self, target: str | Locator, key: str = "Enter") -> None:
        self.reach(target)
        self.page.keyboard.press(key)

    def enter(self, target: str | Locator, text: str) -> None:
        """Write over what is there."""
        self.reach(target)
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)

    def choose(self, target: str | Locator, text: str) -> None:
        """In a list of choices, by the first letters."""
        self.reach(target)
        self.page.keyboard.type(text)

    def go(self, name: str) -> None:
        """To another page of the console by its menu, which a phone opens first."""
        if self.look.is_phone:
            self.press("#menu-button")
        self.press(self.page.locator("#menu").get_by_role("link", name=name, exact=True))
