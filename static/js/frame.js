// The frame's behaviour: menus, palette, banners' minutes, copying, secrets that hide themselves, dismissing.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

const CHOICES = ".menu-item, .menu-scroll > label";

// Menus are <details>: one open at a time, closed by Escape and by a click elsewhere.
function closeMenus(except) {
  for (const menu of $$("details[data-menu][open]")) if (!menu.contains(except)) menu.open = false;
}
document.addEventListener("click", (event) => closeMenus(event.target));
document.addEventListener("toggle", (event) => {
  const menu = event.target;
  if (!menu.matches?.("details[data-menu]") || !menu.open) return;
  closeMenus(menu);
  const body = $(".menu-body", menu);
  const box = body.getBoundingClientRect();
  if (box.right > innerWidth - 4) body.classList.add("menu-right");
  if (box.left < 4) body.classList.remove("menu-right");
  $(".menu-filter", body)?.focus();
}, true);
document.addEventListener("keydown", (event) => {
  const menu = event.target.closest?.("details[data-menu][open]");
  if (!menu) return;
  if (event.key === "Escape") {
    menu.open = false;
    $("summary", menu).focus();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const items = $$(`:is(${CHOICES}):not([hidden]), summary, .menu-filter`, menu).map((item) => $("input", item) ?? item);
    const step = event.key === "ArrowDown" ? 1 : items.length - 1;
    items[(items.indexOf(document.activeElement) + step) % items.length]?.focus();
    event.preventDefault();
  }
});
// Groups of the menu stay folded for the person.
document.addEventListener("click", ({ target }) => {
  const group = target.closest(".side summary")?.parentElement;
  if (!group) return;
  const body = new URLSearchParams({ group: group.dataset.group, folded: group.open ? "1" : "" });
  fetch($(".side").dataset.fold, { method: "POST", headers: JSON.parse(document.body.getAttribute("hx-headers")), body });
});
// What needs action is counted beside the menu's entries, as of the last update of the notices.
document.addEventListener("htmx:afterSettle", () => {
  const counts = JSON.parse($("#banners")?.dataset.counts ?? "{}");
  for (const place of $$("[data-count]")) place.textContent = counts[place.dataset.count] ?? "";
});
document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-filter-list]")) return;
  const wanted = event.target.value.toLowerCase();
  for (const item of $$(CHOICES, event.target.parentElement)) {
    item.hidden = !item.textContent.toLowerCase().includes(wanted) && !item.matches(".menu-last");
  }
});

// Palette: Ctrl-K or Cmd-K, arrows and Enter.
const palette = $("#palette");
function openPalette() {
  if (!palette || palette.open) return;
  palette.showModal();
  const input = $("#palette-input");
  input.select();
  input.dispatchEvent(new Event("palette-open"));
}
function hits() {
  return $$(".palette-hit", palette);
}
function choose(place) {
  const all = hits();
  all.forEach((hit, number) => hit.setAttribute("aria-selected", String(number === place)));
  const chosen = all[place];
  if (chosen) {
    $("#palette-input").setAttribute("aria-activedescendant", chosen.id);
    chosen.scrollIntoView({ block: "nearest" });
  }
}
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openPalette();
  }
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-palette-open]")) openPalette();
  else if (event.target === palette) palette.close();
});
palette?.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  const all = hits();
  const now = all.findIndex((hit) => hit.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown") choose((now + 1) % all.length);
  else if (event.key === "ArrowUp") choose((now - 1 + all.length) % all.length);
  else if (event.key === "Escape") palette.close();
  else if (event.key === "Enter" && all.length) all[Math.max(now, 0)].click();
  else return;
  event.preventDefault();
});
palette?.addEventListener("htmx:afterSwap", () => choose(0));

// Help on the page: "?".
document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("dialog[open]")) return;
  if (!event.target.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]")) $(".help-link")?.click();
});

// Minutes left, counted on the page so that they stay true.
function minutes() {
  for (const place of $$("[data-until]")) {
    const left = Math.ceil((Date.parse(place.dataset.until) - Date.now()) / 60000);
    place.textContent = left > 0 ? place.dataset.minutes.replace("%n", left) : place.dataset.over;
  }
}
minutes();
setInterval(minutes, 15000);

// What sticks beneath the banners (heads of lists), and where focus scrolls to, must know what is covered above and below.
const banners = $(".banners");
function covered() {
  const below = [".foot", ".bar", ".bulk", ".rights-foot"].flatMap((each) => $$(each)).filter((part) => ["sticky", "fixed"].includes(getComputedStyle(part).position));
  const heights = below.filter((part) => part.offsetHeight).map((part) => part.offsetHeight + parseFloat(getComputedStyle(part).bottom));
  document.documentElement.style.setProperty("--banners", `${banners?.offsetHeight ?? 0}px`);
  document.documentElement.style.setProperty("--foot", `${Math.max(0, ...heights)}px`);
}
const covering = new ResizeObserver(covered);
const coverers = () => $$(".banners, .foot, .bar, .bulk, .rights-foot").forEach((part) => covering.observe(part));
coverers();
document.addEventListener("htmx:afterSettle", coverers);
// The observer tells only with the next picture; a key may be pressed before that, right after something came up.
document.addEventListener("focusin", (event) => {
  const before = getComputedStyle(document.documentElement).scrollPaddingBottom;
  covered();
  if (getComputedStyle(document.documentElement).scrollPaddingBottom !== before) event.target.scrollIntoView({ block: "nearest" });
});

// On a phone the tabs of a page may be wider than it: the chosen one is in sight.
$$(".tabs [aria-current]").forEach((tab) => tab.scrollIntoView({ block: "nearest", inline: "nearest" }));

// Copying, and closing of notes.
document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    await navigator.clipboard.writeText(copy.dataset.copy);
    document.dispatchEvent(new CustomEvent("portal:say", { detail: { text: $("#toasts").dataset.copied } }));
  }
  event.target.closest("[data-dismiss]")?.closest(".note")?.remove();
});

// A shown secret hides itself, and leaves nothing of itself in the page.
function hide(secret) {
  $(".secret-value", secret)?.remove();
  $(".secret-masked", secret)?.removeAttribute("hidden");
}
function watch(root) {
  for (const secret of $$("[data-secret]", root).concat(root.matches?.("[data-secret]") ? [root] : [])) {
    if (!$("[data-secret-value]", secret) || secret.dataset.watched) continue;
    secret.dataset.watched = "1";
    let left = Number(secret.dataset.secret);
    const show = $("[data-secret-left]", secret);
    const timer = setInterval(() => {
      left -= 1;
      if (left <= 0 || !secret.isConnected) {
        clearInterval(timer);
        hide(secret);
      } else if (show) show.textContent = `${left} s`;
    }, 1000);
  }
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-secret-hide]");
  if (button) hide(button.closest("[data-secret]"));
});
watch(document);
document.addEventListener("htmx:load", (event) => watch(event.detail.elt));
addEventListener("pagehide", () => $$("[data-secret]").forEach(hide));
