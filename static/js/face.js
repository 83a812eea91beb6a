// A face's picture before it leaves: looked at, taken with the camera, cut and made smaller. The server looks again.
const [WIDE, HIGH, MOST] = [1200, 1600, 2 * 1024 * 1024];

function open() {
  const form = document.querySelector("[data-face]:not([data-open])");
  const studio = document.querySelector("[data-studio]");
  if (!form || !studio) return;
  form.dataset.open = "1";
  const part = (name) => studio.querySelector(`[data-${name}]`);
  const [preview, video, words, acts] = ["preview", "video", "words", "acts"].map(part);
  const [take, mend, quit] = ["take", "mend", "quit"].map(part);
  const [file, taken] = [form.elements.image, form.elements.taken];
  const advice = words.innerHTML;
  let picture = null; // what stands in the frame, as a bitmap turned upright
  let stream = null;

  const say = (lines) => {
    words.replaceChildren(...lines.map(([text, bad]) => {
      const line = document.createElement("li");
      line.textContent = text;
      line.className = bad ? "bad" : "good";
      return line;
    }));
  };
  const show = (button, is) => {
    button.hidden = !is;
    acts.hidden = [take, mend, quit].every((each) => each.hidden);
  };

  // The largest part of `from` (w x h) in the shape of the frame, from its middle.
  const cut = (w, h) => {
    const wide = Math.min(w, (h * WIDE) / HIGH);
    const high = (wide * HIGH) / WIDE;
    return [(w - wide) / 2, (h - high) / 2, wide, high];
  };
  function draw(source, w, h) {
    const scale = Math.min(preview.width / w, preview.height / h);
    const paper = preview.getContext("2d", { willReadFrequently: true });
    paper.clearRect(0, 0, preview.width, preview.height);
    paper.drawImage(source, (preview.width - w * scale) / 2, (preview.height - h * scale) / 2, w * scale, h * scale);
  }
  // How bright the middle of the frame is, 0 to 255.
  function brightness() {
    const { data } = preview.getContext("2d").getImageData(75, 80, 150, 220);
    let sum = 0;
    for (let at = 0; at < data.length; at += 4) sum += 0.3 * data[at] + 0.6 * data[at + 1] + 0.1 * data[at + 2];
    return sum / (data.length / 4);
  }
  function judge(size, isJpeg) {
    const { width, height } = picture;
    const found = [];
    if (!isJpeg) found.push([form.dataset.kind, true]);
    if (size > MOST) found.push([form.dataset.large.replace("%s", (size / 1024 / 1024).toFixed(2)), true]);
    if (width > height) found.push([form.dataset.wide, true]);
    const mendable = found.length > 0;
    if (Math.min(width, height) < 300 || Math.max(width, height) < 400) {
      found.push([form.dataset.pixels.replace("%s", `${width} × ${height}`), true]);
    }
    if (brightness() < 60) found.push([form.dataset.dark, true]);
    if (!found.length) found.push([form.dataset.fine.replace("%s", `${width} × ${height}`), false]);
    say(found);
    show(mend, mendable);
  }
  async function look(chosen) {
    stop();
    show(mend, false);
    if (!chosen) {
      words.innerHTML = advice;
      return;
    }
    const head = new Uint8Array(await chosen.slice(0, 3).arrayBuffer());
    try {
      picture = await createImageBitmap(chosen, { imageOrientation: "from-image" });
    } catch {
      preview.getContext("2d").clearRect(0, 0, preview.width, preview.height);
      say([[form.dataset.unreadable, true]]);
      return;
    }
    draw(picture, picture.width, picture.height);
    judge(chosen.size, head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff);
  }

  // What the frame holds becomes the form's file: a JPEG of 1200 x 1600, or less where there is less.
  async function use(source, w, h) {
    const [x, y, wide, high] = cut(w, h);
    const sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = [Math.min(WIDE, Math.round(wide)), Math.min(HIGH, Math.round(high))];
    sheet.getContext("2d").drawImage(source, x, y, wide, high, 0, 0, sheet.width, sheet.height);
    let made = null;
    for (const quality of [0.92, 0.8, 0.6]) {
      made = await new Promise((done) => sheet.toBlob(done, "image/jpeg", quality));
      if (made.size <= MOST) break;
    }
    const given = new DataTransfer();
    given.items.add(new File([made], "face.jpg", { type: "image/jpeg" }));
    file.files = given.files;
    if (taken) taken.value = "";
    await look(file.files[0]);
  }

  function stop() {
    stream?.getTracks().forEach((track) => track.stop());
    stream = null;
    video.srcObject = null;
    video.hidden = true;
    show(take, false);
    show(quit, false);
  }
  async function start() {
    try {
      const wanted = { facingMode: "user", width: { ideal: 1920 }, height: { ideal: 1920 } };
      stream = await navigator.mediaDevices.getUserMedia({ video: wanted, audio: false });
    } catch {
      say([[form.dataset.refused, true]]);
      return;
    }
    video.srcObject = stream;
    video.hidden = false;
    await video.play();
    words.innerHTML = advice;
    show(mend, false);
    show(take, true);
    show(quit, true);
    take.focus();
  }

  form.querySelector("[data-camera]").addEventListener("click", start);
  file.addEventListener("change", () => look(file.files[0]));
  taken?.addEventListener("change", () => look(taken.files[0]));
  mend.addEventListener("click", () => use(picture, picture.width, picture.height));
  quit.addEventListener("click", stop);
  take.addEventListener("click", async () => {
    const [w, h] = [video.videoWidth, video.videoHeight];
    const still = await createImageBitmap(video);
    stop();
    await use(still, w, h);
  });
  addEventListener("pagehide", stop);
}
open();
document.addEventListener("htmx:load", open);
