// Countdowns of a member's page, and the one-time code that follows itself while somebody looks.
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

// Somebody looks while the page is visible and was touched within three minutes.
const QUIET = 3 * 60 * 1000;
let touched = Date.now();
for (const kind of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"]) {
  addEventListener(kind, () => { touched = Date.now(); }, { passive: true, capture: true });
}
const looks = () => document.visibilityState === "visible" && Date.now() - touched < QUIET;

// What is left of it: `data-left` seconds from when the element came, in the words of a clock. The wall clock goes on
// while a machine sleeps.
const ends = new WeakMap();
const clock = (seconds) => {
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n) => String(n).padStart(2, "0");
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
};
function count(place) {
  if (!ends.has(place)) ends.set(place, Date.now() + Number(place.dataset.left) * 1000);
  const left = Math.max(0, Math.ceil((ends.get(place) - Date.now()) / 1000));
  const words = place.querySelector("[data-left-words]");
  const bar = place.querySelector("[data-left-bar]");
  if (bar) bar.value = left;
  if (left > 0) {
    if (words) words.textContent = clock(left);
    return true;
  }
  if (words && place.dataset.over) words.textContent = place.dataset.over;
  place.classList.add("is-over");
  return false;
}

// The code goes out of sight, and with it out of the page; a press brings the next one.
function hide(code, paused) {
  code.querySelector("[data-shown]")?.remove();
  const start = code.querySelector("[data-start]");
  start.hidden = false;
  start.querySelector("[data-paused]").hidden = !paused;
}
function tick() {
  for (const place of $$("[data-left]:not(.is-over)")) {
    const goes = count(place);
    const code = place.closest("[data-one-time]");
    if (!code) continue;
    if (Date.now() - touched >= QUIET || (!goes && !looks())) hide(code, true);
    else if (!goes) place.querySelector("[data-next]").requestSubmit();
  }
}
tick();
setInterval(tick, 250);
document.addEventListener("htmx:load", tick);
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") tick(); });
document.addEventListener("click", (event) => {
  const code = event.target.closest("[data-stop]")?.closest("[data-one-time]");
  if (code) hide(code, false);
});
// No answer, no code: an old one must not look like a live one.
for (const kind of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
  document.addEventListener(kind, (event) => {
    const code = event.detail.elt?.closest?.("[data-one-time]");
    if (code) hide(code, false);
  });
}
addEventListener("pagehide", () => $$("[data-one-time]").forEach((code) => hide(code, true)));
