/* The chipTAN graphic: five bars, of which the first is the clock. The frames were worked out by the server. */
"use strict";

(() => {
  const figure = document.getElementById("flicker");
  if (!figure) return;
  const box = document.getElementById("flicker-box");
  const bars = [...box.querySelectorAll(".bars span")];
  const size = document.getElementById("flicker-size");
  const speed = document.getElementById("flicker-speed");
  const toggle = document.getElementById("flicker-toggle");
  const frames = figure.dataset.frames.split(" ");
  const memory = window.localStorage;
  let at = 0;
  let timer = 0;

  const read = (name) => {
    try {
      return memory.getItem("kontor-flicker-" + name);
    } catch {
      return null;
    }
  };
  const keep = (name, value) => {
    try {
      memory.setItem("kontor-flicker-" + name, value);
    } catch {
      // A browser that keeps nothing asks for the size again next time.
    }
  };

  const draw = () => {
    bars.forEach((bar, index) => bar.classList.toggle("on", frames[at][index] === "1"));
    at = (at + 1) % frames.length;
  };
  const run = () => {
    draw();
    timer = window.setTimeout(run, 1000 / Number(speed.value));
  };
  const setRunning = (isRunning) => {
    window.clearTimeout(timer);
    timer = 0;
    if (isRunning) run();
    toggle.textContent = isRunning ? figure.dataset.pause : figure.dataset.resume;
    figure.dataset.running = String(isRunning);
  };
  const resize = () => { box.style.width = size.value + "px"; };

  size.value = read("size") || size.value;
  speed.value = read("speed") || speed.value;
  size.addEventListener("input", () => {
    resize();
    keep("size", size.value);
  });
  speed.addEventListener("input", () => keep("speed", speed.value));
  toggle.addEventListener("click", () => setRunning(timer === 0));

  const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  box.hidden = false;
  document.getElementById("flicker-controls").hidden = false;
  document.getElementById("flicker-reduced").hidden = !isCalm;
  resize();
  draw();
  setRunning(!isCalm);
})();
