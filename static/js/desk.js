// The desk: keys that never fight with typing, a chosen row that survives every redrawing.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const search = $("#desk-q");
const rows = () => $$("[data-guest]");
let chosen = ""; // the id of the row that was last chosen
let place = -1; // and where it stood, for when it leaves the board

function choose(row) {
  if (!row) return;
  chosen = row.id;
  place = rows().indexOf(row);
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}
function here() {
  return document.activeElement?.closest?.("[data-guest]") ?? null;
}
function move(step) {
  const all = rows();
  const now = here() ? all.indexOf(here()) : -1;
  if (now < 0 && place < 0) choose(all[step > 0 ? 0 : all.length - 1]);
  else if (now < 0) choose(document.getElementById(chosen) ?? all[Math.min(step > 0 ? place : Math.max(place - 1, 0), all.length - 1)]);
  else choose(all[Math.min(Math.max(now + step, 0), all.length - 1)]);
}
// What was drawn a moment ago may be pressed before htmx has taken it up: then the whole page would be loaded.
function press(button) {
  if (!button) return;
  htmx.process(button.closest("form") ?? button);
  button.click();
}
const typing = (target) => target.matches?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");

function inSearch(event) {
  const first = rows()[0];
  if (event.key === "ArrowDown" && first) choose(first);
  else if (event.key === "Escape") {
    if (search.value) {
      search.value = "";
      search.dispatchEvent(new Event("input", { bubbles: true }));
    } else search.blur();
  } else if (event.key === "Enter" && rows().length && search.value.trim() && !$("#desk-search").matches(".htmx-request")) $("[data-open]", first).click();
  else return;
  event.preventDefault();
}
const acts = {
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  "/": () => search && (search.focus(), search.select()),
  u: (event) => event.repeat || press($("[data-undo]")),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.keyCode === 229 || $("dialog[open], details[data-menu][open]")) return;
  if (event.target === search) return inSearch(event);
  if (typing(event.target)) return;
  const row = here();
  const link = $(`a[data-key="${CSS.escape(event.key)}"], button[data-key="${CSS.escape(event.key)}"]`);
  if (acts[event.key] && (rows().length || event.key === "/" || event.key === "u")) acts[event.key](event);
  else if (row && event.key === "Enter" && event.target === row) $("[data-open]", row).click();
  else if (row && /^[aAl]$/.test(event.key)) event.repeat || press($(`[data-do="${event.key}"]`, row)); // a key held down is one press
  else if (link) link.click();
  else return;
  event.preventDefault();
});
let within = false; // focus stood on the board, and nobody took it elsewhere since
document.addEventListener("focusin", (event) => {
  within = Boolean(event.target.closest?.("#board"));
  const row = event.target.closest?.("[data-guest]");
  if (row) {
    chosen = row.id;
    place = rows().indexOf(row);
  }
});
addEventListener("pointerdown", () => setTimeout(() => { within &&= document.activeElement !== document.body; }), true);

// The board redraws itself (static/js/live.js says when), never taking the chosen row away: whichever of several answers
// took focus with it, only focus that stood on the board and stands nowhere now is given back.
function giveBack() {
  if (!within || (document.activeElement && document.activeElement !== document.body)) return;
  // The row is gone: what took its place is not chosen by itself, so that the same key pressed twice acts on nobody
  // else. The arrows go on from there.
  const same = document.getElementById(chosen);
  if (same) return choose(same);
  const board = $("#board");
  board.tabIndex = -1;
  board.focus({ preventScroll: true });
}
for (const drawn of ["htmx:afterSwap", "htmx:afterSettle"]) document.addEventListener(drawn, giveBack);
// Nor does the second half of a double click, when another row's button has come under the pointer.
let clicked = "";
document.addEventListener("click", (event) => {
  const row = event.target.closest?.("[data-do]")?.closest("[data-guest]");
  if (!row) return;
  if (event.detail > 1 && row.id !== clicked) {
    event.preventDefault();
    event.stopImmediatePropagation();
  } else clicked = row.id;
}, true);
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
});
