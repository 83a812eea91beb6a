// Keeps the words true as time passes, without asking anybody, and the screen on while it is looked at.
const figure = document.querySelector("figure[data-start]");
const start = Date.parse(figure.dataset.start);
const end = Date.parse(figure.dataset.end);

function tell() {
  const now = Date.now();
  const phase = now >= end ? "ended" : now < start ? "not_yet" : "works";
  figure.dataset.now = phase;
  for (const words of document.querySelectorAll("[data-phase]")) words.hidden = words.dataset.phase !== phase;
}
tell();
setInterval(tell, 5000);

async function stayAwake() {
  if (document.visibilityState !== "visible") return;
  tell();
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    // Low battery or not allowed: the screen goes dark as usual.
  }
}
document.addEventListener("visibilitychange", stayAwake);
stayAwake();
