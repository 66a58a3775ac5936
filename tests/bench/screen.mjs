// How long from saving a page until a browser has painted it: node screen.mjs VRAMDOC SITE.YAML CONTENT FILE PAGE [SAVES].
// Runs `vramdoc serve` on a copy's output, saves FILE (below CONTENT) again and again with another last line, and takes the
// time in the page, in the first frame after the new document is there. Prints "MEDIAN WORST" in milliseconds.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [vramdoc, settings, content, file, pagePath, saves = "15"] = process.argv.slice(2);
const require = createRequire(join(process.env.BROWSER_MODULES, "package.json"));
const { chromium } = require("playwright-core");
const work = mkdtempSync(join(tmpdir(), "vramdoc-screen-"));
const server = spawn(vramdoc, ["serve", "-c", settings, "-s", content, "-o", join(work, "out"), "--cache", join(work, "cache"), "--port", "0"]);
const source = join(content, file);
const before = readFileSync(source);
let browser;

function address() {
  return new Promise((resolve, reject) => {
    let said = "";
    server.stderr.on("data", (bytes) => {
      said += bytes;
      const found = /(http:\/\/127\.0\.0\.1:\d+)\//.exec(said);
      if (found) resolve(found[1]);
    });
    server.on("exit", () => reject(new Error(`vramdoc serve ended: ${said}`)));
  });
}

try {
  const origin = await address();
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage();
  let painted = () => {};
  await page.exposeFunction("tellPainted", (mark, at) => painted(mark, at));
  await page.addInitScript(() => {
    const look = () => requestAnimationFrame(() => {
      const marks = document.body.textContent.match(/saved-\d+-mark/g);
      window.tellPainted(marks ? marks[marks.length - 1] : "", performance.timeOrigin + performance.now());
    });
    addEventListener("DOMContentLoaded", () => {
      look();
      new MutationObserver(look).observe(document.body, { childList: true });
    });
  });
  await page.goto(`${origin}/${pagePath}`, { waitUntil: "load" });
  const times = [];
  for (let n = 0; n < Number(saves); n++) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    const mark = `saved-${n}-mark`;
    const seen = new Promise((resolve) => { painted = (got, at) => { if (got === mark) resolve(at); }; });
    const start = performance.timeOrigin + performance.now();
    writeFileSync(source, `${before}\nThe page was ${mark}.\n`);
    const at = await Promise.race([seen, new Promise((_, reject) => setTimeout(() => reject(new Error("never painted")), 10000))]);
    times.push(at - start);
  }
  times.sort((a, b) => a - b);
  console.log(`${times[times.length >> 1].toFixed(1)} ${times[times.length - 1].toFixed(1)}`);
} finally {
  writeFileSync(source, before);
  await browser?.close();
  server.kill();
  rmSync(work, { recursive: true, force: true });
}
