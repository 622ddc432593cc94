// A choice is sent at once, and the details of a row are fetched when it is opened. Without this file a button and a
// link do the same.
"use strict";

for (const field of document.querySelectorAll("[data-submit]")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}

async function fill(row) {
  const body = row.querySelector(".entry-body");
  body.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(row.dataset.url, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
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
const filters = document.querySelector("form.entry-filters");
if (filters) {
  filters.addEventListener("submit", () => {
    for (const field of filters.elements) if (field.name && !field.value) field.disabled = true;
  });
  window.addEventListener("pageshow", () => { for (const field of filters.elements) field.disabled = false; });
}
