"""How pages lie on screens: nothing jumps, nothing is cut off, and without scripts charts are tables."""

import pytest

from browser.accessibility import fits
from kontor.console.views import VIEWS

pytestmark = pytest.mark.long

PATHS = [view.path for view in VIEWS if not view.is_operator and "{" not in view.path]
WATCH_SHIFTS = """
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
  }).observe({type: "layout-shift", buffered: true});
"""
# Signs that stand on another line than the amount that they belong to.
FIND_LOST_SIGNS = r"""() => {
  const lost = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data;
    for (const found of text.matchAll(/−\u2060?[0-9€$£]/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, found.index);
      range.setEnd(walker.currentNode, found.index + found[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) lost.push(text.trim());
    }
  }
  return lost;
}"""
IS_WITHIN = "(box) => box.scrollWidth <= box.clientWidth && box.getBoundingClientRect().right <= innerWidth"


@pytest.mark.parametrize("language", ["de", "en"])
def test_on_a_phone_nothing_jumps_and_every_sign_stays_with_its_amount(open_console, console_site, language):
    page = open_console(is_phone=True, language=language)
    page.add_init_script(WATCH_SHIFTS)
    for path in PATHS:
        page.goto(console_site.url + path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.shift") < 0.1, path
        assert page.evaluate(FIND_LOST_SIGNS) == [], path


def test_the_menu_of_a_phone_is_whole_wherever_the_page_stands_and_escape_closes_it(open_console):
    page = open_console("/cashflow", is_phone=True)
    page.evaluate("window.scrollTo(0, 1200)")
    page.click("#menu-button")
    first, last = page.locator("#menu a").first, page.locator("#menu a").last
    assert first.bounding_box()["y"] >= page.locator(".top").bounding_box()["height"] - 1
    last.scroll_into_view_if_needed()
    for link in page.locator("#menu a").all():
        assert link.evaluate(IS_WITHIN), link.inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("#menu").is_visible()
    assert page.locator("#menu-button").get_attribute("aria-expanded") == "false"
    assert page.evaluate("document.activeElement.id") == "menu-button"


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_page_fits_320_pixels(open_console, console_site, language):
    """The width of small phones, and of a page of 1280 pixels enlarged four times (WCAG 1.4.10)."""
    page = open_console(viewport={"width": 320, "height": 640}, language=language)
    wide = []
    for path in PATHS:
        page.goto(console_site.url + path)
        page.wait_for_load_state("networkidle")
        if not fits(page):
            wide.append(path)
    assert wide == []


def test_all_months_of_the_cashflow_fit_a_screen_of_1280(open_console):
    page = open_console("/cashflow", viewport={"width": 1280, "height": 900})
    box = page.locator(".scroll:has(#matrix)")
    assert box.evaluate("(box) => [box.scrollWidth - box.clientWidth, box.clientWidth]")[0] <= 0
    assert page.locator("#matrix thead th").count() == 14


def test_a_notice_is_in_sight_where_the_page_jumps_to_a_row(open_console, console_site):
    page = open_console(is_phone=True)
    page.goto(f"{console_site.url}/cashflow?notice=category_changed#parts")
    page.wait_for_function("window.scrollY > 100")
    box = page.locator("main > .notice").bounding_box()
    assert page.locator(".top").bounding_box()["height"] - 1 <= box["y"] < 300


def test_without_scripts_charts_are_tables_and_no_empty_boxes(open_console):
    page = open_console("/cashflow", java_script_enabled=False)
    assert page.locator("#table-totals").is_visible()
    assert not page.locator(".chart-area").first.is_visible()


def test_small_amounts_have_an_axis_whose_steps_differ(open_console):
    page = open_console("/cashflow")
    labels = page.evaluate(
        """() => {
          const facts = {language: "de", currency: "EUR", series: [{}], isStacked: false};
          const {callback} = makeOptions(facts).scales.y.ticks;
          const ticks = [5.8, 6, 6.2].map((value) => ({value}));
          return ticks.map((tick, at) => callback(tick.value, at, ticks));
        }"""
    )
    assert len(set(labels)) == 3
