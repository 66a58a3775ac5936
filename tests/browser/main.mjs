// The built site in a real Chromium: node main.mjs SITE FIXTURE, both folders as vramdoc writes them. PART=works runs one part,
// LANES=1 one check at a time (2).
import { collect, counts, launch, runAll } from "./harness.mjs";
import { serve } from "./server.mjs";
import { pagesOf } from "./pages.mjs";
import * as looks from "./looks.mjs";
import * as works from "./works.mjs";
import * as figures from "./figures.mjs";
import * as pictures from "./pictures.mjs";
import * as calculator from "./calculator.mjs";
import * as words from "./calculator_words.mjs";
import * as tasks from "./tasks.mjs";
import * as newcomer from "./newcomer.mjs";
import * as card from "./card.mjs";
import * as files from "./files.mjs";
import * as typing from "./typing.mjs";
import * as injection from "./injection.mjs";
import * as transfer from "./transfer.mjs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [siteRoot, fixtureRoot] = process.argv.slice(2).map((path) => resolve(path));
const browser = await launch();
const served = await serve(siteRoot);
const servedFixture = await serve(fixtureRoot, "/fixture");
const site = { root: siteRoot, http: served.origin, file: pathToFileURL(siteRoot).href, rules: served.rules, pages: await pagesOf(siteRoot) };
const fixture = { root: fixtureRoot, http: servedFixture.origin, file: pathToFileURL(fixtureRoot).href, rules: servedFixture.rules, pages: await pagesOf(fixtureRoot) };

try {
  // long checks first
  for (const [name, part] of Object.entries({ calculator, words, tasks, newcomer, card, files, typing, injection, transfer, works, figures, pictures, looks }))
    if (!process.env.PART || process.env.PART === name) await collect(name, () => part.run(browser, site, fixture));
  await runAll(Number(process.env.LANES) || 2);
} finally {
  await browser.close();
  served.close();
  servedFixture.close();
}
console.log(`browser: ${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed ? 1 : 0);
