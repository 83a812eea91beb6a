// Counts the milliseconds between the page and the click, so that the site knows when a button was really pressed,
// even if the request then waited in a queue. Date.now() goes on while a machine sleeps; performance.now() may not.
const opened = new Map();

document.addEventListener("submit", (event) => {
  for (const field of event.target.querySelectorAll("[data-elapsed]")) {
    const since = opened.get(field) ?? loaded;
    field.value = String(Math.max(0, Date.now() - since));
  }
}, true);

// A form that a script sends, with a passkey in it say, tells of no submit: the click is when its data is gathered.
document.addEventListener("formdata", (event) => {
  for (const field of event.target.querySelectorAll("[data-elapsed]")) {
    const since = opened.get(field) ?? loaded;
    event.formData.set(field.name, String(Math.max(0, Date.now() - since)));
  }
}, true);

const loaded = Date.now();

// Forms that arrive later, with a fragment, count from then: their nonce was made then, too.
document.addEventListener("htmx:afterSettle", (event) => {
  const within = event.target.querySelectorAll?.("[data-elapsed]") ?? [];
  for (const field of within) opened.set(field, Date.now());
});
