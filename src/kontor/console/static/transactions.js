// A choice is sent at once, the details of a row are fetched when it is opened, and chosen rows are counted. Without
// this file a button and a link do the same.
"use strict";

for (const field of document.querySelectorAll("[data-submit]")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}

async function fill(row) {
  const body = row.querySelector(".entry-body");
  body.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(row.dataset.url, { headers: { Accept: "text/html" } });
    if (!answer.ok || new URL(answer.url).pathname.endsWith("/sign-in")) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const details = page.getElementById("details");
    if (!details) return;
    details.removeAttribute("id");
    body.replaceChildren(document.adoptNode(details));
    row.dataset.filled = "yes";
  } catch {
    // The link stays, and leads to the same.
  } finally {
    body.removeAttribute("aria-busy");
  }
}

for (const row of document.querySelectorAll("details.entry[data-url]")) {
  row.addEventListener("toggle", () => { if (row.open && !row.dataset.filled) fill(row); });
}

// Empty fields say nothing: the address stays short.
const filters = document.querySelector(".entry-filters form");
if (filters) {
  filters.addEventListener("submit", () => {
    for (const field of filters.elements) if (field.name && !field.value) field.disabled = true;
  });
  window.addEventListener("pageshow", () => { for (const field of filters.elements) field.disabled = false; });
}

const picks = [...document.querySelectorAll(".pick input")];
const choosePage = document.getElementById("choose-page");
const chosenCount = document.getElementById("chosen-count");
if (choosePage && chosenCount) {
  const count = () => {
    const chosen = picks.filter((pick) => pick.checked).length;
    chosenCount.textContent = String(chosen);
    chosenCount.hidden = chosen === 0;
  };
  choosePage.hidden = false;
  choosePage.addEventListener("click", () => {
    const isOn = picks.some((pick) => !pick.checked);
    for (const pick of picks) pick.checked = isOn;
    count();
  });
  for (const pick of picks) pick.addEventListener("change", count);
  window.addEventListener("pageshow", count);
}
