// Forms: counting characters, asking before changes are lost, sending once, moving to the errors.
const changed = new WeakSet();
let leaving = false;

function count(control) {
  let place = control.form && control.closest(".field")?.querySelector(".count");
  if (!place) {
    let help = control.closest(".field")?.querySelector(".help");
    if (!help) return;
    place = document.createElement("span");
    place.className = "count";
    place.setAttribute("aria-live", "off");
    help.append(place);
  }
  const used = [...control.value.normalize("NFC")].length;
  const most = Number(control.dataset.count);
  place.textContent = used ? `${used} / ${most}` : "";
  place.classList.toggle("over", used > most);
}
function prepare(root) {
  root.querySelectorAll("[data-count]").forEach(count);
  root.querySelector("[data-focus]")?.focus({ preventScroll: false });
}
document.addEventListener("input", (event) => {
  if (event.target.dataset.count) count(event.target);
  const form = event.target.closest("form[data-guard]");
  if (form) changed.add(form);
  // Filters apply as they are chosen; the button is for pages without script. A period has two fields and its own button.
  const filters = event.target.closest(".list-filters") && event.target.form?.matches("[id$='-filter']");
  if (filters && event.target.type !== "search") event.target.form.requestSubmit();
});
addEventListener("beforeunload", (event) => {
  if (leaving) return;
  if ([...document.forms].some((form) => changed.has(form))) event.preventDefault();
});
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.matches("[data-guard]")) leaving = true;
  const button = form.querySelector("[data-once]");
  if (!button || event.defaultPrevented) return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "1";
  setTimeout(() => button.setAttribute("aria-disabled", "true"), 0);
});
// Coming back by the browser's own button: the form may be sent again (its nonce keeps it one request).
addEventListener("pageshow", () => {
  leaving = false;
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    form.querySelector("[data-once]")?.removeAttribute("aria-disabled");
  }
});
prepare(document);
document.addEventListener("htmx:load", (event) => prepare(event.detail.elt));
