// Deciding by keyboard: c, w and u press the buttons of the row that is marked, and the mark goes on to the next right
// that waits, over pages, too. Presses are sent one at a time, in order, and again until they are answered: the server
// saves each once. What was not saved is named above the list until it is decided. Script never marks its row: a key
// that is already down must not decide a right that the reviewer has not seen.
const form = document.querySelector("#decide");
const list = document.querySelector("[data-list=review-mine]");
const trouble = document.querySelector("#review-trouble");
const refused = document.querySelector("#review-refused");
const queue = document.querySelector("#review-queue");
const left = document.querySelector("#review-left");
const LATE = 15000; // milliseconds after which a press without any answer is sent again
const waiting = []; // { id, value }
let sending = false;

const rows = () => [...list.querySelectorAll("tbody tr")];
const here = () => list.querySelector("tr.here");
const rowOf = (id) => list.querySelector(`tr[data-id="${id}"]`);
const button = (row, key) => row?.querySelector(`button[data-key=${key}]`);
const waits = (row) => button(row, "c") && !row.classList.contains("review-saving");
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function choose(row, focus = true) {
  here()?.classList.remove("here");
  if (!row) return;
  row.classList.add("here");
  row.tabIndex = -1;
  if (focus) row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function press(pressed) {
  const row = pressed.closest("tr");
  if (row.classList.contains("review-saving")) return;
  row.classList.add("review-saving");
  waiting.push({ id: row.dataset.id, value: pressed.value });
  showWaiting();
  if (pressed.dataset.key !== "u") goOn(row);
  send();
}

// The next right on this page that waits, else the next page; it stays where something was not saved.
function goOn(row) {
  const all = rows();
  const next = all.slice(all.indexOf(row) + 1).find(waits);
  const more = list.querySelector("a[rel=next]");
  if (next) choose(next);
  else if (more && !refused.children.length) more.click();
  else choose(null);
}

function showWaiting() {
  queue.textContent = waiting.length ? form.dataset.waiting.replace("%n", waiting.length.toLocaleString()) : "";
}

function say(text) {
  trouble.hidden = !text;
  trouble.querySelector("span").textContent = text;
}

function refuse(id, text) {
  refused.querySelector(`[data-id="${id}"]`)?.remove();
  if (!text) return;
  const line = document.createElement("li");
  line.dataset.id = id;
  line.textContent = text;
  refused.append(line);
}

async function send() {
  if (sending) return;
  sending = true;
  for (let wait = 500; waiting.length; ) {
    const { id, value } = waiting[0];
    const body = new URLSearchParams(new FormData(form));
    body.set("press", value);
    try {
      const headers = { Accept: "application/json", "X-Requested-With": "fetch" };
      const request = { method: "POST", body, headers, redirect: "manual", signal: AbortSignal.timeout(LATE) };
      const answer = await fetch(form.action, request);
      if (answer.status === 0 || answer.status === 403) {
        await renew();
        continue;
      }
      if (answer.status >= 500 || answer.status === 429) throw new Error(String(answer.status));
      const found = answer.ok ? await answer.json() : null;
      waiting.shift();
      take(id, found);
      say("");
      wait = 500;
    } catch (error) {
      say(form.dataset[error.message] ?? form.dataset.lost);
      await pause(wait);
      wait = Math.min(wait * 2, 8000);
    }
    showWaiting();
  }
  sending = false;
}

// Signed out, or the form is too old: the page is asked for the token of a new session. What waits is kept meanwhile.
let renewals = 0;
async function renew() {
  const answer = await fetch(location.href, { headers: { "X-Requested-With": "fetch" } });
  if (answer.status === 403 || answer.status === 404) throw new Error("barred");
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const token = page.querySelector("#decide [name=csrfmiddlewaretoken]")?.value;
  if (!token || renewals > 5) {
    renewals = 0;
    throw new Error("out");
  }
  renewals += 1;
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
}

function take(id, found) {
  const row = rowOf(id);
  if (!found) {
    refuse(id, `${row?.querySelector(".p-title")?.textContent.trim() ?? ""}: ${form.dataset.gone}`);
    row?.remove();
    return;
  }
  renewals = 0;
  refuse(id, found.message && `${found.name}: ${found.message}`);
  const box = document.createElement("tbody");
  box.innerHTML = found.row;
  const fresh = box.querySelector("tr");
  if (row && fresh) {
    const was = row.classList.contains("here");
    row.replaceWith(fresh);
    pick(row, fresh);
    if (found.message) fresh.classList.add("review-unsaved");
    else if (was) choose(fresh);
  } else row?.remove();
  const number = (n) => n.toLocaleString();
  left.textContent = left.dataset.words
    .replace("%n", number(found.done))
    .replace("%m", number(found.done + found.waiting));
  for (const part of document.querySelectorAll("[data-when-done]")) part.hidden = found.waiting > 0;
  const bar = document.querySelector("#review-bar");
  bar?.setAttribute("width", (100 * found.done) / Math.max(found.done + found.waiting, 1));
}

// A row that was selected stays so.
function pick(row, fresh) {
  const before = row.querySelector("input[name=id]");
  const after = fresh.querySelector("input[name=id]");
  if (before && after) after.checked = before.checked;
  fresh.classList.toggle("picked", row.classList.contains("picked"));
}

// A page of the list is there: what is still being saved says so, and the first right that waits is marked.
function arrive() {
  for (const { id } of waiting) rowOf(id)?.classList.add("review-saving");
  // Under a finger there is nothing to mark.
  if (!here() && matchMedia("(hover: hover)").matches && !document.querySelector("dialog[open]")) {
    const free = document.activeElement === document.body || list.contains(document.activeElement);
    choose(rows().find(waits), free && !document.activeElement.matches("input"));
  }
}

if (form && list) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.target.matches?.("input:not([type=checkbox]), textarea, select")) return;
    const key = event.key.toLowerCase();
    if (key.length !== 1 || !"cwu".includes(key)) return;
    event.preventDefault();
    // Without a mark a key only says where it would be pressed next.
    if (!here()) return choose(rows().find(waits));
    const found = button(here(), key);
    if (found) press(found);
  });
  form.addEventListener("submit", (event) => {
    if (!event.submitter?.closest("tr")) return;
    event.preventDefault();
    press(event.submitter);
  });
  // The second click of a double click would meet the button that has come in place of the first one: Undo.
  document.addEventListener(
    "click",
    (event) => {
      if (event.detail > 1 && event.target.closest("button[form=decide]")) event.preventDefault();
    },
    true,
  );
  document.addEventListener("htmx:afterSettle", (event) => {
    if (list.contains(event.target)) arrive();
  });
  addEventListener("beforeunload", (event) => {
    if (waiting.length) event.preventDefault();
  });
  arrive();
}
