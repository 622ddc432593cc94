"""The console as an app in a real browser: its service worker shows pushes, and a page without a network."""

import json
from contextlib import suppress

import pytest
from playwright.sync_api import Error

from banking import wait_for
from browser.accessibility import check, shows

pytestmark = pytest.mark.long

REGISTER = """async () => {
  const {worker} = document.querySelector("script[data-worker]").dataset;
  const registration = await navigator.serviceWorker.register(worker, {scope: "/console"});
  await navigator.serviceWorker.ready;
  return registration.scope;
}"""
LIST_KEPT = """async () => {
  const opened = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
  const requests = (await Promise.all(opened.map((cache) => cache.keys()))).flat();
  return requests.map((request) => new URL(request.url).pathname);
}"""
# The headless browser has no place to show notices.
RECORD = """() => {
  self.shown = [];
  self.registration.showNotification = async (title, {body, tag, lang, data}) => {
    self.shown.push({title, body, tag, lang, url: data.url});
  };
}"""


def deliver(page, payload):
    """A push as the browser hands it to the worker, decrypted."""
    session = page.context.new_cdp_session(page)
    registrations = []
    session.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"]))
    session.send("ServiceWorker.enable")
    page.wait_for_function("navigator.serviceWorker.controller !== null")
    origin = page.evaluate("location.origin")
    session.send(
        "ServiceWorker.deliverPushMessage",
        {"origin": origin, "registrationId": registrations[0]["registrationId"], "data": payload},
    )


@pytest.mark.parametrize("is_phone", [False, True])
@shows("console/devices", "console/offline")
def test_pushes_are_shown_in_the_users_language_and_without_a_network_a_page_says_so(open_console, is_phone):
    page = open_console("/devices", is_phone=is_phone)
    check(page)
    page.context.grant_permissions(["notifications"])
    assert page.evaluate(REGISTER).endswith("/console")
    worker = page.context.service_workers[0]
    worker.evaluate(RECORD)
    deliver(page, json.dumps({"art": "PRICE_RISE", "id": "0b2c9b0a-5d0e-4a43-9a0e-0c5e7c0f5a11"}))
    shown = wait_for(lambda: worker.evaluate("() => self.shown"), bool)
    assert shown == [
        {
            "title": "Kontor",
            "body": "Ein Vertrag ist teurer geworden.",
            "lang": "de",
            "tag": "0b2c9b0a-5d0e-4a43-9a0e-0c5e7c0f5a11",
            "url": "/console/alerts/0b2c9b0a-5d0e-4a43-9a0e-0c5e7c0f5a11",
        }
    ]
    page.context.set_offline(True)
    with suppress(Error):  # whether the browser calls the answer of a worker a failure is its own matter
        page.goto(page.url.replace("/devices", "/accounts"))
    page.wait_for_selector("main[data-view=offline]")
    assert page.locator("h1").inner_text() == "Keine Verbindung"
    check(page)
    assert set(page.evaluate(LIST_KEPT)) == {
        "/console/offline", "/console/assets/palette.css", "/console/assets/console.css", "/console/assets/icon.svg",
    }  # fmt: skip
    page.context.set_offline(False)
    page.click("main a.button")
    page.wait_for_selector("main[data-view=overview]")
