// The calculator's pictures of a card: what a server has room for, cells, the allocator's segments; held against the command line.
import { axe, equal, that } from "./harness.mjs";
import { calculator, vramcalc } from "./calculator.mjs";
import { execFileSync, spawnSync } from "node:child_process";

// ---- serving --------------------------------------------------------------------------------------------

const SERVED = ["preset=llama-3.1-8b gpu='RTX 4090' seq_len=8192", "preset=llama-3.1-8b gpu='RTX 3060' seq_len=8192 quantization=q4_k_m kv_dtype=q8_0",
  "preset=qwen2.5-7b gpu='RTX 4090' quantization=awq seq_len=4096", "preset=llama-3.1-70b gpu='RTX 3090' quantization=q4_k_m tensor_parallel=2 seq_len=4096",
  "preset=llama-3.1-70b gpu='RTX 4090'", "preset=llama-3.1-8b gpu='L4' gpu_memory_utilization=0.5 kv_dtype=fp8 max_new_tokens=1024"];
const wordsOf = (text) => Array.from(text.matchAll(/(?:[^\s']+|'[^']*')+/g), (m) => m[0].replace(/'/g, ""));

function serve(browser, site, scheme) {
  const state = "#preset=llama-3.1-8b&task=inference&gpu=RTX+4090";
  calculator(browser, `what a server has room for is the command line's ${scheme}`, { base: site[scheme], state }, async (tab) => {
    for (const words of SERVED) {
      // exit code 1 where nothing fits; the answer is written all the same
      const line = JSON.parse(spawnSync(vramcalc, ["serve", "--format", "json", ...wordsOf(words)], { encoding: "utf8" }).stdout);
      const page = await tab.evaluate((state) => { window.vramPage.replace({ ...state, task: "inference" }); return window.vramPage.report; },
        Object.fromEntries(wordsOf(words).map((pair) => pair.split("="))));
      for (const key of ["server", "weights_bytes", "work_bytes", "pool_bytes", "tokens", "sequences", "longest", "length"]) equal(page[key], line[key], `${words}: ${key}`);
      equal(await tab.locator("#calc").getAttribute("data-verdict"), line.sequences ? "fits" : "not", `${words}: the badge`);
      that(/vramcalc serve/.test(await tab.locator("[data-out=command]").innerText()), "the command is the server's");
    }
  });
  calculator(browser, `the cache by length ${scheme}`, { base: site[scheme], state }, async (tab) => {
    const rows = tab.locator("[data-out=serving] li");
    await rows.nth(7).waitFor();
    that(/\u2713/.test(await rows.first().innerText()) && /\u2717/.test(await rows.last().innerText()), "1k find room, 128k do not");
    const most = await rows.evaluateAll((list) => list.map((li) => Number(li.lastChild.textContent.replace(/\D/g, ""))));
    that(most.every((n, i) => !i || n <= most[i - 1]) && most[0] > most[4], `fewer of longer ones: ${most.join(" ")}`);
    equal(await tab.locator("[data-out=step]:visible, [data-out=advice]:visible, .unused:visible").count(), 0, "pictures of a step");
    if (scheme === "http") await axe(tab);
    await rows.nth(4).locator("button").click();
    equal(await tab.evaluate(() => window.vramPage.report.config.seq_len), 16384, "a length is taken by its button");
    await tab.waitForFunction(() => document.querySelector("[data-out=serving] .now button")?.textContent === "16,384");
    await tab.locator("[data-out=cards] button").first().click();
    await tab.waitForFunction(() => window.vramPage.report.gpu !== "RTX 4090");
    that(await tab.evaluate(() => window.vramPage.report.sequences) >= 1, "a card of the list serves a sequence");
    await tab.locator("[name=quantization]").selectOption("q4_k_m");
    equal(await tab.evaluate(() => window.vramPage.report.server), "llama.cpp", "a type of llama.cpp's");
    await tab.locator(".tasks label", { hasText: "Train" }).click();
    await tab.waitForFunction(() => window.vramPage.report.process_bytes > 0);
    equal(await tab.locator("[data-out=step]").isVisible(), true, "the step is back");
  });
}

// ---- the card as cells, the allocator's segments ----------------------------------------------------------

function card(browser, site) {
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"]]) {
    const options = { viewport: { width, height: 800 }, colorScheme };
    calculator(browser, `the card in cells of 64 MiB ${width} ${colorScheme}`, { base: site.http, state: "#preset=oom-gpt2&gpu=RTX+4070", options }, async (tab) => {
      await tab.locator(".cells").waitFor();
      const [drawn, room, process, over] = await tab.evaluate(() => {
        const count = (e) => (e.getAttribute("d").match(/M/g) || []).length, r = window.vramPage.report;
        const parts = [...document.querySelectorAll(".cells .cat")].reduce((n, e) => n + count(e), 0);
        return [parts + count(document.querySelector(".cells .free")), r.gpu.left_bytes, r.process_bytes, document.querySelectorAll(".cells .edge").length];
      });
      that(Math.abs(drawn - Math.max(room, process) / 2 ** 26) < 8, `${drawn} cells`);   // a part of less than 1 MiB is not drawn
      equal(over, 1, "an edge over which it hangs");
      const letters = await tab.locator(".cells text").allTextContents(), rows = await tab.locator("[data-out=parts] .letter").allInnerTexts();
      equal(letters.join(""), rows.join(""), "the letters of the table");
      const [what, beyond] = await tab.locator(".chess p").allInnerTexts();
      that(/64\sMiB/.test(what) && /0\.81\sGiB/.test(beyond), `what a cell is, and what is beyond: ${what} ${beyond}`);
      await tab.locator("[name=batch_size]").fill("2");
      await tab.waitForFunction(() => !document.querySelector(".cells .edge"));
    });
    calculator(browser, `what is reserved and unused ${width} ${colorScheme}`, { base: site.http, state: "#preset=oom-gpt2&batch_size=8&compile=none&gpu=RTX+4070", options }, async (tab) => {
      await tab.locator(".unused summary").click();
      await tab.locator("svg.segments").waitFor();
      const line = JSON.parse(execFileSync(vramcalc, ["segments", "--format", "json", "preset=oom-gpt2", "batch_size=8", "compile=none"], { encoding: "utf8" }));
      equal(await tab.locator("svg.segments > .gap").count(), line.segments.length, "an outline for each segment");
      const said = await tab.locator("[data-out=segments] p").first().innerText();
      that(said.includes(line.tensor) && said.includes(String(line.free_blocks)), said);
      that(await tab.locator("svg.segments .cat").count() > 20, "blocks");
      const gaps = await tab.evaluate(() => {   // blocks lie in their segment
        const boxes = (s) => [...document.querySelectorAll(s)].map((e) => e.getBBox());
        const all = boxes("svg.segments > .gap");
        return boxes("svg.segments .cat").filter((b) => !all.some((g) => b.x >= g.x - 0.1 && b.x + b.width <= g.x + g.width + 0.5 && b.y === g.y)).length;
      });
      equal(gaps, 0, "blocks outside of their segment");
      await axe(tab);
    });
  }
}

// ---- several GPUs ------------------------------------------------------------------------------------------

// Each bar of the picture: how far its parts and the card's line reach, of the bar's own width, and what stands beside it.
const bars = (tab) => tab.evaluate(() => Array.from(document.querySelectorAll("[data-out=ranks] li:not(.scale, .alike)"), (li) => {
  const box = li.querySelector(".mini").getBoundingClientRect(), rtl = document.documentElement.dir === "rtl";
  const far = (e, end) => (rtl ? box.right - e[end ? "left" : "right"] : e[end ? "right" : "left"] - box.left) / box.width;
  return { name: li.firstChild.textContent, said: li.lastChild.textContent, parts: far(Array.from(li.querySelectorAll(".seg")).at(-1).getBoundingClientRect(), true),
    limit: far(li.querySelector(".limit").getBoundingClientRect(), false) };
}));
const reported = (words) => JSON.parse(spawnSync(vramcalc, ["estimate", "--format", "json", ...wordsOf(words)], { encoding: "utf8" }).stdout);

function severalGpus(browser, site) {
  for (const [width, colorScheme, lang] of [[360, "dark", "en"], [1280, "light", "en"], [360, "light", "ar"]]) {
    const options = { viewport: { width, height: 800 }, colorScheme };
    calculator(browser, `a bar for each GPU ${lang} ${width} ${colorScheme}`, { base: site.http, lang, state: "#preset=llama-3.1-8b&n_gpu=4&parallel=zero3&gpu=RTX+4090", options }, async (tab) => {
      const line = reported("preset=llama-3.1-8b n_gpu=4 parallel=zero3 gpu='RTX 4090'"), top = line.process_bytes * 1.02;
      const four = await bars(tab);
      equal(four.length, 4, "bars");
      for (const bar of four) {
        that(Math.abs(bar.limit - line.gpu.left_bytes / top) < 0.01, `${bar.name}: the card's line is at ${bar.limit}`);
        that(Math.abs(bar.parts - line.process_bytes / top) < 0.01, `${bar.name}: its parts end at ${bar.parts}`);
        that(bar.said.includes("\u2717"), `${bar.name} does not fit: ${bar.said}`);
      }
      that(await tab.locator("[data-out=ranks] .lettered b").count() > 4, "letters");
      await tab.locator("section:has(> [data-out=ranks]) summary").click();
      await tab.locator("[data-out=rank-rows] td").first().waitFor();
      const rows = (await tab.locator("[data-out=rank-rows] td").allInnerTexts()).map((text) => Number(text.normalize("NFKD").replace(/[^0-9]/g, "")));
      const sum = rows.slice(0, -2).reduce((a, b) => a + b);
      that(Math.abs(sum - rows.at(-2)) < rows.length && Math.abs(rows.at(-2) - line.process_bytes / 2 ** 20) <= 1, `${rows} are the parts, their sum and the card`);
      equal(rows.at(-1), Math.round(line.gpu.left_bytes / 2 ** 20), "the card in the table");
      equal(await tab.evaluate(() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth), 0, "too wide by");
      await axe(tab);
      await tab.locator("[name=n_gpu]").fill("1");
      await tab.locator("[data-out=ranks]").waitFor({ state: "hidden" });  // no bars of one GPU
    });
  }
  calculator(browser, "the first and the last stage", { base: site.http, state: "#preset=llama-3.1-8b&n_gpu=4&pipeline_parallel=4&gpu=RTX+4090" }, async (tab) => {
    const two = await bars(tab), lines = ["first", "last"].map((stage) => reported(`preset=llama-3.1-8b n_gpu=4 pipeline_parallel=4 gpu='RTX 4090' pipeline_stage=${stage}`));
    const top = 1.02 * Math.max(...lines.map((line) => Math.max(line.process_bytes, line.gpu.left_bytes)));
    equal(two.length, 2, "bars");
    lines.forEach((line, i) => that(Math.abs(two[i].parts - line.process_bytes / top) < 0.01, `stage ${i}: ${two[i].parts}`));
    equal(await tab.locator("[data-out=rank-names] th").count(), 3, "columns of the table");
  });
}

// A server's share is of a card: without one there is the batch of a generation, which counts.
function withoutCard(browser, site) {
  calculator(browser, "serving without a card", { base: site.http, state: "#preset=llama-3.1-8b&task=inference" }, async (tab) => {
    equal(await tab.locator("form > fieldset [name=gpu_memory_utilization]").count(), 0, "a share of no card");
    const number = await tab.locator("[data-out=number]").innerText();
    await tab.locator("form > fieldset [name=batch_size]").fill("64");
    await tab.waitForFunction((old) => document.querySelector("[data-out=number]").textContent !== old, number);
    equal(await tab.evaluate(() => window.vramPage.report.process_bytes), reported("preset=llama-3.1-8b task=inference batch_size=64").process_bytes, "with 64 sequences");
    await tab.locator("[name=gpu]").fill("RTX 4090");
    await tab.keyboard.press("Enter");
    await tab.locator("form > fieldset [name=gpu_memory_utilization]").waitFor();
    equal(await tab.locator("form > fieldset [name=batch_size]").count(), 0, "the batch of a server, which it chooses");
  });
}

export function run(browser, site) {
  withoutCard(browser, site);
  for (const scheme of ["http", "file"]) serve(browser, site, scheme);
  card(browser, site);
  severalGpus(browser, site);
}
