// The console's service worker: shows pushes, and a page of its own where there is no connection. Nothing of a customer
// is kept. The server puts FACTS before it: texts, addresses, and a version that changes with them.
"use strict";

const CACHE = `kontor-console-${FACTS.version}`;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FACTS.kept)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith("kontor-console-") && name !== CACHE).map((name) => caches.delete(name)));
    await self.clients.claim();
  })());
});

// Pages come from the network alone; what the offline page needs, from here when the network fails.
self.addEventListener("fetch", (event) => {
  const address = new URL(event.request.url);
  if (event.request.method !== "GET" || address.origin !== self.location.origin) return;
  if (event.request.mode === "navigate") {
    event.respondWith(fetch(event.request).catch(() => caches.match(FACTS.offline)));
  } else if (FACTS.kept.includes(address.pathname + address.search)) {
    event.respondWith(fetch(event.request).catch(() => caches.match(event.request)));
  }
});

function readPush(event) {
  try {
    const { art, id } = event.data.json();
    return { art: String(art), id: String(id) };
  } catch {
    return { art: "", id: "" };
  }
}

self.addEventListener("push", (event) => {
  const { art, id } = readPush(event);
  event.waitUntil(self.registration.showNotification(FACTS.texts.title, {
    body: FACTS.texts[art] || FACTS.texts.other,
    tag: id,
    lang: FACTS.language,
    icon: FACTS.icon,
    badge: FACTS.icon,
    data: { url: id ? `${FACTS.alerts}/${encodeURIComponent(id)}` : FACTS.start },
  }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(event.notification.data.url));
});
