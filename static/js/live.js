// Requests that a page makes by itself: what to say when they fail, and when the connection is gone.
const toasts = document.getElementById("toasts");
const words = toasts.dataset;

function say(text, { bad = false, reload = false } = {}) {
  if ([...toasts.children].some((line) => line.dataset.text === text)) return;
  const line = document.createElement("div");
  line.className = bad ? "toast-line bad" : "toast-line";
  line.dataset.text = text;
  const words_ = document.createElement("p");
  words_.textContent = text;
  line.append(words_);
  if (reload) line.append(button(words.reload, () => location.reload()));
  line.append(button(words.close, () => line.remove()));
  toasts.append(line);
  if (!bad) setTimeout(() => line.remove(), 4000);
}
function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}
// A passkey that was not given, or cannot be at this address: nothing is sent, so the page says it.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  say(event.detail.exception?.name === "SecurityError" ? words.passkeyAddress : words.passkey, { bad: true });
});
document.addEventListener("portal:say", (event) => say(event.detail.text, event.detail));

const offline = document.getElementById("offline");
function lost(is) {
  if (offline) offline.hidden = !is;
  else if (is) say(words.lost, { bad: true });
}
addEventListener("offline", () => lost(true));
addEventListener("online", () => lost(false));
if (!navigator.onLine) lost(true);

const polls = (event) => event.detail.elt?.hasAttribute?.("data-live");
document.addEventListener("htmx:sendError", (event) => (polls(event) ? lost(true) : say(words.lost, { bad: true })));
document.addEventListener("htmx:timeout", () => say(words.late, { bad: true, reload: true }));
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) lost(false);
});
// What is gone, or no longer open to this person, is not requested again.
const stopped = new WeakSet();
document.addEventListener("htmx:beforeRequest", (event) => {
  if (stopped.has(event.detail.elt)) event.preventDefault();
});
document.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  if ((status === 403 || status === 404) && polls(event)) {
    stopped.add(event.detail.elt);
    event.detail.elt.removeAttribute("hx-get");
  } else if (status === 403) say(event.detail.xhr.getResponseHeader("X-Csrf-Failure") ? words.stale : words.refused, { bad: true, reload: true });
  else say(words.broken, { bad: true, reload: true });
});
// htmx looks for the places of an answer around what asked for it. That may have been drawn anew meanwhile, but the page
// still has them. With `composed` it asks whether what asked is on the page.
document.addEventListener("htmx:beforeRequest", ({ detail: { elt } }) => {
  elt.getRootNode = (asked) => (asked?.composed ? Node.prototype.getRootNode.call(elt, asked) : document);
});
// What somebody watches (`data-watch` names it) asks again by itself, with the mark of what it shows: not while nobody
// looks, and not under a finger, an open menu or a marked text.
const watched = (event) => event.detail.elt?.dataset?.watch;
let pressing = false;
addEventListener("pointerdown", () => { pressing = true; }, true);
for (const end of ["pointerup", "pointercancel", "blur"]) addEventListener(end, () => setTimeout(() => { pressing = false; }, 60), true);
function busy(part) {
  const inside = document.activeElement !== document.body && part.contains(document.activeElement) && document.activeElement;
  const marked = String(getSelection()) && part.contains(getSelection().anchorNode);
  return pressing || marked || inside?.matches?.("input, textarea, select") || part.querySelector("details[data-menu][open]:not(#notices)");
}
const shown = (part) => document.getElementById(part)?.dataset.version;
document.addEventListener("htmx:configRequest", (event) => {
  if (!watched(event)) return;
  event.detail.headers["X-Version"] = shown(watched(event)) ?? "";
  if (watched(event) !== "banners" && shown("banners")) event.detail.headers["X-Version-Banners"] = shown("banners");
});
// When each part asks again, in milliseconds: at its own pace (`data-every`), and never sooner than the server allows
// (`X-Again`), which knows how many pages ask. Notices are asked about along with what else the page follows.
const turns = new Map();
const later = (part, seconds) => turns.set(part, performance.now() + 1000 * seconds);
// A page in the background rests, but for its notices where this browser is to tell of alerts (`alerts.js`).
const rests = (part) => document.hidden && !(part === "banners" && (localStorage["alerts:sound"] || localStorage["alerts:show"]));
const LOST = 30; // seconds after which a request without any answer is made again
document.addEventListener("htmx:beforeRequest", (event) => {
  if (watched(event) && rests(watched(event))) event.preventDefault();
  else if (watched(event)) later(watched(event), LOST);
});
// Told before the answer is drawn as well: a part that draws itself anew is no longer there afterwards.
for (const told of ["htmx:beforeOnLoad", "htmx:afterRequest"]) document.addEventListener(told, (event) => {
  const { elt, xhr } = event.detail;
  if (watched(event)) later(watched(event), Math.max(elt.dataset.every, xhr.getResponseHeader("X-Again") ?? 0));
});
document.addEventListener("banners-changed", () => document.getElementById("banners")?.dispatchEvent(new Event("look")));
setInterval(() => {
  const parts = [...document.querySelectorAll("[data-watch][hx-get]")];
  for (const part of parts) {
    const name = part.dataset.watch;
    if (!turns.has(name)) later(name, part.dataset.every);
    else if (performance.now() >= turns.get(name) && !rests(name) && (name !== "banners" || parts.length === 1 || document.hidden)) part.dispatchEvent(new Event("look"));
  }
}, 100);
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, requestConfig } = event.detail;
  const part = requestConfig?.elt?.dataset?.watch;
  if (!part) return;
  if (busy(target)) event.detail.shouldSwap = false;
  if (event.detail.shouldSwap) unfolded = Boolean(target.querySelector("#notices[open]"));
  if (event.detail.shouldSwap) listed.set(part, rowsOf(target).map((row) => row.dataset.id));
});
// The open sheet of notices stays open when they are drawn anew.
let unfolded = false;
document.addEventListener("htmx:afterSwap", () => {
  const sheet = unfolded && document.getElementById("notices");
  unfolded = false;
  if (sheet) sheet.open = true;
});
document.addEventListener("htmx:afterSettle", (event) => {
  arrived(event.detail.requestConfig?.elt?.dataset?.watch);
  giveBack();
});
// Focus stays where it was when that is drawn anew, also behind a dialog: on what does the same for the same row, else on
// what is called the same, else on the nearest part around it. What takes focus from it on purpose ends this; a part of
// the page that draws itself without htmx says `portal:drawn`.
let focused = null;
let did = ""; // what it did: said while it is in its form
let around = []; // the parts it is in, inmost first
const PLACES = "[id], [data-id], [aria-labelledby], dd, li";
document.addEventListener("focusin", ({ target }) => {
  if (target.closest("dialog")) return;
  [focused, did, around] = [target, does(target), []];
  for (let each = target; each; each = each.parentElement) if (each.matches(PLACES)) around.push(each);
});
document.addEventListener("focusout", () => setTimeout(() => {
  if (document.activeElement === document.body && focused?.isConnected) focused = null;
}));
const DOES = ["href", "name", "value", "form", "formaction"];
const rowOf = (each) => each.closest("[data-id]")?.dataset.id;
const does = (each) => JSON.stringify([
  ...DOES.map((name) => each.getAttribute(name)), rowOf(each),
  each.closest("form")?.getAttribute("action"), each.matches("a, tr, form *, #notices > summary") || each.textContent.trim(),
]);
function doesTheSame() {
  const found = [...document.querySelectorAll(`:is(main, .banners) ${focused.tagName}`)].filter((each) => does(each) === did);
  return found[1] && !found[0].matches("a, tr") ? null : found[0]; // of two buttons it could be the other one
}
// What is called the same in the same part and row: a column's head that now sorts the other way, the next page.
const called = (each) => each.getAttribute("aria-label") ?? each.textContent.trim();
function isCalledTheSame() {
  const part = around.map((each) => document.getElementById(each.id)).find((each) => each);
  const found = [...part?.querySelectorAll(focused.tagName) ?? []];
  const same = found.filter((each) => called(each) && called(each) === called(focused) && rowOf(each) === rowOf(focused));
  return same.length === 1 ? same[0] : null;
}
// The menu that it was in, which is closed again: the menus of a part stay in their order.
function menu() {
  const part = around.find((each) => document.getElementById(each.id));
  const [before, now] = [part, part && document.getElementById(part.id)].map((each) => [...each?.querySelectorAll("details[data-menu]") ?? []]);
  return now[before.indexOf(focused.closest("details[data-menu]"))]?.querySelector("summary");
}
function nearest(part) {
  const row = part.dataset.id && document.querySelector(`main ${part.tagName}[data-id="${CSS.escape(part.dataset.id)}"]`);
  const now = part.isConnected ? part : document.getElementById(part.id) || row;
  return document.getElementById((now ?? part).getAttribute("aria-labelledby")) ?? now;
}
function giveBack() {
  if (document.activeElement !== document.body || !focused || focused.isConnected) return;
  const was = focused;
  for (const find of [doesTheSame, isCalledTheSame, menu, ...around.map((part) => () => nearest(part)), () => document.getElementById("content")]) {
    const again = find();
    if (!again) continue;
    if (again.matches("tr") || !again.matches("a, button, input, select, textarea, summary")) again.tabIndex = -1;
    if (was.closest("tr.here")) again.closest("tr")?.classList.add("here");
    again.focus({ preventScroll: true });
    if (document.activeElement === again) return;
  }
}
document.addEventListener("portal:drawn", giveBack);
document.addEventListener("click", () => setTimeout(giveBack)); // a note that is closed, a row that is removed
document.addEventListener("close", () => setTimeout(giveBack), true); // focus leaves a dialog after it has closed
// Rows that came while somebody looks are told apart for a moment: those above the first one that was there before.
const ARRIVED = 4000;
const listed = new Map(); // the rows that each part had before it was drawn anew
const rowsOf = (root) => [...root?.querySelectorAll("tbody tr[data-id]") ?? []];
function arrived(part) {
  const before = new Set(listed.get(part));
  listed.delete(part);
  if (!before.size) return;
  const now = rowsOf(document.getElementById(part));
  const first = now.findIndex((row) => before.has(row.dataset.id));
  for (const row of now.slice(0, first < 0 ? now.length : first)) {
    row.classList.add("arrived");
    setTimeout(() => row.classList.remove("arrived"), ARRIVED);
  }
}
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) document.body.dispatchEvent(new Event("update-now"));
});
// A fragment that turned into a whole page (signed out, moved) is opened as the page it is.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, target } = event.detail;
  if (xhr.status < 400 && target !== document.body && /^\s*<!doctype html/i.test(xhr.responseText)) {
    event.detail.shouldSwap = false;
    location.assign(xhr.responseURL || location.href);
  }
});
// Addresses of lists carry what was chosen, and no empty names.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb !== "get") return;
  const chosen = event.detail.formData ?? event.detail.parameters;
  for (const name of new Set([...chosen.keys?.() ?? []])) {
    if (chosen.getAll(name).every((value) => value === "")) chosen.delete(name);
  }
});
