// Serves one roll call's page while there is no network: from the site while it answers, else as it was last.
// The worker's scope is that page; other pages never pass through it.
const PAGE = new URL("./", self.location).pathname;
const CACHE = `roll-call:${self.location.host}:${PAGE.match(/(\d+)\/$/)[1]}`;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { method, url, mode } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== self.location.origin) return;
  if (mode === "navigate" && pathname === PAGE) event.respondWith(page(event.request));
  else if (pathname.startsWith("/static/")) event.respondWith(part(event.request));
});

async function page(request) {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(5000) });
    if (answer.status >= 500) throw new Error("not answered");
    if (answer.status === 403 || answer.status === 404) await caches.delete(CACHE);
    else if (answer.ok) await (await caches.open(CACHE)).put(PAGE, answer.clone());
    return answer;
  } catch (lost) {
    const rested = await caches.match(PAGE, { cacheName: CACHE });
    if (rested) return rested;
    throw lost;
  }
}

async function part(request) {
  const rested = () => caches.match(request, { cacheName: CACHE, ignoreSearch: true });
  return fetch(request).catch(async () => (await rested()) ?? Response.error());
}
