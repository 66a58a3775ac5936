// What the browser tests share: one browser, pages that remember what went wrong in them, lines of results.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(join(process.env.BROWSER_MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const counts = { passed: 0, failed: 0 };

// Checks are put down first and run afterwards, some at a time: most of a check is waiting for the browser.
const queue = [];
let part = "";

export function wanted(name) {
  const filter = process.env.FILTER;
  return !filter || filter === "browser" || `browser/${name}`.includes(filter);
}

// Puts down one check. body throws when it fails.
export function check(name, body) {
  together([name], (now) => now(name, body));
}

// Puts down checks that share a page: body(now) calls now(NAME, CHECK) for each of names.
export function together(names, body) {
  names = names.filter(wanted);
  if (names.length) queue.push({ part, names, body });
}

// What add() puts down belongs to the part name.
export async function collect(name, add) {
  part = name;
  await add();
}

// Runs all that was put down, lanes of them at a time, and prints a line for each check; then where the time went.
export async function runAll(lanes) {
  const times = new Map(), jobs = queue.values(), began = performance.now();
  const lane = async () => {
    for (const job of jobs) {
      const start = performance.now(), results = await attempt(job);
      for (const [name, error] of results) tell(name, error);
      const sum = times.get(job.part) ?? { checks: 0, ms: 0 };
      times.set(job.part, { checks: sum.checks + results.length, ms: sum.ms + performance.now() - start });
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const seconds = (ms) => (ms / 1000).toFixed(0);
  for (const [name, sum] of times) console.log(`# ${name}: ${sum.checks} checks, ${seconds(sum.ms)} s in a lane`);
  console.log(`# ${lanes} lanes: ${seconds(performance.now() - began)} s`);
}

// [[name, error or undefined], ...] of a job. Where the browser itself ended under it, the job runs once more in a new one; a page
// that ends every browser fails.
async function attempt(job) {
  const first = await once(job);
  if (!first.some(([, error]) => /has been closed|crashed/.test(error?.message ?? ""))) return first;
  console.log(`# the browser ended in: ${job.names[0]}`);
  return once(job);
}

async function once({ names, body }) {
  const errors = new Map();
  const outside = await failure(() => body(async (name, inner) => { if (wanted(name)) errors.set(name, await failure(inner)); }));
  return names.map((name) => [name, errors.has(name) ? errors.get(name) : outside ?? new Error("it was not reached")]);
}

// The line of a check in which it failed: the first of the stack that is not of this file.
function failedAt(error) {
  return (String(error.stack).match(/[a-z_]+\.mjs:\d+/g) ?? []).find((at) => !at.startsWith("harness")) ?? "";
}

function tell(name, error) {
  counts[error ? "failed" : "passed"]++;
  console.log(`${error ? "not ok" : "ok"} ${name}`);
  if (error) console.log(String(error.message ?? error).split("\n").slice(0, 12).concat(failedAt(error)).map((line) => `    ${line}`).join("\n"));
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
  let browser = await start(), next = Promise.resolve();
  return {
    async newContext(options) {
      await (next = next.then(async () => { if (!browser.isConnected()) browser = await start(); }));
      return browser.newContext(options);
    },
    close: () => browser.close(),
  };
}

// Opens url in a context of its own; what the browser complains about is collected in page.complaints.
export async function open(browser, url, options = {}) {
  const page = await newTab(browser, { viewport: wide, ...options });
  if (options.prepare) await options.prepare(page);
  await page.goto(url, { waitUntil: "load" });
  return page;
}

const wide = { width: 1280, height: 900 };

async function newTab(browser, options) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(60000);   // a loaded machine is only slower
  const page = await context.newPage();
  page.complaints = [];
  page.requested = [];
  page.on("console", (message) => {
    if (message.type() === "error" || /Content Security Policy/.test(message.text())) page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("request", (request) => { if (!/^(data|blob):/.test(request.url())) page.requested.push(request.url()); });
  // What a page still loads when it is left is broken off, which is no failure.
  page.on("requestfailed", (request) => { if (request.failure()?.errorText !== "net::ERR_ABORTED") page.complaints.push(`failed: ${request.url()}`); });
  page.on("response", (response) => { if (response.status() >= 400) page.complaints.push(`${response.status()}: ${response.url()}`); });
  if (options.before) await page.addInitScript(options.before);
  return page;
}

// Tabs that leave() has put by for the next visit() that wants the same script before its pages and scripts as much as this one.
const idle = new Map();

// Opens url in a tab that pages before it have been looked at in, for a check that only looks: that takes a fifth of the time of a
// context of its own, and axe is compiled there already (20 pages: 18 s of processor time instead of 46). Give it back by leave().
export async function visit(browser, url, { viewport = wide, colorScheme = null, forcedColors = null, reducedMotion = null, before, javaScriptEnabled = true }) {
  const kind = `${javaScriptEnabled} ${new URL(url).protocol} ${before ?? ""}`, tabs = idle.get(kind) ?? [];
  idle.set(kind, tabs);
  let page = tabs.pop();
  if (!page || page.isClosed()) page = Object.assign(await newTab(browser, { viewport, before, javaScriptEnabled }), { kind });
  page.complaints = [];
  page.requested = [];
  await page.setViewportSize(viewport);
  await page.emulateMedia({ media: null, colorScheme, forcedColors, reducedMotion });
  await page.goto(url, { waitUntil: "load" });
  return page;
}

// Puts a tab of visit() by, without anything that its page has stored or still waits for.
export async function leave(page) {
  await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); });
  await page.goto("about:blank");
  idle.get(page.kind).push(page);
}

export async function close(page) {
  await page.context().close();
}

// Every axe rule for WCAG 2.2 AA and the best practices, or those of them that colours alone can break; throws with the nodes
// that break one.
export async function axe(page, colours = false) {
  if (!await page.evaluate(() => window.axe?.run)) await page.evaluate(axeSource);
  const violations = await page.evaluate(async (colours) => {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const runOnly = colours ? { type: "rule", values: ["color-contrast", "link-in-text-block"] } : { type: "tag", values: tags };
    const result = await window.axe.run(document, { runOnly, resultTypes: ["violations"] });
    return result.violations.map((v) => `${v.id}: ${v.help}\n  ` + v.nodes.slice(0, 3).map((n) => `${n.target} ${n.html.slice(0, 160)} ${n.failureSummary.split("\n").slice(1, 2)}`).join("\n  "));
  }, colours);
  that(violations.length === 0, violations.join("\n"));
}
