/* What the pages do beyond their forms. Every page works without this file. */
"use strict";

(() => {
  const body = document.body;
  const base = body.dataset.base;
  const stepUrl = base + "/step";
  const byId = (id) => document.getElementById(id);
  const isFramed = window.top !== window.self;

  // The bank's page was opened from a frame: what came of it is told there, and this window is done.
  if (window.opener && window.name === "kontor-bank") {
    if (body.dataset.page === "returned") {
      window.opener.postMessage({ kontor: "returned", query: location.search }, location.origin);
    }
    window.close();
  }

  // A form is sent once, however often its button is pressed.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    if (event.submitter) event.submitter.setAttribute("aria-disabled", "true");
  });
  // A page that answered a form becomes one that can be reloaded, and come back to, without sending the form again.
  if (location.pathname === stepUrl) window.history.replaceState(null, "", location.href);
  // The back button brings the page back as it was left; the server knows where things stand.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.replace(stepUrl);
  });

  const error = document.querySelector("[data-focus]");
  if (error) error.focus();

  // Secrets can be looked at.
  for (const button of document.querySelectorAll(".reveal")) {
    const field = byId(button.dataset.for);
    button.hidden = false;
    button.addEventListener("click", () => {
      const isShown = field.type === "text";
      field.type = isShown ? "password" : "text";
      button.textContent = isShown ? button.dataset.show : button.dataset.hide;
      button.setAttribute("aria-label", isShown ? button.dataset.showLabel : button.dataset.hideLabel);
      button.setAttribute("aria-pressed", String(!isShown));
    });
    if (field.form) field.form.addEventListener("submit", () => { field.type = "password"; });
  }

  // Waiting: ask which page is the current one, less often where the bank has to be asked for it.
  const follow = () => {
    const pause = ["confirmation", "unknown"].includes(body.dataset.page) ? 2000 : 700;
    let failures = 0;
    const ask = async () => {
      try {
        const answer = await fetch(base + "/progress", { headers: { Accept: "application/json" } });
        const { step } = await answer.json();
        failures = 0;
        if (step !== body.dataset.step) {
          location.replace(stepUrl);
          return;
        }
      } catch {
        failures += 1;
      }
      window.setTimeout(ask, Math.min(pause * 2 ** failures, 30000));
    };
    window.setTimeout(ask, pause);
  };
  if (document.querySelector("[data-poll]")) follow();
  // A page that offers "try again" after a while has to be drawn anew.
  if (body.dataset.page === "connecting" && !byId("retry")) {
    window.setTimeout(() => location.replace(stepUrl), 50000);
  }

  // How long a TAN is good for.
  const countdown = byId("countdown");
  if (countdown) {
    const end = Date.now() + Number(countdown.dataset.seconds) * 1000;
    const tick = () => {
      const left = Math.max(0, Math.round((end - Date.now()) / 1000));
      if (left === 0) {
        countdown.textContent = countdown.dataset.expired;
        window.setTimeout(() => location.replace(stepUrl), 1500);
        return;
      }
      const seconds = String(left % 60).padStart(2, "0");
      countdown.textContent = countdown.dataset.text.replace("%m", String(Math.floor(left / 60))).replace("%s", seconds);
      window.setTimeout(tick, 1000);
    };
    tick();
  }

  // A picture can be made to fit the device that scans it.
  const photo = byId("photo-image");
  const photoSize = byId("photo-size");
  if (photo && photoSize) {
    photoSize.parentElement.hidden = false;
    photoSize.addEventListener("input", () => { photo.style.width = photoSize.value + "px"; });
  }

  // On to the bank: once by itself, and out of a frame always in a window of its own.
  const bank = byId("bank-link");
  if (bank && isFramed) {
    byId("redirect-window").hidden = false;
    bank.addEventListener("click", (event) => {
      event.preventDefault();
      const opened = window.open("", "kontor-bank");
      if (opened) opened.location.replace(bank.href);
      follow();
    });
    window.addEventListener("message", (event) => {
      if (event.origin !== location.origin || !event.data || event.data.kontor !== "returned") return;
      location.replace(base + "/return" + String(event.data.query || ""));
    });
  } else if (bank) {
    const key = "kontor " + bank.dataset.key;
    byId("redirect-form").hidden = !window.sessionStorage.getItem(key);
    bank.addEventListener("click", () => window.sessionStorage.setItem(key, "sent"));
    if (!window.sessionStorage.getItem(key)) {
      byId("redirect-soon").hidden = false;
      window.setTimeout(() => bank.click(), 2500);
    }
  }

  // The end, for whoever opened the form in a popup or frame; only pages that the tenant listed can read it.
  const outcome = byId("outcome");
  if (outcome) {
    const listener = window.opener || (isFramed ? window.parent : null);
    const message = { kontor: "outcome", baReentry: outcome.dataset.reentry };
    if (outcome.dataset.payment) message.paymentId = outcome.dataset.payment;
    else message.accessId = outcome.dataset.access;
    if (listener) {
      for (const origin of outcome.dataset.origins.split(" ")) listener.postMessage(message, origin);
    } else if (outcome.dataset.target) {
      location.replace(outcome.dataset.target);
    }
  }

  // Searching for a bank as one types.
  const field = byId("q");
  const list = byId("banks");
  if (field && list) startSearch();

  function startSearch() {
    const status = byId("search-status");
    const form = byId("choose-form");
    const popular = byId("popular");
    let options = [];
    let active = -1;
    let asked = field.defaultValue.trim(); // what the server has drawn; people type before scripts run
    let timer = 0;
    let request = null;

    byId("search-button").hidden = true;
    list.setAttribute("role", "listbox");
    field.setAttribute("role", "combobox");
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-controls", "banks");

    const select = (index) => {
      active = index;
      options.forEach((option, at) => option.setAttribute("aria-selected", String(at === index)));
      if (index >= 0) {
        field.setAttribute("aria-activedescendant", options[index].id);
        options[index].scrollIntoView({ block: "nearest" });
      } else {
        field.removeAttribute("aria-activedescendant");
      }
    };

    const choose = (id) => {
      const chosen = document.createElement("input");
      chosen.type = "hidden";
      chosen.name = "provider";
      chosen.value = id;
      form.elements.q.value = field.value;
      form.append(chosen);
      form.requestSubmit();
    };

    const element = (name, className, text) => {
      const made = document.createElement(name);
      made.className = className;
      made.textContent = text;
      return made;
    };

    const makeOption = (bank, index) => {
      const option = element("li", bank.is_available ? "" : "off", "");
      option.id = "bank-" + index;
      option.setAttribute("role", "option");
      option.dataset.provider = bank.id;
      const logo = element("img", "", "");
      logo.src = bank.logo;
      logo.alt = "";
      logo.width = logo.height = 40;
      const text = element("span", "bank-text", "");
      text.append(element("span", "bank-name", bank.name), element("span", "bank-detail", bank.detail));
      option.append(logo, text);
      if (bank.badge) option.append(element("span", "badge", bank.badge));
      option.addEventListener("click", () => choose(bank.id));
      return option;
    };

    const show = (found) => {
      options = found.banks.map(makeOption);
      list.replaceChildren(...options);
      status.textContent = found.summary;
      popular.hidden = options.length > 0;
      field.setAttribute("aria-expanded", String(options.length > 0));
      select(-1);
    };

    const search = async () => {
      const query = field.value.trim();
      if (query === asked) return;
      asked = query;
      if (request) request.abort();
      request = new AbortController();
      try {
        const url = base + "/providers?q=" + encodeURIComponent(query);
        const answer = await fetch(url, { signal: request.signal, headers: { Accept: "application/json" } });
        if (!answer.ok) {
          location.replace(stepUrl);
          return;
        }
        show(await answer.json());
      } catch (failure) {
        if (failure.name !== "AbortError") asked = null;
      }
    };

    const searchSoon = () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(search, 120);
    };

    field.addEventListener("input", searchSoon);
    field.addEventListener("keydown", (event) => {
      const last = options.length - 1;
      if (event.key === "ArrowDown" && last >= 0) select(active === last ? 0 : active + 1);
      else if (event.key === "ArrowUp" && last >= 0) select(active <= 0 ? last : active - 1);
      else if (event.key === "Escape") select(-1);
      else if (event.key === "Enter" && (active >= 0 || last === 0)) choose(options[Math.max(active, 0)].dataset.provider);
      else return;
      event.preventDefault();
    });
    byId("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      search();
    });
    for (const chip of popular.querySelectorAll("[data-q]")) {
      chip.addEventListener("click", (event) => {
        event.preventDefault();
        field.value = chip.dataset.q;
        field.focus();
        search();
      });
    }

    // What the server has drawn becomes the list of the combobox.
    const drawn = [...list.querySelectorAll("button[name=provider]")];
    show({
      summary: status.textContent,
      banks: drawn.map((button) => ({
        id: button.value,
        name: button.querySelector(".bank-name").textContent,
        detail: button.querySelector(".bank-detail").textContent,
        logo: button.querySelector("img").getAttribute("src"),
        is_available: !button.classList.contains("off"),
        badge: button.querySelector(".badge")?.textContent,
      })),
    });
    if (field.value.trim() !== asked) searchSoon();
  }
})();
