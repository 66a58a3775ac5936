// Pictures: each with its table, alive with a script; colours that people with colour-blindness tell apart; borders that are seen.
import { axe, check, close, equal, open, that, together } from "./harness.mjs";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const page = (site, name, lang = "en") => site.pages.find((p) => p.lang === lang && p.path === `${lang}/${name}.html`);

// --- Colours. Source of the matrices: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A Physiologically-based Model for Simulation
// of Color Vision Deficiency", 2009, severity 1.0; of the difference: G. Sharma, W. Wu, E. N. Dalal, "The CIEDE2000 Color-Difference
// Formula", 2005.
const sights = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
};
const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
function lab(rgb, sight) {
  const own = rgb.map(linear), [r, g, b] = sights[sight].map((row) => Math.min(1, Math.max(0, row.reduce((sum, k, i) => sum + k * own[i], 0))));
  const f = (t) => t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116;
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047), y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b), z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const degrees = (x) => x * 180 / Math.PI, radians = (x) => x * Math.PI / 180;
export function difference([L1, a1, b1], [L2, a2, b2]) {
  const C = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2, G = 0.5 * (1 - Math.sqrt(C ** 7 / (C ** 7 + 25 ** 7)));
  const A1 = a1 * (1 + G), A2 = a2 * (1 + G), C1 = Math.hypot(A1, b1), C2 = Math.hypot(A2, b2);
  const h1 = (degrees(Math.atan2(b1, A1)) + 360) % 360, h2 = (degrees(Math.atan2(b2, A2)) + 360) % 360, grey = C1 * C2 === 0;
  const dh = grey ? 0 : ((h2 - h1 + 540) % 360) - 180, dH = 2 * Math.sqrt(C1 * C2) * Math.sin(radians(dh / 2));
  const Lm = (L1 + L2) / 2, Cm = (C1 + C2) / 2, far = Math.abs(h1 - h2) > 180;
  const hm = grey ? h1 + h2 : !far ? (h1 + h2) / 2 : h1 + h2 < 360 ? (h1 + h2 + 360) / 2 : (h1 + h2 - 360) / 2;
  const T = 1 - 0.17 * Math.cos(radians(hm - 30)) + 0.24 * Math.cos(radians(2 * hm)) + 0.32 * Math.cos(radians(3 * hm + 6)) - 0.2 * Math.cos(radians(4 * hm - 63));
  const turn = 30 * Math.exp(-(((hm - 275) / 25) ** 2)), Rc = 2 * Math.sqrt(Cm ** 7 / (Cm ** 7 + 25 ** 7));
  const l = (L2 - L1) / (1 + 0.015 * (Lm - 50) ** 2 / Math.sqrt(20 + (Lm - 50) ** 2)), c = (C2 - C1) / (1 + 0.045 * Cm), h = dH / (1 + 0.015 * Cm * T);
  return Math.sqrt(l * l + c * c + h * h - Math.sin(radians(2 * turn)) * Rc * c * h);
}
const rgb = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
const light = (c) => { const [r, g, b] = c.map(linear); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
function contrast(a, b) {
  const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}
const parts = ["parameters", "gradients", "optimizer", "weight_casts", "activations", "logits", "backward", "kv_cache", "inputs", "workspaces", "cache", "context"];

function colours(browser, site) {
  check("the colour difference is that of its authors", async () => {
    // Rows 1, 7, 17 and 25 of the table of test data by Sharma and others.
    for (const [a, b, wanted] of [[[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425], [[50, 0, 0], [50, -1, 2], 2.3669],
      [[50, 2.5, 0], [73, 25, -18], 27.1492], [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644]])
      that(Math.abs(difference(a, b) - wanted) < 0.0001, `${difference(a, b)}, not ${wanted}`);
  });
  for (const theme of ["light", "dark"]) { themed(browser, site, theme); dots(browser, site, theme); }
}

// Points lie on the paper, without a line around them.
function dots(browser, site, theme) {
  check(`points of a picture are seen and differ, ${theme}`, async () => {
    const tab = await open(browser, `${site.http}/${page(site, "how-the-numbers-are-made/predicted-and-measured").path}`, { colorScheme: theme });
    try {
      const found = await tab.evaluate(() => Array.from(document.querySelectorAll(".chart .mark[class*=g]"), (e) => getComputedStyle(e).color));
      const paper = rgb(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor)), labs = found.map((c) => lab(rgb(c), "normal"));
      that(found.length > 5, `${found.length} groups`);
      found.forEach((colour, i) => {
        that(contrast(rgb(colour), paper) >= 2.9, `group ${i}, ${colour}: ${contrast(rgb(colour), paper).toFixed(2)}`);
        labs.slice(0, i).forEach((other, k) => that(difference(labs[i], other) > 10, `groups ${i} and ${k}: ${difference(labs[i], other).toFixed(1)}`));
      });
    } finally { await close(tab); }
  });
}

// What the parts are drawn with, and the controls' borders, in one theme.
function themed(browser, site, theme) {
  const differ = (sight) => `parts of the memory differ for ${sight} eyes, ${theme}`, borders = `borders of controls are seen, ${theme}`;
  const previews = "pictures for previews have the colours of the pages";
  together([...Object.keys(sights).map(differ), ...(theme === "light" ? [previews] : []), borders], async (now) => {
    const tab = await open(browser, `${site.http}/${page(site, "gpu-out-of-memory").path}`, { colorScheme: theme });
    try {
      const drawn = await tab.evaluate((names) => names.map((name) => {
        const e = document.createElement("span");
        e.className = name;
        document.body.append(e);
        return getComputedStyle(e).color;
      }), parts);
      for (const sight of Object.keys(sights)) await now(differ(sight), async () => tooNear(drawn, sight));
      if (theme === "light") await now(previews, async () => {
        const source = readFileSync("gen/site/output/preview.c", "utf8");
        for (const [i, name] of parts.entries()) {
          const [, hex] = source.match(new RegExp(`\\{"${name}", 0x([0-9a-f]{6})\\}`));
          equal(rgb(drawn[i]).map((c) => c.toString(16).padStart(2, "0")).join(""), hex, name);
        }
      });
      await now(borders, async () => {
        const found = await tab.evaluate(() => Array.from(document.querySelectorAll("input[type=search], #theme, .langs summary, .code-bar button"), (e) => [e.className + e.id + e.tagName, getComputedStyle(e).borderTopColor]));
        const paper = rgb(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor));
        that(found.length > 3, "controls");
        for (const [name, colour] of found) that(contrast(rgb(colour), paper) >= 3, `${name}: ${contrast(rgb(colour), paper).toFixed(2)}`);
      });
    } finally { await close(tab); }
  });
}

function tooNear(drawn, sight) {
  const labs = drawn.map((c) => lab(rgb(c), sight)), near = [];
  for (let i = 0; i < labs.length; i++) for (let k = 0; k < i; k++)
    if (difference(labs[i], labs[k]) <= 15) near.push(`${parts[i]} and ${parts[k]}: ${difference(labs[i], labs[k]).toFixed(1)}`);
  equal(near.join("; "), "", "too near");
}

// What each kind must have drawn.
const drawn = { stack: "rect.cat", lines: ".line", area: ".part", cells: ".cell", chain: "rect.cat", nest: ".nest", block: "rect.cat", segments: ".gap" };

function tables(browser, site) {
  for (const p of site.pages.filter((p) => p.lang === "en" && p.kind !== "404")) {
    if (!/<figure class="chart/.test(readFileSync(join(site.root, p.path), "utf8"))) continue;
    check(`pictures have their tables ${p.path}`, async () => {
      const tab = await open(browser, `${site.http}/${p.path}`, { javaScriptEnabled: false });
      try {
        for (const chart of await tab.locator("figure.chart").all()) {
          const kind = (await chart.getAttribute("class")).split(" ")[1];
          if (!kind) continue;   // a cloud of points: its rows are the tables beside it
          that(await chart.locator("table tbody tr").count() > 0, `${kind}: rows`);
          that((await chart.locator("svg desc").textContent()).length > 20, `${kind}: description`);
          if (drawn[kind]) that(await chart.locator(`svg ${drawn[kind]}`).count() > 0, `${kind}: nothing is drawn`);
          const box = await chart.locator("svg").boundingBox(), page = await chart.boundingBox();
          that(box.width <= page.width + 1, `${kind}: wider than its place`);
        }
      } finally { await close(tab); }
    });
  }
}

// Each way of the tree of questions ends at a section of its page, and each text is inside of its box.
function tree(browser, site, lang) {
  check(`the questions lead to sections ${lang}`, async () => {
    const tab = await open(browser, `${site.http}/${page(site, "find-your-case", lang).path}`, { viewport: { width: 360, height: 900 } });
    try {
      const ways = tab.locator(".tree a");
      that(await ways.count() > 8, "ways");
      for (const way of await ways.all()) equal(await tab.locator(`h2${await way.getAttribute("href")}`).count(), 1, await way.getAttribute("href"));
      equal((await tab.evaluate(() => {
        const boxes = Array.from(document.querySelectorAll(".tree rect"), (e) => e.getBoundingClientRect());
        return Array.from(document.querySelectorAll(".tree text")).filter((e) => {
          const t = e.getBoundingClientRect(), y = (t.top + t.bottom) / 2;
          return !boxes.some((b) => b.top < y && y < b.bottom && b.left <= t.left && t.right <= b.right);
        }).map((e) => e.textContent);
      })).join("; "), "", "out of its box");
      await ways.last().focus();
      await tab.keyboard.press("Enter");
      await tab.waitForFunction(() => location.hash === "#windows");
    } finally { await close(tab); }
  });
}

function alive(browser, site, width, colorScheme) {
  check(`the batch slider answers ${width} ${colorScheme}`, async () => {
    const tab = await open(browser, `${site.http}/${page(site, "gpu-out-of-memory").path}`, { viewport: { width, height: 900 }, colorScheme });
    try {
      const slider = tab.locator(".slider input"), said = tab.locator(".slider p");
      await slider.scrollIntoViewIfNeeded();
      await slider.focus();
      await tab.keyboard.press("Home");
      await tab.waitForFunction(() => document.querySelectorAll(".slider p")[0].textContent.split("\n").every((l, i) => !i || l.startsWith("\u2713")));
      const least = await said.innerText();
      await tab.keyboard.press("End");
      await tab.waitForFunction(() => document.querySelector(".slider p").textContent.includes("\u2717"));
      that(await said.innerText() !== least, "the verdict moves");
      const rows = await tab.locator(".chart.lines tbody tr").last().locator("td").allInnerTexts();
      for (const text of rows) that((await said.innerText()).includes(text.trim()), `the table's ${text}`);
      equal(await tab.locator(".chart.lines .cursor").count(), 1, "the marker");
      await axe(tab);
      equal(tab.complaints.join("; "), "", "console");
    } finally { await close(tab); }
  });
  check(`the step says what is alive ${width} ${colorScheme}`, async () => {
    const tab = await open(browser, `${site.file}/${page(site, "rtx-4070").path}`, { viewport: { width, height: 900 }, colorScheme });
    try {
      const picture = tab.locator(".chart.area svg"), text = tab.locator(".chart.area .moment");
      await picture.scrollIntoViewIfNeeded();
      await picture.hover();
      await text.waitFor({ state: "attached" });
      await picture.focus();
      await tab.keyboard.press("ArrowRight");
      const first = await text.innerText();
      that(/MiB = .*MiB/.test(first), first);
      for (let i = 0; i < 6; i++) await tab.keyboard.press("PageDown");
      that(await text.innerText() !== first, "the moment moves");
      equal(tab.complaints.join("; "), "", "console");
    } finally { await close(tab); }
  });
}

export function run(browser, site) {
  colours(browser, site);
  tables(browser, site);
  for (const lang of new Set(site.pages.map((p) => p.lang))) if (page(site, "find-your-case", lang)) tree(browser, site, lang);
  alive(browser, site, 360, "light");
  alive(browser, site, 1280, "dark");
}
