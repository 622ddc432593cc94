// The service worker, for who uses the console as an app or wants to be told of notices in this browser.
"use strict";

const workerAddress = document.currentScript.dataset.worker;
const canWork = "serviceWorker" in navigator && Boolean(workerAddress);

function registerWorker() {
  return navigator.serviceWorker.register(workerAddress, { scope: "/console" });
}

// One that is there gets the language of the page.
async function keepWorker() {
  const isApp = window.matchMedia("(display-mode: standalone)").matches;
  if (isApp || await navigator.serviceWorker.getRegistration("/console")) await registerWorker();
}

function toBytes(text) {
  const raw = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(raw, (sign) => sign.charCodeAt(0));
}

async function findSubscription() {
  const registration = await navigator.serviceWorker.getRegistration("/console");
  return registration ? registration.pushManager.getSubscription() : null;
}

async function offerNotices(form) {
  const page = document.getElementById("this-browser");
  const say = (key) => { page.querySelector("#push-state").textContent = page.dataset[key]; };
  if (!canWork || !("PushManager" in window) || !("Notification" in window)) return say("impossible");
  const subscription = await findSubscription();
  const known = [...document.querySelectorAll("#browsers [data-endpoint]")];
  const own = subscription && known.find((row) => row.dataset.endpoint === subscription.endpoint);
  if (own) {
    own.querySelector(".is-this").hidden = false;
    own.querySelector("form").addEventListener("submit", () => { subscription.unsubscribe(); });
    return say("on");
  }
  say(Notification.permission === "denied" ? "denied" : "off");
  form.hidden = Notification.permission === "denied";
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await Notification.requestPermission() !== "granted") {
      form.hidden = true;
      return say("denied");
    }
    try {
      await registerWorker();
      const registration = await navigator.serviceWorker.ready;
      const made = await registration.pushManager.subscribe({
        userVisibleOnly: true, applicationServerKey: toBytes(form.dataset.key),
      });
      const { endpoint, keys } = made.toJSON();
      form.elements.endpoint.value = endpoint;
      form.elements.p256dh.value = keys.p256dh;
      form.elements.auth.value = keys.auth;
      form.submit();
    } catch {
      say("failed");
    }
  });
}

if (canWork) keepWorker();
const noticesForm = document.getElementById("push-on");
if (noticesForm) offerNotices(noticesForm);
