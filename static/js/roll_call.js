// A roll call on a phone: a check-off counts at once, is stored on the phone until the site has it, and is sent when
// there is a network. Other wardens' check-offs arrive every few seconds. After a reload without a network, the page
// shows the newest list. All of it is deleted from the phone when the roll call has ended.
const roll = document.getElementById("roll");
const report = document.querySelector("[data-ended]");
const name = (id) => `roll-call:${location.host}:${id}`;

async function forget(id) {
  for (const key of Object.keys(localStorage)) if (key.startsWith(`${name(id)}:`)) localStorage.removeItem(key);
  if (!("caches" in window)) return;
  await caches.delete(name(id));
  for (const worker of await navigator.serviceWorker?.getRegistrations() ?? []) {
    if (worker.scope.endsWith(`/roll-call/${id}/`)) await worker.unregister();
  }
}
if (report) forget(report.dataset.ended);
if (roll) follow();

function follow() {
  const { call, person, stateUrl, ticksUrl, workerUrl } = roll.dataset;
  const KEY = `${name(call)}:${person}`;
  const NEWEST = `${location.pathname}newest`; // in the cache: what changed after the page was stored
  const list = () => document.getElementById("roll-list");
  const waiting = document.getElementById("roll-waiting");
  const find = document.getElementById("roll-q");
  const kept = () => JSON.parse(localStorage.getItem(KEY) ?? "[]");
  const keep = (ticks) => (ticks.length ? localStorage.setItem(KEY, JSON.stringify(ticks)) : localStorage.removeItem(KEY));
  let version = "";
  let last = Number(roll.dataset.last); // the newest tick that this page shows
  let shown = {}; // the statuses that changed after this page was loaded
  let seen = Date.parse(roll.dataset.at); // when the site last answered
  let offline = !navigator.onLine;
  let note = "";
  let refused = false; // the person has no permission to tick any more
  let signedOut = false; // the site answers with the page to sign in
  let pressed = 0;

  const filled = (text, values) => text.replace(/%\((\w+)\)s/g, (_, key) => values[key]);
  function show(row, status, text) {
    row.dataset.status = status;
    row.querySelector(".roll-told").textContent = text;
    row.querySelector(".roll-safe").setAttribute("aria-pressed", status === "safe");
    row.querySelector(".roll-missing").setAttribute("aria-pressed", status === "missing");
    // A row without a status has no "Undo": focus stays in the row.
    if (status === "open" && document.activeElement === row.querySelector(".roll-open")) row.querySelector(".roll-safe").focus({ preventScroll: true });
  }
  function count() {
    const rows = [...list().children];
    const of = (status) => rows.filter((row) => row.dataset.status === status).length;
    const text = filled(roll.dataset.headline, { safe: of("safe"), all: rows.length, open: of("open"), missing: of("missing") });
    const line = document.getElementById("roll-headline");
    if (line.textContent !== text) line.textContent = text;
    const n = kept().length;
    const words = signedOut ? roll.dataset.signedOut : n && refused ? roll.dataset.noRight : n && offline ? filled(roll.dataset.waiting, { n, at: clock(seen) }) : offline ? filled(roll.dataset.offline, { at: clock(seen) }) : note;
    waiting.hidden = !words;
    if (waiting.textContent !== words) waiting.textContent = words;
  }
  const rowOf = (id) => list().querySelector(`li[data-id="${id}"]`);
  const clock = (at) => new Date(at).toLocaleTimeString("ja-JP", { timeZone: "Asia/Tokyo", hour: "2-digit", minute: "2-digit" });
  // Check-offs that were not sent yet have priority over those of the site.
  function showTicks() {
    for (const tick of kept()) {
      const row = rowOf(tick.id);
      if (row) show(row, tick.status, told(tick));
    }
  }
  const told = (tick) => (tick.status === "open" ? "" : filled(roll.dataset.by, { name: roll.dataset.name, at: clock(tick.at) }));
  const cache = () => ("caches" in window ? caches.open(name(call)) : null);
  async function store() {
    await (await cache())?.put(NEWEST, new Response(JSON.stringify({ last, seen, rows: shown })));
  }
  // What changed between the stored page and the loss of the network.
  async function restore() {
    const found = await (await (await cache())?.match(NEWEST))?.json();
    if (!found || found.last < last) return;
    ({ last, rows: shown } = found);
    seen = Math.max(seen, found.seen);
    showRows(shown);
  }
  function showRows(rows) {
    for (const [id, [status, words]] of Object.entries(rows)) if (rowOf(id)) show(rowOf(id), status, words);
  }
  function connect(is) {
    if (is) seen = Date.now();
    else if (!offline) store();
    offline = !is;
  }
  // Rows move to their place after a pause without presses: never under a finger.
  function settle() {
    if (Date.now() - pressed < 3000) return;
    for (const row of list().children) row.dataset.place = row.dataset.status;
  }
  const nonce = () => crypto.randomUUID?.() ?? "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (c) => (c ^ (crypto.getRandomValues(new Uint8Array(1))[0] & (15 >> (c / 4)))).toString(16));

  roll.addEventListener("click", (event) => {
    const button = event.target.closest("button[name=tick]");
    if (!button) return;
    event.preventDefault();
    const [id, status] = button.value.split(":");
    pressed = Date.now();
    keep([...kept(), { id, status, at: new Date().toISOString(), nonce: nonce() }]);
    showTicks();
    count();
    send();
  });
  find.addEventListener("input", narrow);
  // What can be typed, folded as the keys of the rows are (text_folding.py); other letters are looked for as shown.
  const fold = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").normalize("NFC").toLowerCase().replace(/[ァ-ヶ]/g, (kana) => String.fromCharCode(kana.charCodeAt(0) - 0x60));
  function narrow() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of list().children) {
      const text = row.querySelector(".roll-who").textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word) || row.dataset.key.includes(fold(word)));
    }
  }

  const tokens = (within) => within.querySelectorAll("[name=csrfmiddlewaretoken]");
  function post(ticks) {
    const headers = { "Content-Type": "application/json", "X-CSRFToken": tokens(document)[0].value };
    return fetch(ticksUrl, { method: "POST", headers, body: JSON.stringify(ticks) });
  }
  // After signing in again in another tab, the token of this page is old: take that of the page as it is now.
  async function renewed() {
    const answer = await fetch(location.pathname);
    if (!answer.ok || answer.redirected) return false;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const each of tokens(document)) each.value = tokens(page)[0].value;
    return true;
  }
  // Answered ticks are not stored any more. For ticks that were not saved, the list shows the status of the site.
  async function answered(ticks, answer) {
    const handled = ticks.slice(0, answer.answered);
    const gone = new Set(handled.map((tick) => tick.nonce));
    handled.forEach((tick, place) => answer.refused.includes(place) || (shown[tick.id] = [tick.status, told(tick)]));
    await store();
    keep(kept().filter((tick) => !gone.has(tick.nonce)));
    if (!answer.refused.length) return;
    note = answer.note;
    await redraw();
  }
  let sending = false;
  let most = 200; // ticks that are sent together: one alone after an answer that is about none of them
  async function send() {
    const ticks = kept().slice(0, most);
    if (sending || !ticks.length) return;
    sending = true;
    try {
      let answer = await post(ticks);
      if (answer.status === 403 && await renewed()) answer = await post(ticks);
      refused = answer.status === 403;
      const unreadable = answer.status === 400 || answer.status === 413;
      connect(unreadable || (answer.ok && !answer.redirected));
      signedOut = answer.redirected;
      if (unreadable && ticks.length > 1) most = 1;
      else if (unreadable) await answered(ticks, { answered: 1, refused: [0], note: roll.dataset.unreadable });
      else if (!offline) await answered(ticks, await answer.json());
    } catch {
      connect(false);
    }
    sending = false;
    count();
  }

  async function redraw() {
    const answer = await fetch(location.pathname);
    if (!answer.ok || answer.redirected) return;
    await (await cache())?.put(location.pathname, answer.clone());
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of ["roll-list", "roll-more"]) document.getElementById(part).replaceWith(page.getElementById(part));
    showTicks();
    narrow();
    document.dispatchEvent(new Event("portal:drawn"));
  }

  let again = 0;
  async function look() {
    if (document.hidden || Date.now() < again) return;
    again = Date.now() + 30000;
    let wait = 2;
    try {
      const answer = await fetch(`${stateUrl}?since=${last}`, { headers: { "X-Version": version } });
      wait = Math.max(wait, answer.headers.get("X-Again") ?? 0);
      connect(!answer.redirected && answer.status < 400);
      signedOut = answer.redirected;
      if (answer.status === 200 && !answer.redirected) await take(await answer.json());
    } catch {
      connect(false);
    }
    again = Date.now() + 1000 * wait;
    await send();
    showTicks();
    count();
    settle();
  }
  async function take(state) {
    if (state.ended) {
      await send();
      if (kept().length) return;
      await forget(call);
      location.reload();
      return;
    }
    if (state.page !== roll.dataset.page) await redraw();
    showRows(state.rows ?? {});
    Object.assign(shown, state.rows);
    roll.dataset.page = state.page;
    last = state.last;
    version = state.version;
    await store();
  }

  addEventListener("online", () => { again = 0; look(); });
  addEventListener("offline", () => { connect(false); count(); });
  begin();

  async function begin() {
    await restore().catch(() => {});
    showTicks();
    count();
    settle();
    look();
    setInterval(look, 500);
    rest();
  }

  // The page and its files are in a cache of this roll call alone, served by a worker for this page alone.
  async function rest() {
    if (!("serviceWorker" in navigator)) return;
    await navigator.serviceWorker.register(workerUrl, { scope: location.pathname });
    const stored = await cache();
    const parts = performance.getEntriesByType("resource").map((each) => each.name).filter((each) => new URL(each).pathname.startsWith("/static/"));
    await Promise.allSettled([...new Set(parts)].map((each) => stored.add(each)));
    if (navigator.onLine) await fetch(location.pathname).then((answer) => answer.ok && !answer.redirected && stored.put(location.pathname, answer));
    roll.dataset.rests = "";
  }
}
