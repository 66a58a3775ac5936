// What a reader can do: search, switch the theme and the language, go through a page by keyboard.
import { axe, check, close, equal, open, that } from "./harness.mjs";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

// Waits until the results are those of the whole query, not of its first letters.
const answered = (tab, query) => tab.locator(`.results[data-query="${query}"]`).waitFor();

function search(browser, site, scheme, lang, word, wanted) {
  check(`search ${scheme} ${lang}`, async () => {
    const page = site.pages.find((p) => p.lang === lang && p.kind === "article");
    const tab = await open(browser, `${site[scheme]}/${page.path}`);
    const panel = tab.locator(".results"), links = tab.locator(".results a");
    try {
      equal(tab.requested.filter((url) => /search/.test(url.slice(site[scheme].length))).length, 0, "index loaded before it is asked for");
      await tab.keyboard.press("/");
      equal(await tab.evaluate(() => document.activeElement.id), "q", "the key / goes to the box");
      await tab.keyboard.type(word);
      await answered(tab, word);
      await links.first().waitFor();
      const first = await links.first().evaluate((a) => a.href);
      that(first.includes(wanted), `first result ${first}, wanted ${wanted}`);
      that(await links.count() <= 8, "more than eight hits");
      that(/\d/.test(await tab.locator(".results [role=status]").innerText()), "number of results");
      that(await tab.locator(".results p mark").count() > 0, "no word is marked in its sentence");
      if (scheme === "http") await axe(tab);
      if (scheme === "file") that(existsSync(fileURLToPath(first.split("#")[0])), `${first} does not exist`);
      await tab.keyboard.press("ArrowDown");
      equal(await tab.evaluate(() => document.activeElement.closest(".results") !== null), true, "arrow key goes to the results");
      await tab.keyboard.press("Escape");
      that(await panel.isHidden(), "Escape closes the results");
      equal(await tab.evaluate(() => document.activeElement.id), "q", "Escape gives the focus back");
      await tab.keyboard.press("Control+A");
      await tab.keyboard.type("zzzzqqq");
      await answered(tab, "zzzzqqq");
      equal(await tab.locator(".results li").count(), 0, "results for no word");
      that((await tab.locator(".results [role=status]").innerText()).length > 5, "says that nothing was found");
      await tab.locator("#q").fill(word);
      await answered(tab, word);
      await tab.locator("#theme").focus();
      that(await panel.isHidden(), "the results close when the focus leaves");
      await tab.locator("#q").focus();
      await links.first().waitFor();
      await tab.keyboard.press("Enter");
      await tab.waitForURL((url) => url.href.includes(wanted));
      const anchor = decodeURIComponent(await tab.evaluate(() => location.hash.slice(1)));
      that(!anchor || await tab.evaluate((id) => document.getElementById(id) !== null, anchor), `no place #${anchor} in ${tab.url()}`);
      equal(tab.complaints.join("; "), "", "console");
    } finally { await close(tab); }
  });
}

const darkness = () => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number).reduce((a, b) => a + b, 0);

function theme(browser, site, scheme) {
  check(`theme ${scheme}`, async () => {
    const [first, second] = site.pages.filter((p) => p.lang === "en" && p.kind === "article");
    const tab = await open(browser, `${site[scheme]}/${first.path}`, { colorScheme: "light" });
    try {
      const light = await tab.evaluate(darkness);
      await tab.locator("#theme").selectOption("dark");
      const dark = await tab.evaluate(darkness);
      that(dark < 150 && light > 650, `light ${light}, dark ${dark}`);
      // On the next page the choice holds from the first frame on.
      await tab.addInitScript(() => requestAnimationFrame(() => { window.firstFrame = document.documentElement.getAttribute("data-theme"); }));
      await tab.goto(`${site[scheme]}/${second.path}`);
      await tab.waitForFunction(() => window.firstFrame !== undefined);   // a page may be loaded before its first frame
      equal(await tab.evaluate(() => window.firstFrame), "dark", "first frame");
      equal(await tab.evaluate(darkness), dark, "background after going on");
      equal(await tab.locator("#theme").inputValue(), "dark", "the switch");
      await tab.locator("#theme").selectOption("auto");
      equal(await tab.evaluate(darkness), light, "background by the system");
      await tab.reload();
      equal(await tab.locator("#theme").inputValue(), "auto", "the switch after reloading");
    } finally { await close(tab); }
  });
}

function languages(browser, site, scheme) {
  const tags = [...new Set(site.pages.map((p) => p.lang))];
  for (const page of site.pages.filter((p) => p.lang === "en" && p.kind !== "404")) {
    check(`languages ${scheme} ${page.path}`, async () => {
      const tab = await open(browser, `${site[scheme]}/${page.path}`);
      try {
        for (const tag of tags) {
          await tab.locator(".langs summary").click();
          await tab.locator(`.langs a[hreflang=${tag}]`).click();
          await tab.waitForFunction((tag) => document.readyState === "complete" && document.documentElement.lang === tag, tag);
          equal(await tab.evaluate(() => location.pathname.split("/").at(-1)), page.name, "document");
        }
        equal(tab.complaints.join("; "), "", "console");
      } finally { await close(tab); }
    });
  }
}

// What has the focus, in a word; and whether one can see that it has.
const focused = () => {
  const e = document.activeElement, style = getComputedStyle(e);
  const name = e.matches(".skip") ? "skip" : e.matches(".brand") ? "brand" : e.id || e.closest(".langs, .menu, .toc, .crumbs")?.className || e.tagName.toLowerCase();
  return { name, seen: e.matches(".skip") ? e.getBoundingClientRect().top >= 0 : style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
};

function keyboard(browser, site) {
  check("keyboard", async () => {
    const page = site.pages.find((p) => p.lang === "en" && p.kind === "article");
    const tab = await open(browser, `${site.http}/${page.path}`, { reducedMotion: "reduce" });
    try {
      const order = [];
      for (let i = 0; i < 6; i++) {
        await tab.keyboard.press("Tab");
        const { name, seen } = await tab.evaluate(focused);
        that(seen, `focus on ${name} cannot be seen`);
        order.push(name);
      }
      equal(order.join(" "), "skip brand q langs theme menu", "order");
      await tab.locator(".langs summary").focus();
      await tab.keyboard.press("Enter");
      that(await tab.locator(".langs").evaluate((e) => e.open), "Enter opens the languages");
      await tab.keyboard.press("Escape");
      that(!await tab.locator(".langs").evaluate((e) => e.open), "Escape closes them");
      await tab.locator(".skip").focus();
      await tab.keyboard.press("Enter");
      equal(await tab.evaluate(() => document.activeElement.id), "main", "skip link");
    } finally { await close(tab); }
  });
  check("wide tables scroll by keyboard", async () => {
    const page = site.pages.find((p) => p.lang === "en" && p.path.endsWith("/serving.html"));
    const tab = await open(browser, `${site.http}/${page.path}`, { viewport: { width: 360, height: 800 }, reducedMotion: "reduce" });
    try {
      const wide = tab.locator(".body .table").filter({ has: tab.locator("table") });
      let moved = 0;
      for (let i = 0; i < await wide.count(); i++) {
        if (await wide.nth(i).evaluate((e) => e.scrollWidth <= e.clientWidth || e.closest("details:not([open])") !== null)) continue;
        await wide.nth(i).focus();
        await tab.keyboard.press("ArrowRight");
        await tab.waitForFunction((e) => e.scrollLeft > 0, await wide.nth(i).elementHandle());
        moved++;
      }
      that(moved > 0, "no table is wider than a phone");
    } finally { await close(tab); }
  });
}

function treeAtTheSide(browser, site) {
  for (const [lang, width] of [["en", 1280], ["ar", 1100]])
    check(`the tree at the side shows where the page is ${lang}`, async () => {
      const tab = await open(browser, `${site.http}/${lang}/cards/rtx-4060.html`, { viewport: { width, height: 700 } });
      try {
        const [top, bottom, from, to, scrolled] = await tab.evaluate(() => {
          const side = document.querySelector(".side"), box = side.getBoundingClientRect(), here = side.querySelector("[aria-current]").getBoundingClientRect();
          return [box.top, box.bottom, here.top, here.bottom, side.scrollTop];
        });
        that(scrolled > 0, "the tree is longer than the window");
        that(from >= top && to <= bottom, `this page at ${from} to ${to}, the tree from ${top} to ${bottom}`);
      } finally { await close(tab); }
    });
}

// On a phone: tables with sentences or code are cards, no column of a chart's table or another is as narrow as a letter or two.
function tablesOnPhones(browser, site) {
  const names = ["gpu-out-of-memory", "find-your-case", "rtx-4070", "bytes-a-parameter", "several-gpus", "compile"];
  for (const page of site.pages.filter((p) => ["en", "ar", "ja", "zh-Hans"].includes(p.lang) && names.some((name) => p.path.endsWith(`/${name}.html`) && !p.path.includes("cards/"))))
    check(`tables on a phone ${page.path}`, async () => {
      const tab = await open(browser, `${site.http}/${page.path}`, { viewport: { width: 360, height: 740 } });
      try {
        await tab.evaluate(() => { document.querySelectorAll(".body details").forEach((e) => { e.open = true; }); });
        // Written closely, a page's tables may all fit.
        await tab.waitForFunction(() => Array.from(document.querySelectorAll(".body .table:not(.cards)")).every((e) => e.scrollWidth - e.clientWidth <= 60 || e.querySelectorAll("thead tr:last-child > *").length > 5));
        if (page.path.endsWith("/find-your-case.html")) that(await tab.locator(".body .table.cards").count() > 0, "its tables of sentences are cards");
        await tab.waitForFunction(() => !document.querySelector(".body .chart .table:not(.cards)") || Array.from(document.querySelectorAll(".body .chart .table:not(.cards)")).every((e) => e.scrollWidth - e.clientWidth <= 60));
        const wrong = await tab.evaluate(() => Array.from(document.querySelectorAll(".body .table"), (box) => {
          const cells = Array.from(box.querySelectorAll("tbody tr > *")), heads = box.querySelectorAll("thead th").length, said = box.innerText.slice(0, 40);
          const narrow = cells.concat(...(box.matches(".cards") ? [] : [Array.from(box.querySelectorAll("thead th"))])).find((e) => {
            const range = document.createRange(), size = parseFloat(getComputedStyle(e).fontSize);
            range.selectNodeContents(e);
            const text = range.getBoundingClientRect();
            return e.innerText.trim().length > 5 && text.width < 2.2 * size && text.height > 3 * 1.8 * size;
          });
          if (narrow) return `a column of ${narrow.innerText}`;
          if (!box.matches(".cards")) return box.scrollWidth > box.clientWidth && cells.some((e) => e.cellIndex && e.textContent.length > 20) ? `sideways: ${said}` : "";
          if (box.scrollWidth > box.clientWidth) return `a card is too wide: ${said}`;
          return heads && cells.some((e) => e.cellIndex && !e.dataset.label && box.querySelectorAll("thead th")[e.cellIndex]?.textContent.trim()) ? `without its column's name: ${said}` : "";
        }).filter(Boolean));
        equal(wrong.join("; "), "", "tables");
        await axe(tab);
      } finally { await close(tab); }
    });
  check("tables stay tables on a desk", async () => {
    const page = site.pages.find((p) => p.lang === "en" && p.path.endsWith("/find-your-case.html"));
    const tab = await open(browser, `${site.http}/${page.path}`);
    try { equal(await tab.locator(".cards").count(), 0, "cards"); } finally { await close(tab); }
  });
}

function headers(site) {
  check("the policy is sent", async () => {
    const policy = site.rules.flatMap((rule) => rule.headers).find(([name]) => name.toLowerCase() === "content-security-policy")?.[1] ?? "";
    that(policy.includes("default-src 'none'") && policy.includes("script-src 'self'") && !policy.includes("unsafe-inline"), policy);
  });
  check("every language has its 404", async () => {
    for (const tag of new Set(site.pages.map((p) => p.lang))) that(existsSync(join(site.root, tag, "404.html")), `${tag}/404.html`);
  });
}

function translations(browser, fixture) {
  check("a passage that has fallen behind is marked", async () => {
    const tab = await open(browser, `${fixture.http}/hi/kitchen.html`);
    try {
      equal(await tab.locator(".stale").count(), 2, "marked passages");
      that(/2/.test(await tab.locator(".stale-count").innerText()), "their number");
      const name = await tab.locator(".stale-mark").first().getAttribute("aria-label");
      that(/[\u0900-\u097f]/.test(name), `the mark's name: ${name}`);
    } finally { await close(tab); }
  });
  check("a page without a translation says so", async () => {
    const tab = await open(browser, `${fixture.http}/hi/alone.html`);
    try {
      equal(await tab.evaluate(() => document.documentElement.lang), "hi", "language of the page");
      equal(await tab.locator(".body").getAttribute("lang"), "en", "language of the text");
      that(/English/.test(await tab.locator(".notice").innerText()), "notice");
      that((await tab.locator("link[rel=canonical]").getAttribute("href")).endsWith("/en/alone.html"), "canonical");
      equal(await tab.locator("link[hreflang=hi]").count(), 0, "no alternate for a translation that is not there");
    } finally { await close(tab); }
  });
}

export function run(browser, site, fixture) {
  for (const scheme of ["http", "file"]) {
    search(browser, site, scheme, "en", "memory", "compile.html");
    search(browser, site, scheme, "hi", "4070", "rtx-4070");
    theme(browser, site, scheme);
    languages(browser, site, scheme);
  }
  keyboard(browser, site);
  treeAtTheSide(browser, site);
  translations(browser, fixture);
  tablesOnPhones(browser, site);
  headers(site);
}
