// The desk: the chosen preset shows at once, and clocks run down. The server reads back what was typed for the end.
// The server decides by itself what is meant; nothing here is needed for a right code.
const form = document.querySelector(".desk-form");
const JST = 9 * 3600e3;
const two = (n) => String(n).padStart(2, "0");
// A moment as the service's clock shows it, whatever the zone of this machine.
const parts = (at) => {
  const there = new Date(at + JST);
  return { day: `${there.getUTCFullYear()}-${two(there.getUTCMonth() + 1)}-${two(there.getUTCDate())}`, time: `${two(there.getUTCHours())}:${two(there.getUTCMinutes())}` };
};
// A number of hours, minutes or days in the language of the page: "2 hr", "2 時間".
const inWords = (n, unit) => new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit, unitDisplay: "short" }).format(n);
const midnight = (at) => Math.floor((at + JST) / 864e5) * 864e5 - JST;

if (form) desk(form);

function desk(form) {
  const presets = JSON.parse(form.dataset.presets);
  const field = (name) => form.elements[name];
  const { until, shown_until: shownUntil, shown_preset: shownPreset, start } = form.elements;
  const chosen = () => form.querySelector("input[name=preset]:checked")?.value ?? "";
  const begins = () => (start.value ? Date.parse(`${start.value.length === 16 ? `${start.value}:00` : start.value}+09:00`) : Date.now());

  const endOf = (preset, at) => {
    if (!preset.until) return Math.floor((at + preset.minutes * 60e3) / 60e3) * 60e3;
    const [hour, minute] = preset.until.split(":").map(Number);
    const end = midnight(at) + (hour * 60 + minute) * 60e3;
    return end > at ? end : end + 864e5;
  };
  const readBack = () => htmx.trigger(until, "read-back");
  const typed = (end, at) => (parts(end).day === parts(at).day ? parts(end).time : `${parts(end).day} ${parts(end).time}`);
  const ticked = (name) => [...form.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value).sort().join("\n");
  const tick = (name, values) => form.querySelectorAll(`input[name=${name}]`).forEach((box) => { box.checked = values.includes(box.value); });
  const language = () => form.querySelector("input[name=language]:checked")?.value ?? "ja";
  const remarks = (preset) => preset[language()] || preset.ja || preset.en;

  // Fields that still stand as the shown preset has them follow the chosen one; what a person changed stays.
  function follow() {
    const old = presets[shownPreset.value] ?? presets[""];
    const now = presets[chosen()] ?? presets[""];
    for (const name of ["area_ids", "keys"]) {
      if (ticked(name) === [...old[name]].sort().join("\n")) tick(name, now[name]);
    }
    const grace = field("grace_minutes");
    if (grace && Number(grace.value) === old.grace_minutes) grace.value = now.grace_minutes;
    if ([old.ja, old.en, remarks(old)].includes(field("remarks").value)) field("remarks").value = remarks(now);
    refresh(now);
    shownPreset.value = chosen();
  }
  function refresh(preset = presets[chosen()] ?? presets[""]) {
    if (until.value === shownUntil.value || until.value === "") {
      if (document.activeElement === until && until.value === "") return;
      const at = begins();
      if (Number.isNaN(at)) return;
      const shown = typed(endOf(preset, at), at);
      if (shown === until.value) return;
      until.value = shownUntil.value = shown;
      readBack();
    }
  }
  form.addEventListener("change", (event) => {
    if (event.target.name === "preset" || event.target.name === "language") follow();
    if (event.target.name === "start") {
      refresh();
      readBack();
    }
  });
  until.addEventListener("focus", () => until.select());
  setInterval(refresh, 15e3);
  setInterval(() => document.hidden || readBack(), 60e3); // “+90” moves on
  addEventListener("pageshow", () => until.value !== until.defaultValue && readBack()); // what the browser has filled in again
  refresh();
  // Several names pasted at once are several guests.
  field("name").addEventListener("paste", (event) => {
    const lines = event.clipboardData.getData("text").split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
    if (lines.length < 2) return;
    event.preventDefault();
    field("name").value = lines[0];
    field("others").value = [field("others").value, ...lines.slice(1)].filter(Boolean).join("\n");
    form.querySelector(".desk-more").open = true;
  });
}

// The next guest is one key away, wherever nothing is being typed.
document.addEventListener("keydown", (event) => {
  if (event.key !== "n" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, [contenteditable]")) return;
  document.querySelector("[data-next]")?.click();
});

// Clocks: how long a code works, until when keys are expected. Words stay the server's; the figures move.
function tickClocks() {
  for (const place of document.querySelectorAll("[data-runs-down]")) {
    const left = Math.floor((Date.parse(place.dataset.runsDown) - Date.now()) / 1000);
    place.classList.toggle("is-close", left > 0 && left <= 900);
    place.classList.toggle("is-past", left <= 0);
    const size = Math.abs(left);
    const [days, hours, minutes, seconds] = [Math.floor(size / 86400), Math.floor(size / 3600) % 24, Math.floor(size / 60) % 60, size % 60];
    place.textContent = `${left < 0 ? "−" : ""}${days ? `${inWords(days, "day")} ` : ""}${two(hours)}:${two(minutes)}:${two(seconds)}`;
  }
}
if (document.querySelector("[data-runs-down]")) tickClocks();
setInterval(tickClocks, 1000);
