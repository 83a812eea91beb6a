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
document.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  if (status === 403) say(event.detail.xhr.getResponseHeader("X-Csrf-Failure") ? words.stale : words.refused, { bad: true, reload: true });
  else if (status === 404 && polls(event)) event.detail.elt.removeAttribute("hx-trigger");
  else say(words.broken, { bad: true, reload: true });
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
