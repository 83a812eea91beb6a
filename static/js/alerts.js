// Unassigned alerts: their number in the title, and a sound and a notification for a new one if this browser has them
// switched on. Only one tab notifies: the newest alert that was shown is in the browser's storage.
const plain = document.title;
const SHOWN = `alerts:shown:${location.pathname.split("/")[2]}`;

function update() {
  const part = document.getElementById("banners");
  if (!part?.hasAttribute("hx-get")) return;
  const { waiting, newest, kind } = part.dataset;
  document.title = waiting ? `(${waiting}) ${plain}` : plain;
  if (!localStorage["alerts:sound"] && !localStorage["alerts:show"]) return localStorage.removeItem(SHOWN);
  once(() => {
    const shown = localStorage[SHOWN];
    if (shown !== undefined && Number(newest ?? 0) <= Number(shown)) return;
    localStorage[SHOWN] = newest ?? 0;
    if (shown !== undefined) notify(kind);
  });
}
// Tabs check at the same moment. Without locks (an address without TLS), two may both notify.
const once = (act) => (navigator.locks ? navigator.locks.request("alerts", act) : act());

function notify(kind) {
  if (localStorage["alerts:sound"]) sound();
  if (!localStorage["alerts:show"] || globalThis.Notification?.permission !== "granted") return;
  const shown = new Notification(plain, { body: kind, tag: SHOWN });
  shown.addEventListener("click", () => { focus(); shown.close(); });
}
function sound() {
  const context = new AudioContext();
  const tone = context.createOscillator();
  tone.frequency.value = 880;
  tone.connect(context.destination);
  tone.addEventListener("ended", () => context.close());
  tone.start();
  tone.stop(context.currentTime + 0.4);
}
document.addEventListener("htmx:afterSettle", update);
update();

// What a person chose for this browser.
const settings = document.getElementById("alert-settings");
function choose(name, on) {
  if (on) localStorage[name] = "on";
  else localStorage.removeItem(name);
  draw();
}
function draw() {
  const shows = Boolean(localStorage["alerts:show"]) && globalThis.Notification?.permission === "granted";
  settings.querySelector("[data-alert-sound]").checked = Boolean(localStorage["alerts:sound"]);
  settings.querySelector("[data-alert-show]").hidden = shows;
  settings.querySelector("[data-alert-hide]").hidden = !shows;
}
settings?.addEventListener("change", ({ target }) => {
  if (target.matches("[data-alert-sound]")) choose("alerts:sound", target.checked);
});
settings?.addEventListener("click", async ({ target }) => {
  if (target.matches("[data-alert-hide]")) choose("alerts:show", false);
  if (!target.matches("[data-alert-show]")) return;
  const allowed = (await globalThis.Notification?.requestPermission()) === "granted";
  settings.querySelector("[data-alert-refused]").hidden = allowed;
  choose("alerts:show", allowed);
});
if (settings) draw();
