// What every page of the console does beyond being a page: the menu on a phone, copying, sending filters at once.
"use strict";

document.documentElement.classList.add("with-script");

const button = document.getElementById("menu-button");
const menu = document.getElementById("menu");
if (button && menu) {
  const narrow = window.matchMedia("(max-width: 56rem)");
  const adapt = () => { button.hidden = !narrow.matches; };
  narrow.addEventListener("change", adapt);
  adapt();
  const turn = (isOpen) => {
    document.documentElement.style.setProperty("--top-height", `${button.closest(".top").offsetHeight}px`);
    menu.classList.toggle("is-open", isOpen);
    button.setAttribute("aria-expanded", String(isOpen));
  };
  button.addEventListener("click", () => turn(!menu.classList.contains("is-open")));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.classList.contains("is-open")) return;
    turn(false);
    button.focus();
  });
}

// Tables beside charts are open for who has no scripts, and so no charts.
for (const twin of document.querySelectorAll("details.twin")) {
  twin.open = false;
  twin.classList.add("is-ready");
}

for (const copy of document.querySelectorAll("button.copy")) {
  const code = copy.parentElement.querySelector("pre");
  if (!code || !navigator.clipboard) continue;
  copy.hidden = false;
  const label = copy.textContent;
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    copy.textContent = "✓";
    setTimeout(() => { copy.textContent = label; }, 1500);
  });
}

// A choice in a filter is sent at once; its button stays for who has no scripts.
for (const field of document.querySelectorAll("form.filters[data-at-once] select, form.filters[data-at-once] input[type=checkbox]")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => { if (!window.confirm(form.dataset.confirm)) event.preventDefault(); });
}
