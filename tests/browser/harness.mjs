// What the browser tests share: one browser, pages that remember what went wrong in them, lines of results.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(join(process.env.BROWSER_MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const counts = { passed: 0, failed: 0 };

// Runs one check and prints its line. body throws when the check fails. Where the browser itself ended under it, the check runs
// once more in a new one; a page that ends every browser fails.
export async function check(name, body) {
  const filter = process.env.FILTER;
  if (filter && filter !== "browser" && !`browser/${name}`.includes(filter)) return;
  let error = await failure(body);
  if (error && /has been closed|crashed/.test(error.message ?? "")) {
    console.log(`# the browser ended in: ${name}`);
    error = await failure(body);
  }
  counts[error ? "failed" : "passed"]++;
  console.log(`${error ? "not ok" : "ok"} ${name}`);
  if (error) console.log(String(error.message ?? error).split("\n").slice(0, 12).map((line) => `    ${line}`).join("\n"));
}

async function failure(body) {
  try {
    await body();
  } catch (error) {
    return error;
  }
}

export function equal(got, wanted, what) {
  if (got !== wanted) throw new Error(`${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
}

export function that(condition, what) {
  if (!condition) throw new Error(what);
}

// Debian's Chromium; newContext() starts another where the last one has ended.
export async function launch() {
  const start = () => chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  let browser = await start();
  return {
    async newContext(options) {
      if (!browser.isConnected()) browser = await start();
      return browser.newContext(options);
    },
    close: () => browser.close(),
  };
}

// Opens url in a context of its own; what the browser complains about is collected in page.complaints.
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(60000);   // a loaded machine is only slower
  const page = await context.newPage();
  page.complaints = [];
  page.requested = [];
  page.on("console", (message) => {
    if (message.type() === "error" || /Content Security Policy/.test(message.text())) page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("request", (request) => { if (!/^(data|blob):/.test(request.url())) page.requested.push(request.url()); });
  page.on("requestfailed", (request) => page.complaints.push(`failed: ${request.url()}`));
  page.on("response", (response) => { if (response.status() >= 400) page.complaints.push(`${response.status()}: ${response.url()}`); });
  if (options.before) await page.addInitScript(options.before);
  await page.goto(url, { waitUntil: "load" });
  return page;
}

export async function close(page) {
  await page.context().close();
}

// Every axe rule for WCAG 2.2 AA and the best practices; throws with the nodes that break one.
export async function axe(page) {
  await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const result = await window.axe.run(document, { runOnly: { type: "tag", values: tags } });
    return result.violations.map((v) => `${v.id}: ${v.help}\n  ` + v.nodes.slice(0, 3).map((n) => `${n.target} ${n.html.slice(0, 160)} ${n.failureSummary.split("\n").slice(1, 2)}`).join("\n  "));
  });
  that(violations.length === 0, violations.join("\n"));
}
