// Deciding by keyboard: c, w and u press the buttons of the row that j and k chose. Each press is sent by itself, in
// order, and again until it is answered: the server keeps it once, however often it arrives.
const form = document.querySelector("#decide");
const list = document.querySelector("[data-list=review-mine]");
const said = document.querySelector("#review-said");
const left = document.querySelector("#review-left");
const waiting = [];
let sending = false;

const rows = () => [...list.querySelectorAll("tbody tr")];
const here = () => list.querySelector("tr.here");
const button = (row, key) => row?.querySelector(`button[data-key=${key}]`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function choose(row) {
  if (!row) return;
  here()?.classList.remove("here");
  row.classList.add("here");
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function press(pressed) {
  const row = pressed.closest("tr");
  if (row.classList.contains("review-saving")) return;
  row.classList.add("review-saving");
  const body = new URLSearchParams(new FormData(form));
  body.set("press", pressed.value);
  waiting.push({ body, row });
  said.textContent = "";
  if (pressed.dataset.key !== "u") choose(row.nextElementSibling ?? row);
  send();
}

async function send() {
  if (sending) return;
  sending = true;
  for (let wait = 500; waiting.length; ) {
    const { body, row } = waiting[0];
    try {
      const headers = { Accept: "application/json", "X-Requested-With": "fetch" };
      const answer = await fetch(form.action, { method: "POST", body, headers, redirect: "manual" });
      if (answer.status === 0 || answer.status === 403) return location.reload(); // signed out, or an old page
      if (answer.status >= 500 || answer.status === 429) throw new Error(String(answer.status));
      waiting.shift();
      if (answer.ok) take(row, await answer.json());
      else {
        row.remove();
        said.textContent = form.dataset.gone;
      }
      wait = 500;
    } catch {
      said.textContent = form.dataset.lost;
      await pause(wait);
      wait = Math.min(wait * 2, 8000);
    }
  }
  sending = false;
}

function take(row, told) {
  const box = document.createElement("tbody");
  box.innerHTML = told.row;
  const fresh = box.querySelector("tr");
  const was = row.classList.contains("here");
  if (fresh) {
    row.replaceWith(fresh);
    pick(row, fresh);
    if (was || !told.saved) choose(fresh);
  } else row.remove();
  if (told.said) said.textContent = told.said;
  else if (said.textContent === form.dataset.lost) said.textContent = "";
  const number = (n) => n.toLocaleString();
  left.textContent = left.dataset.words.replace("%n", number(told.done)).replace("%m", number(told.done + told.waiting));
  left.dataset.left = told.waiting;
}

// A row that was selected stays so.
function pick(row, fresh) {
  const before = row.querySelector("input[name=id]");
  const after = fresh.querySelector("input[name=id]");
  if (before && after) after.checked = before.checked;
  fresh.classList.toggle("picked", row.classList.contains("picked"));
}

if (form && list) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.target.matches?.("input:not([type=checkbox]), textarea, select")) return;
    if (!"cwu".includes(event.key) || event.key.length !== 1) return;
    const row = here() ?? rows()[0];
    if (!here()) choose(row);
    const found = button(row, event.key);
    if (!found) return;
    event.preventDefault();
    press(found);
  });
  form.addEventListener("submit", (event) => {
    if (!event.submitter?.closest("tr")) return;
    event.preventDefault();
    press(event.submitter);
  });
  addEventListener("beforeunload", (event) => {
    if (waiting.length) event.preventDefault();
  });
}
