// The chosen file is kept from step to step: the next page is fetched and takes the place of this one. Without this file
// the form is sent as any other, and the file is chosen again for the next step.
"use strict";

async function goOn(form, button) {
  const file = form.querySelector("input[type=file]");
  const data = new FormData(form);
  data.append(button.name, button.value);
  form.setAttribute("aria-busy", "true");
  let answer;
  try {
    answer = await fetch(form.getAttribute("action"), { method: "POST", body: data, headers: { Accept: "text/html" } });
  } catch {
    form.removeAttribute("aria-busy"); // The connection broke: the button can be pressed again.
    return;
  }
  if (answer.redirected) {
    window.location.assign(answer.url);
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.querySelector("main");
  const kept = next.querySelector("input[type=file]");
  if (kept) kept.files = file.files;
  document.querySelector("main").replaceWith(document.adoptNode(next));
  const step = document.querySelector("[data-step]");
  if (step) step.focus();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-keeps-file]") || !event.submitter) return;
  event.preventDefault();
  if (form.getAttribute("aria-busy") !== "true") goOn(form, event.submitter);
});

document.addEventListener("change", (event) => {
  const field = event.target;
  if (!field.matches("input[data-limit]")) return;
  const isTooLarge = field.files.length > 0 && field.files[0].size > Number(field.dataset.limit);
  field.setCustomValidity(isTooLarge ? field.dataset.tooLarge : "");
  if (isTooLarge) field.reportValidity();
});
