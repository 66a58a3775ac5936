// What the calculator's page transfers until its first number.
import { check, close, open, that } from "./harness.mjs";
import { isBuilt } from "./calculator.mjs";
import { readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";

// The page itself and every file that had been loaded when the number was there, with the bytes of all, compressed.
export async function untilFirstNumber(browser, { root, http }, lang) {
  const tab = await open(browser, `${http}/${lang}/calculator.html`, { before: () => addEventListener("DOMContentLoaded", () => {
    const calc = document.getElementById("calc");
    new MutationObserver(() => { if (calc.matches(".ready") && !window.until) window.until = performance.getEntriesByType("resource").map((e) => e.name); }).observe(calc, { attributes: true });
  }) });
  try {
    await tab.waitForFunction(() => window.until);
    const files = [...new Set([tab.url().split("#")[0], ...await tab.evaluate(() => window.until)])];
    const bytes = files.map((url) => readFileSync(root + new URL(url).pathname));
    const sum = (pack) => bytes.reduce((n, b) => n + pack(b).length, 0);
    return { files, brotli: sum(brotliCompressSync), gzip: sum((b) => gzipSync(b, { level: 9 })) };
  } finally { await close(tab); }
}

// In kB. The goal is 110 with brotli and 125 with gzip; what is reached may not be lost unseen.
const MOST = { brotli: 109, gzip: 125 };

export async function run(browser, site) {
  if (!await isBuilt(browser, site)) return;
  const pages = site.pages.filter((page) => page.path.endsWith("/calculator.html"));
  for (const { lang } of pages)
    check(`transfer: the first number ${lang}`, async () => {
      const until = await untilFirstNumber(browser, site, lang);
      that(until.files.some((file) => file.endsWith(".wasm")), "the module was not among the files");
      for (const [packing, most] of Object.entries(MOST)) that(until[packing] <= 1000 * most, `${until[packing]} bytes ${packing}, at most ${most} kB`);
    });
}
