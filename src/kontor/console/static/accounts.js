// While a bank is still being asked, look every now and then, and show the page anew once it has answered.
"use strict";

const PAUSES_MS = [...Array(30).fill(2000), ...Array(120).fill(15000)]; // half an hour in all
const statesOf = (page) => [...page.querySelectorAll("section.bank")].map((bank) => `${bank.id} ${bank.dataset.state}`).join();

async function watch() {
  const before = statesOf(document);
  for (const pause of PAUSES_MS) {
    await new Promise((done) => { setTimeout(done, pause); });
    const answer = await fetch(window.location.pathname, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (statesOf(page) !== before) { window.location.replace(window.location.pathname); return; }
  }
}

if (document.querySelector('section.bank[data-state="fetching"]')) watch().catch(() => {});
