// The pages that explain the API: logging in, calling operations, and going on without losing the login.
"use strict";

const LONGEST_ANSWER = 200000;
const login = { token: null, basic: null }; // of this page alone; a reload forgets both
const byId = (id) => document.getElementById(id);
const encodeBasic = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

// Logging in

const tell = (text, isBad = false) => {
  byId("login-state").textContent = text;
  byId("login-state").className = isBad ? "bad" : "";
};

const accept = (token, name) => {
  login.token = token;
  tell(`Logged in: ${name}.`);
  byId("forget").hidden = false;
  if (byId("demo-login")) byId("demo-login").hidden = true;
  byId("own-login").open = false;
};

const ask = async (url, options) => {
  const answer = await fetch(url, { method: "POST", ...options });
  const facts = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(facts.error_description || facts.message || facts.error || `status ${answer.status}`);
  return facts;
};

const attempt = async (act) => {
  try {
    await act();
  } catch (error) {
    tell(`Not logged in: ${error.message}`, true);
  }
};

const logInAsDemo = () =>
  attempt(async () => {
    const facts = await ask("/console/demo-token", { body: new URLSearchParams() });
    accept(facts.access_token, facts.username);
  });

const logIn = (event) => {
  event.preventDefault();
  attempt(async () => {
    const [client, secret, user, password, token] = ["client", "secret", "user", "password", "token"].map((name) =>
      byId(`login-${name}`).value.trim(),
    );
    if (client) login.basic = encodeBasic(`${client}:${secret}`);
    if (token) return accept(token, "your token");
    const fields = user ? { grant_type: "password", username: user, password } : { grant_type: "client_credentials" };
    const headers = { Authorization: `Basic ${login.basic}` };
    const facts = await ask("/auth/oauth2/token", { headers, body: new URLSearchParams(fields) });
    accept(facts.access_token, user || client);
  });
};

const logOut = () => {
  login.token = login.basic = null;
  byId("login-form").reset();
  byId("forget").hidden = true;
  if (byId("demo-login")) byId("demo-login").hidden = false;
  tell("Not logged in.");
};

// Calling an operation

const readCall = (form) => {
  const headers = {};
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const field of form.querySelectorAll("[data-in]")) {
    const { in: place, name } = field.dataset;
    if (!field.value) continue;
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(field.value));
    else if (place === "query") query.append(name, field.value);
    else headers[name] = field.value;
  }
  if (form.dataset.login === "bearer" && login.token) headers.Authorization = `Bearer ${login.token}`;
  if (form.dataset.login === "basic" && login.basic) headers.Authorization = `Basic ${login.basic}`;
  const call = { method: form.dataset.method, headers };
  const body = form.querySelector(".body");
  if (body && (form.querySelector(".file").files.length || body.value)) {
    headers["Content-Type"] = form.querySelector(".media").value;
    call.body = form.querySelector(".file").files[0] || body.value;
  }
  return [path + (query.size ? `?${query}` : ""), call];
};

const writeCurl = (url, call) => {
  const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const parts = [`curl -X ${call.method} ${quote(location.origin + url)}`];
  for (const [name, value] of Object.entries(call.headers)) {
    const shown = name === "Authorization" ? `"Authorization: ${value.split(" ")[0]} $TOKEN"` : quote(`${name}: ${value}`);
    parts.push(`-H ${shown}`);
  }
  if (typeof call.body === "string") parts.push(`-d ${quote(call.body)}`);
  return parts.join(" \\\n  ");
};

const write = (name, text, label) => {
  const element = document.createElement(name);
  element.textContent = text;
  if (label) {
    element.tabIndex = 0;
    element.setAttribute("role", "region");
    element.setAttribute("aria-label", label);
  }
  return element;
};

const readBody = async (answer) => {
  const kind = answer.headers.get("content-type") || "";
  if (!/json|text|xml|csv/.test(kind)) return `${(await answer.blob()).size} bytes of ${kind || "nothing"}`;
  const text = await answer.text();
  try {
    return JSON.stringify(JSON.parse(text), null, 2).slice(0, LONGEST_ANSWER);
  } catch {
    return text.slice(0, LONGEST_ANSWER);
  }
};

const send = async (event) => {
  event.preventDefault();
  const form = event.target;
  const box = form.querySelector(".answer");
  const [url, call] = readCall(form);
  const curl = write("pre", writeCurl(url, call), "Call");
  try {
    const start = performance.now();
    const answer = await fetch(url, call);
    const text = await readBody(answer);
    const took = Math.round(performance.now() - start);
    const headers = ["link", "location", "etag", "retry-after", "www-authenticate", "x-correlation-id"];
    const shown = headers.filter((name) => answer.headers.get(name)).map((name) => `${name}: ${answer.headers.get(name)}`);
    const status = write("p", `${answer.status} ${answer.statusText}, ${took} ms`);
    status.className = answer.ok ? "" : "bad";
    box.replaceChildren(status, curl, write("pre", [...shown, "", text].join("\n"), "Answer"));
  } catch (error) {
    box.replaceChildren(write("p", `No answer: ${error.message}`), curl);
  }
};

// One page after another, in the same document

const openTarget = () => {
  const target = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.tagName === "DETAILS") target.open = true;
  target.scrollIntoView();
};

const filter = () => {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const section of document.querySelectorAll(".overview")) {
    let any = false;
    for (const item of section.querySelectorAll("li")) {
      item.hidden = !words.every((word) => item.textContent.toLowerCase().includes(word));
      any ||= !item.hidden;
      found += !item.hidden;
    }
    section.hidden = !any;
  }
  byId("found").textContent = words.length ? `${found} found` : "";
};

const prepare = () => {
  for (const form of document.querySelectorAll(".try")) form.hidden = false;
  if (!byId("filter")) return;
  byId("filter-box").hidden = false;
  byId("filter").addEventListener("input", filter);
};

let shownPath = location.pathname;

const show = async (url) => {
  shownPath = url;
  const answer = await fetch(url);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of ["main", ".sections"]) document.querySelector(part).replaceWith(page.querySelector(part));
  document.title = page.title;
  prepare();
  scrollTo(0, 0);
  if (location.hash) openTarget();
  else document.querySelector("main").focus({ preventScroll: true });
};

const follow = (event) => {
  const link = event.target.closest("a");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.origin !== location.origin) return;
  if (!/^\/docs(\/|$)/.test(link.pathname)) return;
  if (link.pathname === location.pathname && link.hash) {
    const target = byId(decodeURIComponent(link.hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
    return;
  }
  event.preventDefault();
  history.pushState(null, "", link.href);
  show(link.pathname);
};

document.addEventListener("click", follow);
document.addEventListener("submit", (event) => {
  if (event.target.matches(".try")) send(event);
});
document.addEventListener("change", (event) => {
  if (event.target.matches(".media")) {
    event.target.form.querySelector(".body").value = event.target.selectedOptions[0].dataset.example;
  }
});
addEventListener("popstate", () => {
  if (location.pathname !== shownPath) show(location.pathname);
});
if (byId("demo-login")) byId("demo-login").addEventListener("click", logInAsDemo);
byId("login-form").addEventListener("submit", logIn);
byId("forget").addEventListener("click", logOut);
byId("login").hidden = false;
prepare();
openTarget();
