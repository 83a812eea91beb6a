// Lists: j, k and Enter; selection that survives paging; "/" to search.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const typing = (target) => target.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
const picked = new Map(); // list name -> { ids, match }

function state(list) {
  const name = list.dataset.list;
  if (!picked.has(name)) picked.set(name, { ids: new Set(), all: null });
  return picked.get(name);
}
function rows(list) {
  return $$("tbody tr", list);
}
// The page of a row: where its title leads, or what it says itself.
function page(row) {
  return $("a.row-link", row)?.href ?? row.dataset.href;
}
function here(list, row) {
  for (const other of $$("tr.here", list)) other.classList.remove("here");
  if (!row) return;
  row.classList.add("here");
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("dialog[open]")) return;
  const list = event.target.closest?.("[data-list]") ?? $("[data-list]");
  if (!list) return;
  if (event.key === "Escape" && event.target.matches(".list-search input") && !event.target.value) event.target.blur();
  if (typing(event.target)) return;
  const all = rows(list);
  const now = all.findIndex((row) => row.classList.contains("here"));
  if (event.key === "j" || event.key === "k") {
    const next = event.key === "j" ? now + 1 : Math.max(now - 1, 0);
    here(list, all[Math.min(next, all.length - 1)]);
  } else if (event.key === "Enter" && now >= 0 && event.target === all[now] && page(all[now])) location.assign(page(all[now]));
  else if (event.key === "x" && now >= 0) $("input[name=id]", all[now])?.click();
  else if (event.key === "/") $(".list-search input", list)?.focus();
  else if (event.key === "]") $("a[rel=next]", list)?.click();
  else if (event.key === "[") $("a[rel=prev]", list)?.click();
  else return;
  event.preventDefault();
});

// A click anywhere on a row opens it, unless it was meant for something in it or marks text.
document.addEventListener("click", (event) => {
  const row = event.target.closest("tbody tr");
  if (!row || !page(row) || event.target.closest("a, button, input, label, summary") || String(getSelection())) return;
  if (event.ctrlKey || event.metaKey) open(page(row), "_blank", "noopener");
  else location.assign(page(row));
});

function draw(list) {
  const bulk = $("[data-bulk]", list);
  if (!bulk) return;
  const match = bulk.elements.match.value;
  // What is listed has changed: a selection that nobody sees must not be acted upon.
  if (state(list).match !== undefined && state(list).match !== match) picked.delete(list.dataset.list);
  state(list).match = match;
  const { ids, all } = state(list);
  const everything = all !== null && all === match;
  for (const row of rows(list)) {
    const box = $("input[name=id]", row);
    box.checked = everything || ids.has(box.value);
    row.classList.toggle("picked", box.checked);
  }
  const page = $("[data-pick-page]", list);
  const ticked = rows(list).filter((row) => row.classList.contains("picked")).length;
  page.checked = ticked > 0 && ticked === rows(list).length;
  page.indeterminate = ticked > 0 && !page.checked;
  const words = $(".bulk-count", bulk);
  words.textContent = everything ? words.dataset.all : words.dataset.one.replace("%n", ids.size.toLocaleString());
  bulk.classList.toggle("on", everything || ids.size > 0);
  bulk.elements.scope.value = everything ? "match" : "picked";
  const onPage = new Set(rows(list).map((row) => row.dataset.id));
  bulk.elements.ids.value = [...ids].filter((id) => !onPage.has(id)).join(",");
  const more = $("[data-pick-match]", bulk);
  if (more) more.hidden = everything;
}
// Shift takes the rows from the one last ticked to this one along; all of them become what this one is now.
let shifted = false;
document.addEventListener("click", (event) => (shifted = event.shiftKey), true);
function reached(list, box) {
  const boxes = $$("tbody input[name=id]", list);
  const from = shifted ? boxes.findIndex((each) => each.value === state(list).last) : -1;
  const to = boxes.indexOf(box);
  state(list).last = box.value;
  return from < 0 ? [box] : boxes.slice(Math.min(from, to), Math.max(from, to) + 1);
}
document.addEventListener("change", (event) => {
  const list = event.target.closest("[data-list]");
  if (!list) return;
  const kept = state(list);
  if (event.target.matches("[data-pick-page]")) {
    kept.all = null;
    for (const row of rows(list)) kept.ids[event.target.checked ? "add" : "delete"](row.dataset.id);
  } else if (event.target.matches("input[name=id]")) {
    if (kept.all !== null) for (const row of rows(list)) kept.ids.add(row.dataset.id);
    kept.all = null;
    for (const box of reached(list, event.target)) kept.ids[event.target.checked ? "add" : "delete"](box.value);
  } else return;
  draw(list);
});
document.addEventListener("click", (event) => {
  const list = event.target.closest("[data-list]");
  if (event.target.closest("[data-pick-match]")) state(list).all = $("[data-bulk]", list).elements.match.value;
  else if (event.target.closest("[data-pick-none]")) picked.delete(list.dataset.list);
  else return;
  draw(list);
});
document.addEventListener("htmx:load", (event) => {
  const list = event.detail.elt.closest?.("[data-list]");
  if (list) draw(list);
});
for (const list of $$("[data-list]")) draw(list);
