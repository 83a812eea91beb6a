// Video of a camera: played from the service's address, which never leaves this page, and stopped when its time is over.
const player = document.querySelector("[data-player]");
if (player) play(player);
const line = document.querySelector(".camera-line");
if (line) choose(line);

async function play(player) {
  const { dataset } = player;
  const video = player.querySelector("video");
  const message = player.querySelector("[data-message]");
  const left = player.querySelector("[data-left]");
  const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
  const live = Boolean(dataset.live);
  let end = Date.now() + Number(dataset.seconds) * 1000;
  let timer = 0;
  let hls = null;

  function say(words) {
    message.textContent = words;
    message.classList.add("tile-wrong");
  }
  function over(words) {
    clearInterval(timer);
    hls?.destroy();
    hls = null;
    video.pause();
    video.removeAttribute("src");
    video.load();
    say(words);
  }
  function post(address) {
    return fetch(address, { method: "POST", headers: { "X-CSRFToken": token }, keepalive: true });
  }
  async function load(address) {
    if (video.canPlayType("application/vnd.apple.mpegurl")) {
      video.src = address;
      return;
    }
    const { default: Hls } = await import(dataset.hls);
    if (!Hls.isSupported()) {
      over(dataset.failed);
      return;
    }
    hls?.destroy();
    hls = new Hls({ enableWorker: false, lowLatencyMode: false });
    hls.on(Hls.Events.ERROR, (_event, { fatal }) => {
      if (fatal) over(dataset.failed);
    });
    hls.loadSource(address);
    hls.attachMedia(video);
  }
  async function goOn() {
    end = Infinity;
    try {
      const response = await post(dataset.goOn);
      if (response.status === 409) return over((await response.json()).why);
      if (!response.ok) return over(dataset.over);
      const answer = await response.json();
      const anew = answer.address !== dataset.address;
      Object.assign(dataset, { address: answer.address, goOn: answer.go_on, stop: answer.stop });
      end = Date.now() + answer.seconds * 1000;
      if (anew) await load(answer.address);
    } catch {
      over(dataset.over);
    }
  }
  function tick() {
    if (end === Infinity) return;
    const seconds = Math.max(0, Math.round((end - Date.now()) / 1000));
    left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (live && seconds < 10 && !document.hidden) goOn();
    else if (seconds === 0) over(dataset.over);
  }
  video.addEventListener("error", () => {
    if (video.getAttribute("src") && !hls) over(dataset.failed);
  });
  if (live) addEventListener("pagehide", () => post(dataset.stop));
  tick();
  timer = setInterval(tick, 1000);
  await load(dataset.address);
}

// A click between the records of a day chooses that second; the links of hours and records work without.
function choose(line) {
  line.addEventListener("click", (event) => {
    if (!event.target.matches(".ground, .hit")) return;
    const box = line.querySelector(".ground").getBoundingClientRect();
    const part = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    const second = Math.min(Math.floor(part * 86400), 86399);
    const two = (n) => String(n).padStart(2, "0");
    const time = `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`;
    document.getElementById("at").value = `${line.dataset.day}T${time}`;
    event.preventDefault();
  });
}
