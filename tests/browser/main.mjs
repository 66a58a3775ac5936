// The built site in a real Chromium: node main.mjs SITE FIXTURE, both folders as vramdoc writes them.
import { counts, launch } from "./harness.mjs";
import { serve } from "./server.mjs";
import { pagesOf } from "./pages.mjs";
import * as looks from "./looks.mjs";
import * as works from "./works.mjs";
import * as calculator from "./calculator.mjs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [siteRoot, fixtureRoot] = process.argv.slice(2).map((path) => resolve(path));
const browser = await launch();
const served = await serve(siteRoot);
const servedFixture = await serve(fixtureRoot, "/fixture");
const site = { root: siteRoot, http: served.origin, file: pathToFileURL(siteRoot).href, rules: served.rules, pages: await pagesOf(siteRoot) };
const fixture = { root: fixtureRoot, http: servedFixture.origin, file: pathToFileURL(fixtureRoot).href, rules: servedFixture.rules, pages: await pagesOf(fixtureRoot) };

try {
  await looks.run(browser, site, fixture);
  await works.run(browser, site, fixture);
  await calculator.run(browser, site);
} finally {
  await browser.close();
  served.close();
  servedFixture.close();
}
console.log(`browser: ${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed ? 1 : 0);
