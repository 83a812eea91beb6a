// Fetches the parts of this page that change by themselves every two seconds and puts in what is new. Nothing that
// one types lies in such a part, and a button that has the focus keeps it.
"use strict";
(() => {
  const EVERY = 2000;
  const line = document.getElementById("live");
  const parts = () => document.querySelectorAll("[data-live]");
  if (!parts().length) return;
  let paused = false;

  const say = (state) => {
    if (!line) return;
    line.hidden = false;
    line.className = `live ${state}`;
    const word = { on: line.dataset.liveWord, paused: line.dataset.paused, lost: line.dataset.lost }[state];
    const shown = line.querySelector(".state");
    if (shown.textContent !== word) shown.textContent = word;
  };

  const same = (one, other) => one.nodeName === other.nodeName && (one.id || "") === (other.id || "");

  const attributes = (old, fresh) => {
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  };

  const become = (old, fresh) => {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
      return;
    }
    attributes(old, fresh);
    const byId = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
    let place = old.firstChild;
    for (const child of [...fresh.childNodes]) {
      let kept = child.id ? byId.get(child.id) : place && !place.id && same(place, child) ? place : null;
      if (kept && same(kept, child)) {
        if (kept !== place) old.insertBefore(kept, place);
        become(kept, child);
      } else {
        kept = old.insertBefore(document.importNode(child, true), place);
        if (kept.nodeType === Node.ELEMENT_NODE && kept.id) kept.classList.add("arrived");
      }
      place = kept.nextSibling;
    }
    while (place) {
      const next = place.nextSibling;
      place.remove();
      place = next;
    }
  };

  const refresh = async () => {
    if (paused || document.hidden) return;
    try {
      const answer = await fetch(location.pathname + location.search, {
        headers: { "Sandbox-Live": "1" },
        signal: AbortSignal.timeout(10000),
      });
      if (!answer.ok) throw new Error(answer.statusText);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (paused) return;
      for (const part of parts()) {
        const now = fresh.getElementById(part.id);
        if (now) become(part, now);
      }
      say("on");
    } catch {
      say("lost");
    }
  };

  const again = async () => {
    await refresh();
    setTimeout(again, EVERY);
  };

  const pause = line && line.querySelector("button");
  if (pause) {
    pause.addEventListener("click", () => {
      paused = !paused;
      pause.textContent = paused ? pause.dataset.goOn : pause.dataset.pause;
      say(paused ? "paused" : "on");
    });
  }
  say("on");
  setTimeout(again, EVERY);
})();
