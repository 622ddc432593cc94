"""Budgets, savings goals and notices with the keyboard alone: wide and narrow, light and dark."""

import json

import pytest
from playwright.sync_api import expect

from banking import new_customer, wait_for
from browser.keyboard import ALL_LOOKS, TWO_LOOKS, Person
from browser.test_console_app import RECORD, deliver
from push_browsers import new_browser

PUSH = "/customer/v2/hinweise/push"
ALERTS = "/customer/v2/hinweise"
# No push service can be reached, and the headless browser has no place to show notices: it says that its user allows
# them, and that it got this subscription from a service.
SUBSCRIBE = """(made) => {
  const permission = () => sessionStorage.getItem("asked") ? "granted" : "default";
  Object.defineProperty(Notification, "permission", { get: permission });
  Notification.requestPermission = async () => { sessionStorage.setItem("asked", "yes"); return permission(); };
  PushManager.prototype.subscribe = async (options) => {
    if (!options.userVisibleOnly || options.applicationServerKey.length !== 65) throw new Error("not as it should be");
    const subscription = { endpoint: made.endpoint, toJSON: () => made, unsubscribe: async () => true };
    sessionStorage.setItem("subscribed", "yes");
    return subscription;
  };
  PushManager.prototype.getSubscription = async () => sessionStorage.getItem("subscribed")
    ? { endpoint: made.endpoint, unsubscribe: async () => sessionStorage.removeItem("subscribed") } : null;
}"""


@pytest.fixture(scope="module")
def planner(console_site):
    """Somebody with three years of bookings; each journey leaves no plan behind."""
    customer = new_customer(console_site.regulated)
    customer.add_complete("hauskauf+planning")
    return customer


@pytest.fixture
def open_as(open_console):
    """A page of the console in front of somebody with a keyboard."""

    def open_page(path, look, **options):
        return Person(open_console(path, **options, **look.options), look)

    return open_page


@pytest.mark.parametrize("look", TWO_LOOKS, ids=str)
def test_budgets_are_proposed_changed_exceeded_and_deleted(open_as, planner, look):
    person = open_as("", look, customer=planner)
    person.go("Budgets")
    person.at("budgets")
    proposed = person.page.locator("#proposals input[type=checkbox]")
    for number in range(2, proposed.count()):
        person.press(proposed.nth(number), "Space")
    person.press("#accept")
    expect(person.page.get_by_role("status")).to_have_text("Die Budgets sind angelegt.")
    expect(person.page.locator(".plan")).to_have_count(2)
    person.at("budgets")
    person.press("a[rel=prev]")
    person.press(person.page.get_by_role("link", name="Zum aktuellen Monat"))
    person.press(person.page.locator(".plan-actions a").first)
    person.at("budget")
    person.enter("#amount", "1")
    person.press("#carries-over", "Space")
    person.press("#save")
    expect(person.page.get_by_role("status")).to_have_text("Das Budget ist gespeichert.")
    person.press("a[rel=prev]")  # early in a month nothing is spent yet
    expect(person.page.locator('.plan[data-status="UEBERSCHRITTEN"] .badge').first).to_have_text("Überschritten")
    person.at("budgets")
    for left in (1, 0):
        person.press(person.page.locator(".plan-actions a").first)
        person.press("#delete")
        expect(person.page.locator("#delete-now")).to_be_visible()
        person.check()
        person.press("#delete-now")
        expect(person.page.get_by_role("status")).to_have_text("Das Budget ist gelöscht.")
        expect(person.page.locator(".plan")).to_have_count(left)
    assert planner.read("/customer/v2/budgets") == []


@pytest.mark.parametrize("look", ALL_LOOKS, ids=str)
def test_a_savings_goal_is_refused_without_a_figure_made_changed_and_deleted(open_as, planner, look):
    person = open_as("", look, customer=planner)
    person.go("Sparziele")
    person.at("goals")
    person.press(person.page.get_by_role("link", name="Neues Sparziel"))
    person.at("goal")
    person.enter("#name", "Fahrrad")
    person.enter("#target", "viel")
    person.press("#save")
    expect(person.page.locator("#problem")).to_be_visible()
    person.at("goal")
    person.enter("#target", "900000")
    person.press(person.page.locator("#products input").first, "Space")
    person.press("#save")
    expect(person.page.locator(".plan h2")).to_have_text("Fahrrad")
    expect(person.page.locator(".plan .badge")).to_be_visible()
    person.at("goals")
    person.press(".plan-actions a")
    person.enter("#name", "Lastenrad")
    person.press("#save")
    expect(person.page.locator(".plan h2")).to_have_text("Lastenrad")
    person.press(".plan-actions a")
    person.press("#delete")
    expect(person.page.locator("#delete-now")).to_be_visible()
    person.check()
    person.press("#delete-now")
    expect(person.page.locator(".nothing")).to_be_visible()


@pytest.mark.parametrize("look", TWO_LOOKS, ids=str)
def test_a_browser_is_switched_on_told_of_a_refused_bank_and_switched_off(open_as, console_site, look):
    customer, browser = new_customer(console_site.regulated), new_browser()
    person = open_as("", look, customer=customer)
    person.page.add_init_script(f"({SUBSCRIBE})({json.dumps(browser.subscription)})")
    person.go("Hinweise und App")
    person.at("devices")
    expect(person.page.locator("#push-state")).to_have_text("Hinweise sind in diesem Browser ausgeschaltet.")
    person.press("#push-on button")
    expect(person.page.locator("#push-state")).to_have_text("Hinweise sind in diesem Browser eingeschaltet.")
    person.at("devices")
    [known] = customer.read(PUSH)
    assert known["endpoint"] == browser.endpoint
    worker = person.page.context.service_workers[0]
    worker.evaluate(RECORD)
    access_id = customer.add("leer+push", "wrong")
    [alert] = customer.read(ALERTS)
    deliver(person.page, json.dumps({"art": alert["art"], "id": alert["id"]}))
    [shown] = wait_for(lambda: worker.evaluate("() => self.shown"), bool)
    assert shown["body"] == "Eine Ihrer Banken braucht Ihre Bestätigung."
    person.page.goto(console_site.address + shown["url"])
    person.page.wait_for_url(f"**/accounts#bank-{access_id}")
    person.at("accounts")
    person.go("Hinweise und App")
    person.press("#browsers form button")
    expect(person.page.get_by_text("Hinweise sind ausgeschaltet.")).to_be_visible()
    person.at("devices")
    assert customer.read(PUSH) == []
