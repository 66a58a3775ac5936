// From a keypress in the calculator to the new picture, for GPT-2 124M: node bench.mjs SITE prints the median and the worst.
import { close, launch, open } from "./harness.mjs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const browser = await launch();
const tab = await open(browser, `${pathToFileURL(resolve(process.argv[2])).href}/en/calculator.html#preset=gpt2&gpu=RTX+4070`);
await tab.locator("#calc.ready").waitFor();
const times = await tab.evaluate(async () => {
  const input = document.querySelector("[name=batch_size]"), bar = document.querySelector("[data-out=bar]");
  const times = [];
  for (let i = 0; i < 100; i++) {
    const before = bar.firstChild, start = performance.now();
    input.value = 1 + (i % 16);
    input.dispatchEvent(new Event("input", { bubbles: true }));
    while (bar.firstChild === before) await new Promise((done) => setTimeout(done));
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
});
console.log(`keypress to picture: median ${times[50].toFixed(1)} ms, worst of 100 ${times[99].toFixed(1)} ms`);
await close(tab);
await browser.close();
