// A board on a wall is looked at from afar: when it stops hearing, it must say so in its largest letters.
const old = document.getElementById("wall-old");
const clock = document.getElementById("wall-clock");
const full = document.getElementById("wall-full");
const OLD = 40; // seconds without an answer; it asks every ten
const time = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: "Asia/Tokyo" });
let answeredAt = Date.now();

// Before the answer is drawn: the wall that asked is gone afterwards.
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
  if (detail.elt?.id === "wall" && detail.xhr.status < 400) answeredAt = Date.now();
});
function tell() {
  clock.textContent = time.format(Date.now());
  const isOld = Date.now() - answeredAt > 1000 * OLD;
  if (isOld) old.textContent = old.dataset.words.replace("%t", time.format(answeredAt));
  old.hidden = !isOld;
  document.body.classList.toggle("wall-is-old", isOld);
}
tell();
setInterval(tell, 1000);

if (document.fullscreenEnabled) {
  full.hidden = false;
  full.addEventListener("click", () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()));
  document.addEventListener("fullscreenchange", () => { full.hidden = Boolean(document.fullscreenElement); });
}
