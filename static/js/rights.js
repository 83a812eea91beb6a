// Rights drawn as a week: bars to drag and to move by keys, over the same table of inputs that works without this.
// The inputs stay the form's truth: every gesture writes into them, every drawing reads from them.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const SVG = "http://www.w3.org/2000/svg";
const DAY = 86400;
const SNAP = 900;
const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Holiday"];

// Times as people type them most: 8, 800, 08:00, full-width digits; 24:00 closes a day. The server reads more forms.
function readTime(text, closing) {
  const found = /^(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?$/.exec(text.normalize("NFKC").replace(/\s/g, ""));
  if (!found) return null;
  const [hour, minute, second] = found.slice(1).map((part) => Number(part ?? 0));
  const at = hour * 3600 + minute * 60 + second;
  if (closing && (at === DAY || at === DAY - 1)) return DAY;
  return hour < 24 && minute < 60 && second < 60 ? at : null;
}
function writeTime(at) {
  const part = (number) => String(number).padStart(2, "0");
  const text = `${part(Math.floor(at / 3600))}:${part(Math.floor(at / 60) % 60)}`;
  return at % 60 ? `${text}:${part(at % 60)}` : text;
}
const snap = (at) => Math.round(at / SNAP) * SNAP;
const within = (at, low, high) => Math.min(Math.max(at, low), high);

class Card {
  constructor(root) {
    this.root = root;
    this.week = $("[data-week]", root);
    this.form = root.closest("form");
    this.scope = root.closest("[data-pass-field]") ?? root.closest("form")?.parentElement ?? document;
    this.past = [];
    this.picked = null;
    this.week.classList.add("is-live");
    for (const row of $$(".wk-row", this.week)) this.prepareLane(row);
    root.addEventListener("input", (event) => event.target.closest("[data-slot]") && this.draw());
    root.addEventListener("focusin", (event) => {
      const slot = event.target.closest("[data-slot]");
      if (slot) this.pick(slot);
    });
    root.addEventListener("change", (event) => {
      const closing = event.target.dataset.part === "end";
      if (event.target.matches(".slot-time")) {
        const at = readTime(event.target.value, closing);
        if (at !== null) event.target.value = writeTime(at);
        this.draw();
      }
    });
    root.addEventListener("click", (event) => this.click(event));
    this.draw();
  }
  get stem() {
    return this.root.dataset.stem;
  }
  get announcer() {
    return $("[data-announce]", this.scope);
  }
  names(days) {
    return days.map((day) => $(`[data-day="${day}"]`, this.week).dataset.name).join(this.announcer.dataset.dayList);
  }

  // Lines: what the inputs say
  slots() {
    return $$('[data-slot="weekly"]', this.root);
  }
  read(slot) {
    const part = (name) => $(`[data-part="${name}"]`, slot).value;
    const days = $$('[data-part="day"]:checked', slot).map((box) => box.value);
    return { days, start: readTime(part("start"), false), end: readTime(part("end"), true) };
  }
  write(slot, { days, start, end }) {
    for (const box of $$('[data-part="day"]', slot)) box.checked = days.includes(box.value);
    $('[data-part="start"]', slot).value = writeTime(start);
    $('[data-part="end"]', slot).value = writeTime(end);
  }
  add(kind, values) {
    const number = Math.max(0, ...$$("[data-slot]", this.root).map((slot) => Number(slot.dataset.n) || 0)) + 1;
    const slot = $(`[data-sample="${kind}"]`, this.scope).content.firstElementChild.cloneNode(true);
    rename(slot, this.stem, this.root.dataset.schedule, number);
    slot.dataset.n = number;
    const table = $(`[data-slots="${kind}"]`, this.root);
    table.hidden = false;
    $("tbody", table).append(slot);
    if (values && kind === "weekly") this.write(slot, values);
    return slot;
  }
  remove(slot) {
    const table = slot.closest("[data-slots]");
    slot.remove();
    if (table.dataset.slots === "range" && !$("[data-slot]", table)) table.hidden = true;
    if (this.picked === slot) this.picked = null;
  }
  // Before each gesture, so that it can be taken back.
  remember() {
    this.past.push(this.slots().map((slot) => this.read(slot)));
    $("[data-undo]", this.root).hidden = false;
  }
  undo() {
    const lines = this.past.pop();
    if (lines) {
      this.slots().forEach((slot) => this.remove(slot));
      for (const line of lines) {
        const slot = this.add("weekly");
        this.write(slot, { ...line, start: line.start ?? 0, end: line.end ?? 0 });
        if (line.start === null) $('[data-part="start"]', slot).value = "";
        if (line.end === null) $('[data-part="end"]', slot).value = "";
      }
    }
    $("[data-undo]", this.root).hidden = !this.past.length;
    this.changed();
  }
  changed() {
    this.draw();
    this.root.dispatchEvent(new Event("input", { bubbles: true }));
  }
  pick(slot) {
    this.picked = slot;
    for (const other of $$("[data-slot]", this.root)) other.classList.toggle("picked", other === slot);
    for (const bar of $$(".wk-bar", this.week)) bar.classList.toggle("picked", bar.row === slot);
  }
  say(slot, word = "moved") {
    const { days, start, end } = this.read(slot);
    const text = this.announcer.dataset[word];
    this.announcer.textContent = text
      .replace("%days", this.names(days))
      .replace("%start", writeTime(start ?? 0))
      .replace("%end", writeTime(end ?? 0));
  }

  // The drawing
  prepareLane(row) {
    const label = $(".wk-day", row);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "wk-day";
    button.textContent = label.textContent;
    button.title = row.dataset.name;
    button.setAttribute("aria-label", `+ ${row.dataset.name}`);
    button.addEventListener("click", () => this.addOn(row.dataset.day));
    label.replaceWith(button);
    const lane = $(".wk-lane", row);
    lane.setAttribute("role", "group");
    lane.addEventListener("pointerdown", (event) => this.grab(event, lane, row));
    lane.addEventListener("pointermove", (event) => this.hover(event, lane));
    lane.addEventListener("keydown", (event) => this.key(event));
  }
  draw() {
    const focused = document.activeElement?.row && this.week.contains(document.activeElement) ? document.activeElement : null;
    const again = focused && { slot: focused.row, day: focused.closest("[data-day]").dataset.day };
    for (const lane of $$(".wk-lane", this.week)) lane.replaceChildren();
    let first = true;
    for (const slot of this.slots()) {
      const line = this.read(slot);
      if (line.start === null || line.end === null || line.end === line.start) continue;
      if (line.end < line.start) {
        this.night(line);
        continue;
      }
      for (const day of line.days) {
        this.bar(slot, line, day, first);
        first = false;
      }
    }
    const back = again && $$(".wk-bar", this.week).find((bar) => bar.row === again.slot && bar.closest("[data-day]").dataset.day === again.day);
    if (back) this.focus(back);
  }
  bar(slot, { days, start, end }, day, first) {
    const lane = $(`[data-day="${day}"] .wk-lane`, this.week);
    const bar = document.createElementNS(SVG, "rect");
    const words = `${writeTime(start)}–${writeTime(end)}`;
    set(bar, {
      class: `wk-bar${slot === this.picked ? " picked" : ""}`, x: share(start), width: share(Math.max(end - start, 180)), y: 0, height: "100%", rx: 3,
      tabindex: first ? 0 : -1, role: "slider", "aria-orientation": "horizontal", "aria-valuemin": 0, "aria-valuemax": 1440,
      "aria-valuenow": Math.round(start / 60), "aria-valuetext": `${this.names(days)} ${words}`, "aria-label": lane.parentElement.dataset.name,
    });
    bar.row = slot;
    bar.addEventListener("focus", () => this.focus(bar));
    lane.append(bar);
    if (((end - start) / DAY) * lane.clientWidth > 84) text(lane, "wk-in", share(start), 7, words);
  }
  // From 22:00 to 06:00 is the evening of these days and the morning after each. The inputs alone change such a line.
  night({ days, start, end }) {
    for (const day of days) {
      const next = day === "Holiday" ? day : DAYS[(DAYS.indexOf(day) + 1) % 7];
      for (const [on, from, to] of [[day, start, DAY], [next, 0, end]]) {
        const rect = document.createElementNS(SVG, "rect");
        set(rect, { class: "wk-night", x: share(from), width: share(to - from), y: 0, height: "100%", rx: 3 });
        $(`[data-day="${on}"] .wk-lane`, this.week).append(rect);
      }
    }
  }
  focus(bar) {
    for (const other of $$(".wk-bar", this.week)) other.setAttribute("tabindex", other === bar ? 0 : -1);
    if (document.activeElement !== bar) bar.focus({ preventScroll: true });
    this.pick(bar.row);
  }

  // The pointer
  at(event, lane) {
    const box = lane.getBoundingClientRect();
    return within(((event.clientX - box.left) / box.width) * DAY, 0, DAY);
  }
  edge(event, bar) {
    const box = bar.getBoundingClientRect();
    const reach = Math.min(event.pointerType === "touch" ? 18 : 8, box.width / 3);
    if (event.clientX - box.left < reach) return "start";
    return box.right - event.clientX < reach ? "end" : "";
  }
  hover(event, lane) {
    if (event.buttons || !event.target.row) return;
    event.target.classList.toggle("at-edge", Boolean(this.edge(event, event.target)));
    lane.style.cursor = "";
  }
  grab(event, lane, row) {
    if (event.button) return;
    const from = this.at(event, lane);
    if (event.target.row) this.dragBar(event, lane, row, from);
    else this.dragNew(event, lane, row, from);
  }
  follow(event, lane, move, done) {
    event.preventDefault();
    lane.setPointerCapture(event.pointerId);
    this.week.classList.add("dragging");
    const stop = (end) => {
      lane.removeEventListener("pointermove", move);
      lane.removeEventListener("pointerup", stop);
      lane.removeEventListener("pointercancel", stop);
      this.week.classList.remove("dragging");
      done(end.type === "pointercancel");
    };
    lane.addEventListener("pointermove", move);
    lane.addEventListener("pointerup", stop);
    lane.addEventListener("pointercancel", stop);
  }
  dragBar(event, lane, row, from) {
    let slot = event.target.row;
    const side = this.edge(event, event.target);
    const day = row.dataset.day;
    const before = this.read(slot);
    const alone = (event.shiftKey || $("[data-alone]", this.root)?.checked) && before.days.length > 1;
    let moved = false;
    this.pick(slot);
    const move = (now) => {
      const by = snap(this.at(now, lane) - from);
      if (!moved && !by) return;
      if (!moved) {
        this.remember();
        if (alone) slot = this.split(slot, day);
      }
      moved = true;
      this.write(slot, { ...this.read(slot), ...shifted(before, side, by) });
      this.draw();
      this.tip(lane, slot);
    };
    const bar = event.target;
    this.follow(event, lane, move, (cancelled) => {
      if (cancelled && moved) return this.undo();
      if (moved) {
        this.changed();
        this.say(slot);
      }
      const there = moved ? $$(".wk-bar", lane).find((each) => each.row === slot) : bar;
      if (there?.isConnected) this.focus(there);
    });
  }
  dragNew(event, lane, row, from) {
    const rows = $$(".wk-row", this.week);
    const begin = rows.indexOf(row);
    let wanted = null;
    const move = (now) => {
      const to = this.at(now, lane);
      const [start, end] = [snap(Math.min(from, to)), snap(Math.max(from, to))];
      const over = now.pointerType === "touch" ? begin : this.rowAt(rows, now.clientY, begin);
      const days = rows.slice(Math.min(begin, over), Math.max(begin, over) + 1).map((each) => each.dataset.day);
      wanted = end - start >= SNAP ? { days, start, end } : null;
      this.ghost(wanted, lane);
    };
    this.follow(event, lane, move, (cancelled) => {
      this.ghost(null);
      if (cancelled || !wanted) return;
      this.remember();
      this.place(wanted);
    });
  }
  rowAt(rows, y, otherwise) {
    const found = rows.findIndex((row) => y < row.getBoundingClientRect().bottom);
    if (y < rows[0].getBoundingClientRect().top) return 0;
    return found < 0 ? rows.length - 1 : found ?? otherwise;
  }
  ghost(wanted, lane) {
    $$(".wk-ghost, .wk-tip", this.week).forEach((each) => each.remove());
    for (const day of wanted?.days ?? []) {
      const rect = document.createElementNS(SVG, "rect");
      set(rect, { class: "wk-ghost", x: share(wanted.start), width: share(wanted.end - wanted.start), y: 0, height: "100%", rx: 3 });
      $(`[data-day="${day}"] .wk-lane`, this.week).append(rect);
    }
    if (wanted) text(lane, "wk-tip", share(wanted.start), 0, `${writeTime(wanted.start)}–${writeTime(wanted.end)}`, -5);
  }
  tip(lane, slot) {
    const { start, end } = this.read(slot);
    $$(".wk-tip", this.week).forEach((each) => each.remove());
    text(lane, "wk-tip", share(start), 0, `${writeTime(start)}–${writeTime(end)}`, -5);
  }
  // New times; a line that nobody has filled in yet takes them first.
  place(wanted) {
    const blank = this.slots().find((each) => !this.read(each).days.length && !$('[data-part="start"]', each).value);
    const slot = blank ?? this.add("weekly");
    this.write(slot, wanted);
    this.picked = slot;
    this.changed();
    this.say(slot);
    const bar = $$(".wk-bar", this.week).find((each) => each.row === slot);
    if (bar) this.focus(bar);
    return slot;
  }
  addOn(day) {
    this.remember();
    this.place({ days: [day], start: 9 * 3600, end: 17 * 3600 });
  }
  split(slot, day) {
    const line = this.read(slot);
    this.write(slot, { ...line, days: line.days.filter((each) => each !== day) });
    return this.add("weekly", { ...line, days: [day] });
  }

  // The keys: arrows move, with Shift the end and with Ctrl the start; Delete removes; Enter goes to the times.
  key(event) {
    const bar = event.target;
    if (!bar.row || event.altKey || event.metaKey) return;
    const day = bar.closest("[data-day]").dataset.day;
    const steps = { ArrowLeft: -SNAP, ArrowRight: SNAP, PageDown: -3600, PageUp: 3600 };
    if (event.key in steps) {
      const alone = $("[data-alone]", this.root)?.checked && this.read(bar.row).days.length > 1;
      this.remember();
      const slot = alone ? this.split(bar.row, day) : bar.row;
      const side = event.shiftKey ? "end" : event.ctrlKey ? "start" : "";
      this.write(slot, { ...this.read(slot), ...shifted(this.read(slot), side, steps[event.key]) });
      this.picked = slot;
      this.changed();
      this.say(slot);
      const there = $$(`[data-day="${day}"] .wk-bar`, this.week).find((each) => each.row === slot);
      if (there) this.focus(there);
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") this.walk(bar, event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Delete" || event.key === "Backspace") this.erase(bar, day, event.shiftKey);
    else if (event.key === "Enter") $('[data-part="start"]', bar.row).focus();
    else if (event.key === "z" && event.ctrlKey) this.undo();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  walk(bar, step) {
    const bars = $$(".wk-bar", this.week);
    this.focus(bars[(bars.indexOf(bar) + step + bars.length) % bars.length]);
  }
  erase(bar, day, shift) {
    const slot = bar.row;
    const line = this.read(slot);
    const alone = (shift || $("[data-alone]", this.root)?.checked) && line.days.length > 1;
    this.remember();
    this.say(slot, "removed");
    const bars = $$(".wk-bar", this.week);
    const place = bars.indexOf(bar);
    if (alone) this.write(slot, { ...line, days: line.days.filter((each) => each !== day) });
    else this.remove(slot);
    this.changed();
    const next = $$(".wk-bar", this.week)[Math.max(0, place - 1)] ?? $("button.wk-day", this.week);
    if (next.row) this.focus(next);
    else next.focus();
  }

  // Buttons: the server could do each of them; here they need no new page.
  click(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const slot = button.closest("[data-slot]");
    if (button.matches("[data-drop]")) {
      if (slot.dataset.slot === "weekly") this.remember();
      this.remove(slot);
      this.changed();
      $("[data-add]", this.root).focus();
    } else if (button.matches("[data-all-day]")) {
      if (slot.dataset.slot === "weekly") this.remember();
      $('[data-part="start"]', slot).value = "00:00";
      $('[data-part="end"]', slot).value = "24:00";
      this.changed();
    } else if (button.matches("[data-add]")) {
      const added = this.add(button.dataset.add);
      this.changed();
      $("input:not([type=hidden])", added).focus();
    } else if (button.matches("[data-undo]")) this.undo();
    else return;
    event.preventDefault();
  }
  lines() {
    return this.slots().map((slot) => this.read(slot));
  }
}

function shifted({ start, end }, side, by) {
  if (side === "start") return { start: within(start + by, 0, end - SNAP), end };
  if (side === "end") return { start, end: within(end + by, start + SNAP, DAY) };
  const moved = within(start + by, 0, DAY - (end - start));
  return { start: moved, end: moved + (end - start) };
}
function share(at) {
  return `${((at / DAY) * 100).toFixed(3)}%`;
}
function set(node, values) {
  for (const [name, value] of Object.entries(values)) node.setAttribute(name, value);
}
function text(lane, className, x, dx, words, y) {
  const node = document.createElementNS(SVG, "text");
  set(node, { class: className, x, dx, ...(y === undefined ? { y: "50%", dy: "0.35em" } : { y }), "aria-hidden": "true" });
  node.textContent = words;
  lane.append(node);
}
// A sample's names become those of its schedule and line.
function rename(root, stem, choice, number) {
  const put = (value) => value.replace("__s__.__n__", `${stem}.${number}`).replace("__s__", value.includes(".") ? stem : choice);
  for (const node of [root, ...$$("[name], [value], [id], [data-stem], [data-schedule]", root)]) {
    for (const name of ["name", "value", "id", "data-stem", "data-schedule"]) {
      if (node.hasAttribute(name) && node.getAttribute(name).includes("__s__")) node.setAttribute(name, put(node.getAttribute(name)));
    }
  }
  if (number) $$("[data-drop]", root).forEach((button) => (button.value = `drop ${choice} ${number}`));
}

const cards = new WeakMap();
function prepare(root) {
  for (const card of $$("[data-schedule]", root)) if (!cards.has(card) && $("[data-slots]", card)) cards.set(card, new Card(card));
  for (const form of $$("form[data-rights]", root)) if (!form.dataset.ready) editor(form);
  for (const field of $$("[data-pass-field]", root)) if (!field.dataset.ready) lone(field);
}

// The sentences follow: the server says them, so that they are the same words everywhere.
function follower(ask, show) {
  let timer = 0;
  let latest = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const number = (latest += 1);
      try {
        const answer = await fetch(ask.address, { method: "POST", body: ask.body(), headers: { Accept: "application/json" } });
        if (answer.ok && number === latest) show(await answer.json());
      } catch {
        // Away for a moment: the sentence follows with the next change, and saving says what stands in the way.
      }
    }, 120);
  };
}
function showWords(root, schedules) {
  for (const [choice, { text: words, problems }] of Object.entries(schedules)) {
    const card = $(`[data-schedule="${choice}"]`, root);
    if (!card) continue;
    $("[data-says]", card).textContent = words;
    for (const slot of $$("[data-slot]", card)) {
      const found = problems[slot.dataset.n] ?? [];
      slot.classList.toggle("has-error", found.length > 0);
      $("[data-problems]", slot).replaceChildren(...found.map((problem) => element("p", "is-bad", problem)));
    }
  }
}
function element(name, className, words) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.textContent = words ?? "";
  return node;
}

function lone(field) {
  field.dataset.ready = "1";
  const form = field.closest("form");
  const tenant = /^\/t\/[^/]+/.exec(location.pathname)?.[0] ?? "";
  const body = () => {
    const data = new FormData();
    data.set("prefix", field.dataset.prefix);
    for (const [name, value] of new FormData(form)) if (name.startsWith(field.dataset.prefix) || name === "csrfmiddlewaretoken") data.append(name, value);
    return data;
  };
  const follow = follower({ address: `${tenant}/rights/words/`, body }, (answer) => showWords(field, answer.schedules));
  field.addEventListener("input", follow);
}

function editor(form) {
  form.dataset.ready = "1";
  const ask = { address: form.dataset.follow, body: () => new FormData(form) };
  const follow = follower(ask, (answer) => {
    showWords(form, answer.schedules);
    options(form, answer.schedules);
    if (answer.changes) changes(form, answer.changes); // not while times cannot be read
    if (answer.summary) summary(answer.summary);
  });
  form.addEventListener("input", (event) => {
    if (!event.target.matches("[data-find], [data-only-given], [data-set-all], [data-alone]")) follow();
  });
  form.addEventListener("change", (event) => {
    const chooser = event.target;
    if (chooser.matches("[data-choose]")) chosen(form, chooser);
    else if (chooser.matches("[data-set-all]")) setAll(form, chooser);
    else if (chooser.matches("[data-only-given]")) sift(chooser.closest("[data-listed]"));
  });
  form.addEventListener("input", (event) => {
    if (event.target.matches("[data-find]")) sift(event.target.closest("[data-listed]"));
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("[data-find]")) event.preventDefault();
  });
  form.addEventListener("click", (event) => {
    const fresh = event.target.closest("[data-new-schedule]");
    const copy = event.target.closest("[data-copy-schedule]");
    if (!fresh && !copy) return;
    event.preventDefault();
    const lines = copy ? cards.get(copy.closest("[data-schedule]")).lines() : [];
    const dated = copy && $('[data-slots="range"] [data-slot], .kept', copy.closest("[data-schedule]"));
    if (dated) return form.requestSubmit(copy); // what only the server can copy
    addSchedule(form, lines);
  });
  form.addEventListener("pointerover", (event) => {
    const row = event.target.closest("[data-place]");
    for (const card of $$("[data-schedule]", form)) card.classList.toggle("pointed", row?.dataset.choice === card.dataset.schedule);
  });
  if (form.hasAttribute("data-unsaved")) form.dispatchEvent(new Event("input"));
  used(form);
}
function addSchedule(form, lines) {
  const taken = $$("[data-schedule]", form).map((card) => Number(card.dataset.schedule.slice(1)));
  const choice = `s${Math.max(0, ...taken) + 1}`;
  const card = $('[data-sample="schedule"]', form.parentElement).content.firstElementChild.cloneNode(true);
  rename(card, choice, choice, 0);
  for (const place of $$(".sched-no", card)) place.textContent = choice.slice(1);
  $("h3", card).textContent = $("h3", card).textContent.replace("__s__".slice(1), choice.slice(1));
  card.setAttribute("aria-label", $("h3", card).textContent);
  $("[data-schedules]", form).append(card);
  $("[data-no-schedules]", form).hidden = true;
  for (const select of $$("[data-choose], [data-set-all]", form)) {
    const option = new Option(choice.slice(1), choice);
    const last = select.querySelector('option[value="new"]');
    if (last) last.before(option);
    else select.append(option);
  }
  prepare(form);
  const made = cards.get(card);
  for (const line of lines) if (line.start !== null && line.end !== null) made.add("weekly", line);
  made.changed();
  card.scrollIntoView({ block: "nearest" });
  ($(".wk-bar", card) ?? $("button.wk-day", card)).focus({ preventScroll: true });
  return choice;
}
function chosen(form, select) {
  if (select.value === "new") {
    select.value = "never";
    const choice = addSchedule(form, []);
    select.value = choice;
    form.dispatchEvent(new Event("input"));
  }
  select.closest("[data-place]").dataset.choice = select.value;
  used(form);
}
function setAll(form, chooser) {
  if (!chooser.value) return;
  for (const row of $$("[data-place]", chooser.closest("[data-listed]"))) {
    if (row.hidden) continue;
    $("[data-choose]", row).value = chooser.value;
    row.dataset.choice = chooser.value;
  }
  chooser.value = "";
  used(form);
  form.dispatchEvent(new Event("input", { bubbles: true }));
}
function sift(listed) {
  const plain = (words) => words.normalize("NFKC").toLowerCase();
  const wanted = plain($("[data-find]", listed).value.trim());
  const given = $("[data-only-given]", listed).checked;
  for (const row of $$("[data-place]", listed)) {
    row.hidden = (given && row.dataset.choice === "never") || !plain(row.dataset.place).includes(wanted);
  }
}
function used(form) {
  for (const card of $$("[data-schedule]", form)) {
    const places = $$(`[data-place][data-choice="${card.dataset.schedule}"]`, form).map((row) => row.dataset.place);
    const line = $("[data-used]", card);
    line.textContent = places.length ? places.join(", ") : line.dataset.none;
    line.title = places.join(", ");
  }
}
function options(form, schedules) {
  for (const [choice, { text: words }] of Object.entries(schedules)) {
    const short = words.length > 60 ? `${words.slice(0, 59)}…` : words;
    for (const option of $$(`option[value="${choice}"]`, form)) option.textContent = `${choice.slice(1)} · ${short}`;
  }
}
function changes(form, rows) {
  const list = $("[data-changes]", form);
  $("[data-count-changes]", form).textContent = rows.length || "";
  if (!rows.length) return list.replaceChildren(element("li", "muted", list.dataset.none));
  list.replaceChildren(...rows.map(([place, before, after]) => {
    const line = document.createElement("li");
    line.append(element("b", "", place), " ", element("del", "", before), ` ${list.dataset.arrow} `, element("ins", "", after));
    return line;
  }));
}
function summary(lines) {
  $("[data-summary]")?.replaceChildren(...lines.map((line) => element("li", "", line)));
}

prepare(document);
document.addEventListener("htmx:load", (event) => prepare(event.detail.elt));
