// Placing things on a floor plan: marks are dragged, or moved by the arrow keys. The inputs of the form stay the truth:
// every gesture writes into them, and what is typed there moves the mark.
const form = document.querySelector("[data-plan]");
const plan = form.querySelector("svg.plan");
const ground = plan.querySelector("image");
const [width, height] = [ground.width.baseVal.value, ground.height.baseVal.value];
const lines = new Map([...form.querySelectorAll("[data-line]")].map((line) => [line.dataset.line, line]));
const within = (number) => Math.min(Math.max(number, 0), 100);

const inputs = (mark) => {
  const [on, x, y] = lines.get(mark.dataset.place).querySelectorAll("input");
  return { on, x, y };
};
function draw(mark) {
  const { on, x, y } = inputs(mark);
  mark.toggleAttribute("hidden", !on.checked);
  mark.setAttribute("transform", `translate(${(within(Number(x.value) || 0) * width) / 100} ${(within(Number(y.value) || 0) * height) / 100})`);
}
function put(mark, left, top) {
  const { x, y } = inputs(mark);
  x.value = within(left).toFixed(1);
  y.value = within(top).toFixed(1);
  for (const input of [x, y]) input.dispatchEvent(new Event("input", { bubbles: true }));
}
function at(event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(plan.getScreenCTM().inverse());
  return [(point.x / width) * 100, (point.y / height) * 100];
}

const marks = [...plan.querySelectorAll("[data-place]")];
for (const mark of marks) {
  draw(mark);
  let held = null;
  mark.addEventListener("pointerdown", (event) => {
    const [left, top] = at(event);
    event.preventDefault(); // no text is marked on the way
    const { x, y } = inputs(mark);
    held = [Number(x.value) - left, Number(y.value) - top];
    mark.setPointerCapture(event.pointerId);
    mark.focus();
  });
  mark.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [left, top] = at(event);
    put(mark, left + held[0], top + held[1]);
  });
  for (const end of ["pointerup", "pointercancel"]) mark.addEventListener(end, () => { held = null; });
  mark.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 5 : 0.5;
    const move = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (!move) return;
    event.preventDefault();
    const { x, y } = inputs(mark);
    put(mark, (Number(x.value) || 0) + move[0], (Number(y.value) || 0) + move[1]);
  });
}
form.addEventListener("input", (event) => {
  const line = event.target.closest("[data-line]");
  const mark = line && marks.find((each) => each.dataset.place === line.dataset.line);
  if (mark) draw(mark);
});
