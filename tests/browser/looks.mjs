// How pages look: no accessibility fault, nothing blocked, nothing cut off, in every width, theme, language and scheme.
import { axe, check, close, equal, leave, open, that, together, visit } from "./harness.mjs";

const looks = [[360, "light"], [360, "dark"], [1280, "dark"], [1280, "light"]];
const watchCsp = () => {
  window.blocked = [];
  document.addEventListener("securitypolicyviolation", (e) => window.blocked.push(`${e.effectiveDirective} ${e.blockedURI}`));
};

// Horizontal extent of the page, and the widest element that makes it so.
function overflow(page) {
  return page.evaluate(() => {
    const wide = document.scrollingElement.scrollWidth - document.documentElement.clientWidth;
    if (wide <= 0) return "";
    const guilty = [...document.querySelectorAll("body *")].find((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest(".table, pre, .math, .skip, .vh"));
    return `${wide} px too wide: ${guilty ? guilty.outerHTML.slice(0, 120) : "?"}`;
  });
}

// Texts of a picture that lie on each other or on a line, commands that are wider than their box, code below its button.
function crowded(page) {
  return page.evaluate(() => {
    const found = [], box = (e) => e.getBoundingClientRect();
    for (const svg of document.querySelectorAll("main svg")) {
      const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim() && t.checkVisibility()).map((t) => [t.textContent, box(t)]);
      texts.forEach(([one, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5) found.push(`${one} / ${other}`);
      }));
    }
    const within = (p, b) => p.x > b.left && p.x < b.right && p.y > b.top + 2 && p.y < b.bottom - 2;
    for (const svg of document.querySelectorAll(".chart.lines svg")) {
      const names = [...svg.querySelectorAll("text[text-anchor=start]")];   // the card's, and the legend's
      for (const line of svg.querySelectorAll("path.line")) {
        const all = line.getTotalLength(), at = svg.getScreenCTM();
        for (let k = 0; k <= 100; k++) {
          const p = line.getPointAtLength(all * k / 100).matrixTransform(at), over = names.find((t) => within(p, box(t)));
          if (over) { found.push(`a line / ${over.textContent}`); break; }
        }
      }
    }
    for (const bar of document.querySelectorAll(".code-bar")) {
      const range = new Range(), b = box(bar), code = bar.parentNode.querySelector("code");
      range.selectNodeContents(code);
      if ([...range.getClientRects()].some((r) => r.width > 1 && r.right > b.left && r.left < b.right && r.bottom > b.top + 3 && r.top < b.bottom - 3)) found.push(`the bar / ${code.textContent.split("\n")[0]}`);
    }
    for (const e of document.querySelectorAll("pre:has(> .language-console)")) if (e.scrollWidth > e.clientWidth + 1) found.push(e.textContent);
    return found.slice(0, 4).join("; ");
  });
}

// One page in the looks of list, [[width, theme], ...]: loaded once, then turned over. All of axe's rules are asked once a width,
// in another theme those that are about colours; of a page from a file, whose text is the same, in the first look.
function everyLook(browser, base, scheme, page, list) {
  const first = `${scheme} ${page.path}`, name = ([width, theme]) => `${scheme} ${width} ${theme} ${page.path}`;
  const narrow = `320 px ${page.path}`;
  together([first, ...list.map(name), ...(scheme === "http" ? [narrow] : [])], async (now) => {
    const [width, theme] = list[0];
    const tab = await visit(browser, `${base}/${page.path}`, { viewport: { width, height: 900 }, colorScheme: theme, before: watchCsp });
    try {
      await now(first, async () => {
        equal(tab.complaints.join("; "), "", "console");
        equal((await tab.evaluate(() => window.blocked)).join("; "), "", "blocked by the policy");
      });
      for (const [i, look] of list.entries()) {
        const seen = list.slice(0, i).some(([width]) => width === look[0]);
        await now(name(look), async () => {
          await tab.setViewportSize({ width: look[0], height: 900 });
          await tab.emulateMedia({ colorScheme: look[1] });
          equal(await overflow(tab), "", "width");
          equal(await crowded(tab), "", "on each other, or cut");
          if (scheme === "http") await axe(tab, seen);
        });
      }
      if (scheme === "http") await now(narrow, async () => {
        await tab.setViewportSize({ width: 320, height: 800 });
        equal(await overflow(tab), "", "width");
      });
    } finally { await leave(tab); }
  });
}

// Holds the site's script back until the page without it has been painted: what moves before is the parser's doing, which a
// busy machine may paint in pieces, even after domInteractive; what moves after window.arrived is ours.
async function holdScript(page) {
  await page.route(/\/site\.[^/]*js$/, async (route) => {
    await page.evaluate(() => new Promise((done) => {
      const settle = (frames) => requestAnimationFrame(() => (frames ? settle(frames - 1) : done(window.arrived = performance.now())));
      const parsed = () => (document.readyState === "loading" ? setTimeout(parsed, 5) : settle(3));
      parsed();
    }));
    await route.continue();
  });
}

// [while it arrives, after that, what moved] of a page's layout shifts. Some frames after the last script has run, all have been told.
function shifts(page) {
  return page.evaluate(() => new Promise((done) => {
    const sums = [0, 0, ""];
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) {
        sums[e.startTime < window.arrived ? 0 : 1] += e.value;
        sums[2] += e.sources.map((x) => ` ${x.node?.nodeName} ${JSON.stringify(x.previousRect)} to ${JSON.stringify(x.currentRect)}`).join("");
      }
    }).observe({ type: "layout-shift", buffered: true });
    const settle = (frames) => requestAnimationFrame(() => (frames ? settle(frames - 1) : setTimeout(() => done(sums))));
    settle(8);
  }));
}

function quiet(browser, base, page) {
  check(`requests and shifts ${page.path}`, async () => {
    const tab = await open(browser, `${base}/${page.path}`, { prepare: holdScript });
    try {
      if (await tab.locator("#calc").count()) await tab.locator("#calc.whole").waitFor();
      const most = await tab.locator("[data-script]").count() ? 16 : 4;  // the calculator: its two styles, seven scripts and sentences; the library's two, and the larger one
      that(tab.requested.length <= most, `${tab.requested.length} requests: ${tab.requested.join(" ")}`);
      that(tab.requested.every((url) => url.startsWith(base)), `another host: ${tab.requested.join(" ")}`);
      // Rows of a table may settle while a page arrives; 0.1 counts as good. Once it is there nothing moves.
      const [early, late, what] = await shifts(tab);
      that(early < 0.1, `layout shift of ${early} while the page arrives:${what}`);
      that(late < 0.001, `layout shift of ${late} once it is there:${what}`);
    } finally { await close(tab); }
  });
}

function withoutScript(browser, base, page) {
  check(`without a script ${page.path}`, async () => {
    const tab = await visit(browser, `${base}/${page.path}`, { javaScriptEnabled: false });
    try {
      equal(await tab.locator("h1").count(), 1, "h1");
      that((await tab.locator("main").innerText()).length > 40, "no text");
      equal(await tab.locator(".js-only:visible").count(), 0, "controls that need a script");
      if (await tab.locator(".langs").count()) {
        await tab.locator(".langs summary").click();
        that(await tab.locator(".langs a").first().isVisible(), "languages");
      }
      for (const href of await tab.locator(".body a.fig").evaluateAll((links) => links.map((a) => a.getAttribute("href"))))
        equal(await tab.locator(`.sources ${href}`).count(), 1, `source of ${href}`);
    } finally { await leave(tab); }
  });
}

function printed(browser, base, page) {
  check(`print ${page.path}`, async () => {
    const tab = await visit(browser, `${base}/${page.path}`, { colorScheme: "dark", before: () => localStorage.setItem("theme", "dark") });
    try {
      await tab.emulateMedia({ media: "print" });
      equal(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)", "paper");
      equal(await tab.locator(".tools:visible, .toc:visible, .act:visible").count(), 0, "controls on paper");
      await tab.setViewportSize({ width: 720, height: 900 });  // what A4 has between margins of 1 cm
      const [width, room] = await tab.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      that(width <= room, `${width} px on paper of ${room}: what is beyond is cut off`);
    } finally { await leave(tab); }
  });
}

// Many short columns stand beside each other where they have room; where there is more of a table than is seen, a shade says so.
function wideTables(browser, base) {
  for (const lang of ["en", "hi"]) check(`wide tables ${lang}`, async () => {
    const tab = await visit(browser, `${base}/${lang}/several-gpus.html`, { viewport: { width: 1280, height: 900 } });
    try {
      const tables = await tab.locator(".body .table").evaluateAll((list) => list.map((e) => ({ columns: e.querySelectorAll("thead th").length, more: e.scrollWidth - e.clientWidth, shade: getComputedStyle(e).backgroundImage })));
      const seven = tables.find((t) => t.columns === 7);
      that(seven && seven.more <= 40, `seven columns, of which ${seven?.more} px are not seen`);
      that(tables.every((t) => t.shade.includes("gradient")), "no shade");
    } finally { await leave(tab); }
  });
}

function forcedColours(browser, base, page) {
  check(`forced colours ${page.path}`, async () => {
    const tab = await visit(browser, `${base}/${page.path}`, { forcedColors: "active", reducedMotion: "reduce" });
    try {
      equal(await tab.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior), "auto", "motion");
      const drawn = await tab.locator(".fig.computed").evaluateAll((list) => list.every((e) => getComputedStyle(e).textDecorationLine.includes("underline")));
      that(drawn, "the sign of a figure's kind is not drawn");
    } finally { await leave(tab); }
  });
}

function scripts(browser, fixture) {
  check("right to left", async () => {
    const page = fixture.pages.find((p) => p.lang === "ar" && p.name === "kitchen.html");
    const tab = await open(browser, `${fixture.http}/${page.path}`);
    try {
      equal(await tab.evaluate(() => getComputedStyle(document.body).direction), "rtl", "direction");
      const [brand, tools] = await Promise.all([".brand", ".tools"].map((s) => tab.locator(s).boundingBox()));
      that(brand.x > tools.x, "the name of the site is on the right");
      equal(await tab.locator("pre").first().evaluate((e) => getComputedStyle(e).direction), "ltr", "code");
    } finally { await close(tab); }
  });
  check("Devanagari has room", async () => {
    const page = fixture.pages.find((p) => p.lang === "hi" && p.name === "kitchen.html");
    const tab = await open(browser, `${fixture.http}/${page.path}`);
    try {
      const lead = await tab.locator(".body p").first().evaluate((e) => parseFloat(getComputedStyle(e).lineHeight) / parseFloat(getComputedStyle(e).fontSize));
      that(lead >= 1.75, `line height ${lead}`);
    } finally { await close(tab); }
  });
}

// A site with a long name: the places behind it stay in sight on a phone.
function crumbs(browser, base) {
  check("a long first breadcrumb leaves room for the others", async () => {
    const tab = await open(browser, `${base}/en/how-the-numbers-are-made/predicted-and-measured.html`, { viewport: { width: 360, height: 800 } });
    try {
      const seen = await tab.evaluate(() => {
        document.querySelector(".crumbs a").textContent = "A name of a site that is longer than a phone is wide, and then some";
        const nav = document.querySelector(".crumbs").getBoundingClientRect();
        return Array.from(document.querySelectorAll(".crumbs li"), (e) => { const r = e.getBoundingClientRect(); return Math.min(r.right, nav.right) - r.left; });
      });
      that(seen.length === 3 && seen.every((width) => width >= 40), seen.join(" "));
    } finally { await close(tab); }
  });
}

export function run(browser, site, fixture) {
  const both = (list) => list.filter((p) => ["en", "hi"].includes(p.lang));
  for (const page of both(site.pages)) for (const scheme of ["http", "file"]) everyLook(browser, site[scheme], scheme, page, looks);
  for (const page of site.pages.filter((p) => !["en", "hi"].includes(p.lang))) everyLook(browser, site.http, "http", page, [[360, "light"]]);
  for (const page of fixture.pages) everyLook(browser, fixture.http, "http", page, [[360, "light"], [360, "dark"]]);
  for (const page of both(site.pages)) {
    quiet(browser, site.http, page);
    withoutScript(browser, site.http, page);
  }
  for (const page of site.pages.filter((p) => p.lang === "en")) {
    printed(browser, site.http, page);
    forcedColours(browser, site.http, page);
  }
  scripts(browser, fixture);
  crumbs(browser, site.http);
  wideTables(browser, site.http);
}
