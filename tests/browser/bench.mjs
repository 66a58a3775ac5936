// The calculator's times and sizes: node bench.mjs SITE prints, for a small and the slowest preset, the time from the dispatch of
// an input to the changed page (the picture of the step included), from a key to the paint at a sixth of the speed, and what is
// transferred until the first number.
import { close, launch, open } from "./harness.mjs";
import { serve } from "./server.mjs";
import { untilFirstNumber } from "./transfer.mjs";
import { resolve } from "node:path";

const root = resolve(process.argv[2]), served = await serve(root), browser = await launch();
const address = (preset) => `${served.origin}/en/calculator.html#preset=${preset}&gpu=A100+80GB+SXM`;
const ready = async (preset) => {
  const tab = await open(browser, address(preset));
  await tab.waitForFunction(() => window.vramPage?.stepShown?.());
  await tab.waitForTimeout(1500);
  return tab;
};

// Presets differ by their layers: the slowest here, not by a list.
async function slowest() {
  const tab = await ready("gpt2");
  const name = await tab.evaluate(() => {
    const page = window.vramPage, times = page.presets.map((p) => {
      page.core.estimate(`preset = ${p.value}`);
      const start = performance.now();
      for (let i = 0; i < 3; i++) page.core.estimate(`preset = ${p.value}`);
      return [performance.now() - start, p.value];
    });
    return times.sort((a, b) => b[0] - a[0])[0][1];
  });
  await close(tab);
  return name;
}

async function dispatch(preset) {
  const tab = await ready(preset);
  const times = await tab.evaluate(async () => {
    const input = document.querySelector("[name=batch_size]"), area = document.querySelector("[data-out=step]"), number = document.querySelector("[data-out=number]");
    const times = [], late = [];
    for (let i = 0; i < 40; i++) {
      const picture = area.firstChild, figure = number.textContent, start = performance.now();
      input.value = 1 + (Number(input.value) % 16); // another one than is there
      input.dispatchEvent(new Event("input", { bubbles: true }));
      while (number.textContent === figure) await new Promise((done) => setTimeout(done));
      times.push(performance.now() - start);
      while (area.firstChild === picture) await new Promise((done) => setTimeout(done));
      late.push(performance.now() - start);
      await new Promise((done) => setTimeout(done, 60));
    }
    const median = (list) => list.sort((a, b) => a - b)[20].toFixed(1);
    return { number: median(times), area: median(late) };
  });
  console.log(`${preset}: dispatch to number median ${times.number} ms, to the picture of the step ${times.area} ms`);
  await close(tab);
}

async function keys(preset) {
  const tab = await ready(preset);
  await (await tab.context().newCDPSession(tab)).send("Emulation.setCPUThrottlingRate", { rate: 6 });
  await tab.evaluate(() => {
    window.durations = [];
    new PerformanceObserver((list) => { for (const e of list.getEntries()) if (e.name === "keydown") window.durations.push(e.duration); }).observe({ type: "event", durationThreshold: 16 });
  });
  await tab.locator("[name=batch_size]").focus();
  for (let i = 0; i < 12; i++) {
    await tab.keyboard.press(i % 2 ? "Backspace" : "2");
    await tab.waitForTimeout(700);
  }
  const list = (await tab.evaluate(() => window.durations)).sort((a, b) => a - b);
  console.log(`${preset}: key to paint at a sixth of the speed: median ${list[list.length >> 1] ?? "under 16"} ms, worst ${list.at(-1) ?? "under 16"} ms`);
  await close(tab);
}

async function transfer() {
  const { files, brotli, gzip } = await untilFirstNumber(browser, { root, http: served.origin }, "en");
  const kB = (n) => (n / 1000).toFixed(1);
  console.log(`until the first number: ${files.length} requests, ${kB(brotli)} kB brotli, ${kB(gzip)} kB gzip`);
}

const slow = await slowest();
for (const preset of ["gpt2", slow]) {
  await dispatch(preset);
  await keys(preset);
}
await transfer();
await browser.close();
served.close();
process.exit(0);
