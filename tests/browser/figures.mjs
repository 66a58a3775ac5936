// Numbers and what they say when they are asked: notes with kind, source and command; the table of sources; the menu, the contents
// list, copying and the box of the start page.
import { axe, check, close, equal, open, that } from "./harness.mjs";

const article = (site, lang = "en") => site.pages.find((p) => p.path === `${lang}/rtx-4070.html`);

function note(browser, site, lang, width, colorScheme) {
  check(`a number says where it comes from ${lang} ${width} ${colorScheme}`, async () => {
    const tab = await open(browser, `${site.http}/${article(site, lang).path}`, { viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce" });
    try {
      const link = tab.locator(".body a.fig.computed").first(), box = tab.locator(".source-note");
      that((await link.getAttribute("title")).length > 3, "its kind in words");
      await link.click();
      await box.waitFor();
      that((await box.innerText()).startsWith(await link.getAttribute("title")), "the kind comes first");
      that(/vramcalc estimate .*preset=/.test(await box.locator(".command").innerText()), "the command");
      const way = box.locator("a[href*='calculator.html#']");
      that(new URL(await way.evaluate((a) => a.href)).hash.includes("preset="), "the configuration in the calculator's address");
      equal(await tab.evaluate(() => document.activeElement.className), "source-note", "the focus is on the note");
      const at = await box.boundingBox();
      that(at.x >= 0 && at.x + at.width <= width, `within the page: ${at.x} to ${at.x + at.width}`);
      await axe(tab);
      await tab.keyboard.press("Escape");
      that(await box.isHidden(), "Escape closes it");
      equal(await tab.evaluate(() => document.activeElement.classList.contains("fig")), true, "Escape gives the focus back");
      await link.click();
      await box.locator("a").last().click();
      const row = tab.locator(".sources tr").filter({ has: tab.locator(":target") });
      equal(await row.count(), 1, "row of the source");
      that(await row.isVisible(), "the table is open");
      await tab.locator(".sources :target").click();
      await tab.waitForFunction(() => location.hash.startsWith("#cite-"));   // the table leads back
      equal(tab.complaints.join("; "), "", "console");
    } finally { await close(tab); }
  });
}

function byKeyboard(browser, site) {
  check("a number that gets the focus shows its note", async () => {
    const tab = await open(browser, `${site.file}/${article(site).path}`, { reducedMotion: "reduce" });
    try {
      await tab.locator(".body a:not(.fig)").first().focus();
      for (let i = 0; i < 30 && !await tab.evaluate(() => document.activeElement.matches("a.fig")); i++) await tab.keyboard.press("Tab");
      await tab.locator(".source-note").waitFor();
      equal(await tab.evaluate(() => document.activeElement.matches("a.fig")), true, "the focus stays on the number");
      await tab.keyboard.press("Enter");
      equal(await tab.evaluate(() => document.activeElement.className), "source-note", "Enter goes into the note");
      await tab.locator("h1").click();
      that(await tab.locator(".source-note").isHidden(), "a click elsewhere closes it");
    } finally { await close(tab); }
  });
  check("touch shows the note", async () => {
    const tab = await open(browser, `${site.http}/${article(site).path}`, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    try {
      await tab.locator(".body a.fig.computed").first().tap();
      await tab.locator(".source-note").waitFor();
    } finally { await close(tab); }
  });
}

function withoutScript(browser, site) {
  check("without a script a number opens its row", async () => {
    const tab = await open(browser, `${site.http}/${article(site).path}`, { javaScriptEnabled: false });
    try {
      equal(await tab.locator(".sources td:visible").count(), 0, "the table is folded");
      await tab.locator(".body a.fig").first().click();
      that(await tab.locator(".sources tr").filter({ has: tab.locator(":target") }).isVisible(), "its row is shown");
    } finally { await close(tab); }
  });
}

function frame(browser, site) {
  check("the menu says where one is", async () => {
    for (const lang of new Set(site.pages.map((p) => p.lang))) {
      const page = site.pages.find((p) => p.lang === lang && p.name === "glossary.html");
      const tab = await open(browser, `${site.http}/${page.path}`, { viewport: { width: 360, height: 740 } });
      try {
        equal(await tab.locator(".menu a").count(), 4, "entries");
        that((await tab.locator(".menu [aria-current=page]").getAttribute("href")).endsWith("glossary.html"), "the current one");
        that(await tab.locator(".crumbs a").first().isVisible(), "breadcrumbs");
      } finally { await close(tab); }
    }
  });
  check("the contents mark the current section", async () => {
    const tab = await open(browser, `${site.http}/${article(site).path}`, { reducedMotion: "reduce" });
    try {
      const id = await tab.evaluate(() => { const all = document.querySelectorAll(".toc a"); return all[all.length - 2].hash; });
      await tab.locator(id).evaluate((e) => e.scrollIntoView());
      await tab.waitForFunction((hash) => document.querySelector(".toc [aria-current]")?.hash === hash, id);
      equal(await tab.locator(".toc [aria-current]").count(), 1, "marks");
    } finally { await close(tab); }
  });
  for (const clipboard of [true, false]) {
    check(`code is copied${clipboard ? "" : " without navigator.clipboard"}`, async () => {
      const page = site.pages.find((p) => p.lang === "en" && p.path.includes("gpu-out-of-memory"));
      const before = clipboard ? undefined : () => Object.defineProperty(navigator, "clipboard", { value: undefined });
      const tab = await open(browser, `${site.http}/${page.path}`, { permissions: ["clipboard-read", "clipboard-write"], before });
      try {
        const box = tab.locator(".code").filter({ has: tab.locator(".language-python") }).first();
        equal(await box.locator(".code-bar span").innerText(), "python", "language");
        await box.locator("button").click();
        await tab.waitForFunction((e) => e.textContent === document.body.dataset.copied, await box.locator("button").elementHandle());
        equal(tab.complaints.join("; "), "", "console");
      } finally { await close(tab); }
    });
  }
  check("the start page's box opens the calculator", async () => {
    const tab = await open(browser, `${site.http}/en/index.html`);
    try {
      equal(await tab.locator(".doors a").count(), 2, "doors");
      await tab.locator("#paste").fill("CUDA out of memory. Tried to allocate 6.14 GiB.");
      await tab.locator(".paste button").click();
      await tab.waitForURL(/calculator\.html#/);
    } finally { await close(tab); }
  });
}

export function run(browser, site) {
  for (const lang of ["en", "de", "hi", "ar"]) for (const [width, theme] of [[360, "light"], [1280, "dark"]]) note(browser, site, lang, width, theme);
  byKeyboard(browser, site);
  withoutScript(browser, site);
  frame(browser, site);
}
