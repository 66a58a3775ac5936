// The calculator in the page: its numbers are the command line's, its state is in the address, it explains itself.
import { axe, check, close, equal, open, that } from "./harness.mjs";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const vramcalc = join(process.env.BUILD ?? "build", "vramcalc");

export async function ready(browser, base, lang, state = "", options = {}) {
  const tab = await open(browser, `${base}/${lang}/calculator.html${state}`, options);
  await tab.locator("#calc.ready").waitFor();
  await tab.locator("#calc.whole").waitFor();   // every script is there and has answered once
  return tab;
}

// Runs one check in a tab of its own, at whose end nothing may have been complained of.
export function calculator(browser, name, { base, lang = "en", state = "", options = {} }, body) {
  return check(`calculator: ${name}`, async () => {
    const tab = await ready(browser, base, lang, state, options);
    try {
      await body(tab);
      equal(tab.complaints.join("; "), "", "console");
    } finally { await close(tab); }
  });
}

// As the page itself has it: what the browser tells of it comes later.
const address = (tab) => tab.evaluate(() => location.href);
const bytes = (tab) => tab.evaluate(() => window.vramPage.report.process_bytes);
// Of what is set now: asking for the report has it made, where a slow machine had put that off.
export const verdict = (tab) => tab.evaluate(() => (window.vramPage.report, document.querySelector("[data-out=verdict]").innerText));
const wrong = (tab) => tab.evaluate(() => (window.vramPage.report, document.querySelector("#calc").classList.contains("wrong")));

// A number generator that gives the same numbers everywhere.
function random(seed) {
  return (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor(seed / 65536) % n; };
}

function configs(count) {
  const next = random(20), pick = (list) => list[next(list.length)];
  return Array.from({ length: count }, () => {
    const heads = pick([2, 4, 6, 8, 12]);
    return {
      n_layer: 1 + next(16), n_head: heads, n_embd: heads * pick([32, 64]), vocab_size: pick([65, 256, 32000, 50304]),
      block_size: pick([64, 256, 512, 1024]), batch_size: 1 + next(24), gradient_accumulation_steps: pick([1, 2, 8]),
      dtype: pick(["float32", "float16", "bfloat16"]), compile: pick(["none", "2.4", "2.5"]),
      checkpointing: pick(["none", "block"]), optimizer: pick(["adamw_fused", "adamw_foreach", "sgd", "adamw_8bit"]),
      gpu: pick(["RTX 4070", "RTX 4090", "T4"]),
    };
  });
}

const shown = ["peak_live_bytes", "peak_allocated_bytes", "peak_reserved_bytes", "context_bytes", "process_bytes", "params"];

function parity(browser, site) {
  calculator(browser, "200 configs as on the command line", { base: site.http }, async (tab) => {
    const list = configs(200);
    const pages = await tab.evaluate((list) => list.map((config) =>
      window.vramPage.core.estimate(Object.entries(config).map(([k, v]) => `${k} = ${v}`).join("\n")).value), list);
    list.forEach((config, i) => {
      const words = Object.entries(config).map(([key, value]) => `${key}=${value}`);
      let line;
      try {
        line = JSON.parse(execFileSync(vramcalc, ["estimate", "--format", "json", ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }));
      } catch (error) { line = { error: String(error.stderr) }; }
      if (line.error) { that(pages[i].error, `${words.join(" ")}: only the command line refuses it: ${line.error}`); return; }
      for (const key of shown) equal(pages[i][key], line[key], `${words.join(" ")}: ${key}`);
    });
  });
}

// Links to runs that the first number's module leaves out: what the whole library says of them, and what a page says to which it
// does not come.
const LEFT_OUT = ["preset=gemma-3n-e2b&gpu=RTX+4090", "preset=llama-3.2-1b&compile=2.5&checkpointing=block", "preset=qwen3-4b&trainer=dpo&lora_rank=16&checkpointing=block",
  "preset=qwen3-30b-a3b&framework=torchtitan&parallel=fsdp2&n_gpu=8&expert_parallel=8&checkpointing=block", "preset=llama-3.2-1b&parallel=fsdp2&n_gpu=2"];

function whole(browser, site) {
  calculator(browser, "what the first number leaves out, as on the command line", { base: site.http }, async (tab) => {
    for (const state of LEFT_OUT) {
      await tab.goto("about:blank");
      await tab.goto(`${site.http}/en/calculator.html#${state}`);
      await tab.locator("#calc.whole").waitFor();
      const report = await tab.evaluate(() => (document.querySelector("#calc").classList.contains("wrong") ? {} : window.vramPage.report));
      const line = JSON.parse(execFileSync(vramcalc, ["estimate", "--format", "json", ...[...new URLSearchParams(state)].map((pair) => pair.join("="))], { encoding: "utf8" }));
      for (const key of shown) equal(report[key], line[key], `${state}: ${key}`);
    }
    that(await tab.evaluate(() => window.vramPage.presets.some((preset) => preset.value === "gemma-3n-e2b")), "the list of presets is the whole one");
    await tab.evaluate(() => { document.querySelector(".all").open = true; });   // what comes above moves it away from a click
    await tab.locator("[name=all-expert_parallel]").waitFor();
  });
  check("calculator: the whole library does not come", async () => {
    const prepare = (page) => page.route(/vram-whole/, (route) => route.abort());
    const tab = await ready(browser, site.http, "en", "#preset=gpt2&n_head=7", { prepare });
    try {
      that(/n_head|n_embd/.test(await verdict(tab)), `what is wrong is said: ${await verdict(tab)}`);
      await tab.locator("[name=n_head], [data-out=remedies] button").first().click();
      equal(await wrong(tab), false, "and its remedy helps");
      that(await bytes(tab) > 1e9, "the first number's library goes on");
    } finally { await close(tab); }
  });
}

// ---- it does not mislead ---------------------------------------------------------------------------

function honest(browser, site) {
  calculator(browser, "for each preset the length in the form counts", { base: site.http }, async (tab) => {
    const left = await tab.evaluate(() => {
      const page = window.vramPage, missed = [];
      for (const preset of page.core.ask("presets").value) {
        page.replace({ preset: preset.name });
        const input = document.querySelector("[data-out=fields] :is([name=seq_len], [name=block_size])"), before = page.report.process_bytes;
        const config = page.report.config;
        if (Number(input.value) !== (config.seq_len || config.block_size)) missed.push(`${preset.name} shows ${input.value}`);
        input.value = String(Number(input.value) / 2);
        input.dispatchEvent(new Event("input", { bubbles: true }));
        if (page.report.process_bytes === before) missed.push(preset.name);
      }
      return missed;
    });
    equal(left.join(" "), "", "presets whose length does not count");
  });
  const state = "#preset=gpt2&batch_size=3&gpu=RTX+3060";
  calculator(browser, "a link within the page keeps the run", { base: site.http, state, options: { reducedMotion: "reduce" } }, async (tab) => {
    const before = await bytes(tab);
    await tab.locator(".skip").focus();
    await tab.keyboard.press("Enter");
    await tab.waitForFunction(() => location.hash === "#main");
    await tab.evaluate(() => new Promise((done) => { addEventListener("hashchange", () => setTimeout(done), { once: true }); location.hash = "#table"; }));
    equal(await bytes(tab), before, "the run after two places");
    equal(await tab.locator("[name=batch_size]").inputValue(), "3", "batch_size");
    that(/table$/.test(await address(tab)), `the place is still in the address: ${await address(tab)}`);
    equal(await tab.locator("#main").evaluate((e) => getComputedStyle(e).backgroundColor), "rgba(0, 0, 0, 0)", "the page as a target");
  });
  calculator(browser, "what is wrong is marked and the old answer dimmed", { base: site.http, state: "#preset=gpt2&gpu=RTX+4070" }, async (tab) => {
    await tab.locator("[name=batch_size]").fill("many");
    await tab.locator("#calc.wrong").waitFor();
    equal(await tab.locator("[name=batch_size]").getAttribute("aria-invalid"), "true", "aria-invalid");
    const id = await tab.locator("[name=batch_size]").getAttribute("aria-describedby");
    that((await tab.locator(`#${id}`).innerText()).includes("many"), "the sentence says what was written");
    that(await tab.locator(".answer").evaluate((e) => Number(getComputedStyle(e).opacity) < 0.6), "the old answer is dimmed");
    await axe(tab);
    await tab.locator("[name=batch_size]").fill("4");
    equal(await wrong(tab), false, "after mending");
    equal(await tab.locator("[aria-invalid]").count(), 0, "marks after mending");
  });
  const heads = "#preset=gpt2&n_head=7&gpu=RTX+4070";
  calculator(browser, "an error offers what mends it", { base: site.http, state: heads }, async (tab) => {
    that(await wrong(tab), "seven heads are wrong");
    await tab.locator("[data-out=remedies] button").first().click();
    equal(await wrong(tab), false, "after the remedy");
    that(/n_head=6/.test(await address(tab)), await address(tab));
  });
}

const WRITTEN = [["1,024", 1024], ["1.024", 1024], ["1 024", 1024], ["1\u202f024", 1024], ["1'024", 1024], ["1k", 1024], ["0.5k", 512], ["1024.0", 1024],
  ["\u0967\u0966\u0968\u096a", 1024], ["\uff11\uff10\uff12\uff14", 1024], ["\u0661\u066c\u0660\u0662\u0664", 1024], ["  512 ", 512]];

function numbers(browser, site) {
  calculator(browser, "numbers as people write them", { base: site.http, state: "#preset=gpt2" }, async (tab) => {
    for (const [text, wanted] of WRITTEN) {
      await tab.locator("[name=block_size]").fill("256");
      await tab.locator("[name=block_size]").fill(text);
      equal(await wrong(tab), false, `${text} is read`);
      equal(await tab.evaluate(() => window.vramPage.report.config.block_size), wanted, text);
    }
    await tab.evaluate(() => { document.querySelector(".all").open = true; });
    await tab.locator("[name=all-vocab_size]").fill("50,257");
    equal(await tab.evaluate(() => window.vramPage.report.config.vocab_size), 50257, "50,257");
    await tab.locator("[name=all-dropout]").fill("0,1");
    equal(await tab.evaluate(() => window.vramPage.report.config.dropout), 0.1, "0,1");
  });
}

// ---- what a reader does --------------------------------------------------------------------------------

function use(browser, site, scheme) {
  const state = "#preset=oom-gpt2&gpu=RTX+4070";
  calculator(browser, `change, apply, undo, share ${scheme}`, { base: site[scheme], state }, async (tab) => {
    that(/not fit/.test(await verdict(tab)), await verdict(tab));
    that(/not fit/.test(await tab.locator("[data-out=badge]").innerText()), "the badge says it, too");
    const before = await address(tab), first = tab.locator("[data-out=advice] button").first();
    await first.waitFor();
    await first.hover();
    equal(await tab.locator(".ghost").count(), 1, "what the bar would be");
    await first.focus();
    await tab.keyboard.press("Enter");
    await tab.waitForFunction(() => /^Fits/.test(document.querySelector("[data-out=verdict]").textContent));
    that(/batch_size=/.test(await address(tab)), `state in the address: ${await address(tab)}`);
    that(await tab.locator("[data-out=chips] li").count() >= 1, "what was applied is a chip");
    that(/batch_size=\d/.test(await tab.locator("[data-out=command]").innerText()), "and in the command");
    await tab.waitForFunction(() => document.activeElement.closest(".advice"));
    await tab.locator("[data-out=toast] button").click();
    await tab.waitForFunction(() => /not fit/.test(document.querySelector("[data-out=verdict]").textContent));
    equal(await address(tab), before, "address after undoing");
    await tab.goForward();
    await tab.waitForFunction(() => /^Fits/.test(document.querySelector("[data-out=verdict]").textContent));
    const link = await address(tab), text = await verdict(tab);
    await tab.goto("about:blank");
    await tab.goto(link);
    await tab.locator("#calc.whole").waitFor();
    equal(await verdict(tab), text, "what a link shows");
    await tab.locator("[data-out=flags]").filter({ hasText: /--batch_size=\d+/ }).waitFor();
    await tab.locator("[name=batch_size]").fill("64");
    that(/not fit/.test(await verdict(tab)), "64 sequences");
    for (let chip = 0; await tab.locator("[data-out=chips] button").count() && chip < 9; chip++) await tab.locator("[data-out=chips] button").first().click();
    equal(new URL(await address(tab)).hash, state, "address without chips");
    equal(tab.requested.some((url) => url.endsWith(".wasm")), scheme === "http", "the module is fetched as it is");
    equal(tab.requested.some((url) => /vram\.wasm\.\w+\.js$/.test(url)), scheme === "file", "the module is a script");
  });
}

async function choose(tab, name, text) {
  await tab.locator(`[name=${name}]`).click();
  await tab.locator(`[name=${name}]`).fill(text);
  await tab.keyboard.press("Enter");
}

function tasks(browser, site) {
  const base = site.http;
  check("calculator: from home, a message to an applied fix", async () => {
    const tab = await open(browser, `${base}/en/index.html`);
    try {
      await tab.locator("form.paste textarea").fill("CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total capacity of 11.60 GiB of which 512.00 MiB is free.");
      await tab.locator("form.paste button").click();
      await tab.locator("[data-out=pasted] li").first().waitFor();
      await tab.locator("[data-out=advice] button").first().click();
      await tab.waitForFunction(() => /^Fits/.test(document.querySelector("[data-out=verdict]").textContent));
      equal(tab.complaints.join("; "), "", "console");
    } finally { await close(tab); }
  });
  calculator(browser, "8B QLoRA on 24 GB", { base }, async (tab) => {
    await tab.locator(".tasks label", { hasText: "Fine-tune" }).click();
    await choose(tab, "preset", "llama 3.1 8b");
    await choose(tab, "gpu", "4090");
    await tab.locator("[name=quantization]").selectOption("nf4");
    await tab.locator("[name=checkpointing]").selectOption("block");
    equal(await tab.locator("[name=gpu]").inputValue(), "RTX 4090", "the card");
    const config = await tab.evaluate(() => window.vramPage.report.config);
    equal([config.family, config.n_layer, config.lora_rank, config.quantization].join(" "), "llama 32 16 nf4", "configuration");
    that(/^Fits|^Probably fits/.test(await verdict(tab)), await verdict(tab));
  });
  calculator(browser, "FSDP on two cards of 24 GB", { base, state: "#preset=llama-3.1-8b&gpu=RTX+3090" }, async (tab) => {
    const alone = await bytes(tab);
    await tab.locator("[name=n_gpu]").fill("2");
    equal(await tab.locator("[name=parallel]").inputValue(), "fsdp2", "the scheme");
    const two = await bytes(tab);
    await tab.locator("[name=n_gpu]").fill("8");
    that(await bytes(tab) < two, "eight take less each");
    await tab.locator("[name=n_gpu]").fill("1");
    equal(await bytes(tab), alone, "one again");
  });
  for (const [torch, variable] of [["2.8", "PYTORCH_CUDA_ALLOC_CONF"], ["2.9", "PYTORCH_ALLOC_CONF"], ["2.15", "PYTORCH_ALLOC_CONF"]])
    calculator(browser, `the allocator's variable of PyTorch ${torch}`, { base, state: `#preset=gpt2&expandable_segments=true&torch=${torch}` }, async (tab) => {
      const line = tab.locator("[data-out=flags]").filter({ hasText: "train.py" });
      await line.waitFor();
      equal((await line.innerText()).trim().split("=")[0], variable, "the line");
    });
  calculator(browser, "70B at 4 bit with 32k on 80 GB", { base }, async (tab) => {
    await tab.locator(".tasks label", { hasText: "Serve" }).click();
    await choose(tab, "preset", "llama-3.1-70b");
    await choose(tab, "gpu", "a100 80gb");
    await tab.locator("[name=quantization]").selectOption("nf4");
    await tab.locator("[name=seq_len]").fill("32k");
    equal(await tab.evaluate(() => window.vramPage.report.config.seq_len), 32768, "32k");
    that(await tab.evaluate(() => window.vramPage.report.sequences) >= 1, "a sequence");
    that(/fits/.test(await tab.locator("[data-out=badge]").innerText()), await tab.locator("[data-out=badge]").innerText());
  });
  calculator(browser, "a list is searched, by keyboard and by hand", { base }, async (tab) => {
    await tab.locator("[name=gpu]").click();
    that(await tab.locator("#calc-gpus [role=group]").count() > 3, "cards are grouped");
    await axe(tab);
    await tab.locator("[name=gpu]").fill("h100");
    equal(await tab.locator("#calc-gpus [role=option]").filter({ hasNotText: "H100" }).count(), 0, "others than H100");
    await tab.keyboard.press("Escape");
    equal(await tab.locator("[name=gpu]").inputValue(), "RTX 4070", "Escape leaves the card");
    await tab.locator("[name=gpu]").fill("no such card");
    await tab.keyboard.press("Tab");
    equal(await tab.locator("[name=gpu]").inputValue(), "RTX 4070", "so does leaving the field");
    await tab.locator("[name=gpu]").click();
    await tab.locator("#calc-gpus [role=option]", { hasText: "RTX 4090" }).first().click();
    that(/gpu=RTX\+4090/.test(await address(tab)), await address(tab));
  });
}

// A value for a field that differs from its default and that the library reads.
function another(field) {
  if (field.type === "bool") return String(!field.default);
  if (field.type === "enum") return field.values.find((value) => value !== field.default);
  if (field.type === "set") return field.values[0];
  if (field.type === "version") return field.key === "torch" ? "2.4" : "4.40";
  if (field.type === "list") return "512+256";
  if (field.type === "fraction") return "0.25";
  return String(Math.min(field.max, Math.max(field.min, field.default * 2 || 64)));
}

function fields(browser, site) {
  calculator(browser, "each field by form, address and paste", { base: site.http }, async (tab) => {
    const list = await tab.evaluate(() => window.vramPage.core.ask("fields").value);
    that(list.length > 60, `${list.length} fields`);
    await tab.evaluate(() => { document.querySelector(".all").open = true; });
    await tab.locator("[name=all-n_layer]").waitFor();
    for (const field of list) {
      const value = another(field);
      const [form, address, paste] = await tab.evaluate(([key, value]) => {
        const page = window.vramPage, start = { preset: "gpt2", gpu: "RTX 4070" };
        const said = () => {
          const answer = page.core.estimate(page.flat());
          return JSON.stringify(answer.code ? answer.value.error.id : [answer.value.process_bytes, String(answer.value.config[key])]);
        };
        page.replace({ ...start });
        const control = document.querySelector(`[name=all-${key}]`);
        control.value = value;
        control.dispatchEvent(new Event("input", { bubbles: true }));
        const form = said();
        page.replace({ ...start, [key]: value });
        const address = said();
        page.replace({ ...start });
        page.paste(`preset = gpt2\ngpu = RTX 4070\n${key} = ${value}`);
        return [form, address, said()];
      }, [field.key, value]);
      equal(form, address, `${field.key} = ${value}: form and address`);
      equal(paste, address, `${field.key} = ${value}: paste and address`);
      that(!/bad_|unknown_|out_of_range/.test(form), `${field.key} = ${value} is not read: ${form}`);
    }
  });
}

// ---- the step as a picture ------------------------------------------------------------------------------

// Runs of all tasks, small enough for their trace to be read line by line here.
const RUNS = ["preset=oom-gpt2", "preset=nanogpt-30m", "preset=shakespeare-char checkpointing=block", "preset=hf-gpt2 batch_size=4 compile=2.5",
  "preset=qwen3-0.6b lora_rank=8", "preset=smollm2-135m lora_rank=4 quantization=nf4", "preset=pythia-160m n_gpu=2 parallel=fsdp2",
  "preset=gemma-2b task=inference quantization=int8", "preset=smollm2-360m task=inference seq_len=4096 max_new_tokens=8", "preset=olmo-2-1b n_gpu=4 parallel=zero2"];

// The largest moment of `vramcalc trace` and the five tensors that are largest then, those of a name together.
function traced(words) {
  const rows = execFileSync(vramcalc, ["trace", ...words.split(" ")], { encoding: "utf8", maxBuffer: 1 << 28 }).trim().split("\n").slice(1).map((row) => row.split(","));
  const peak = rows.reduce((best, row) => (Number(row[4]) > Number(best[4]) ? row : best));
  const live = new Map(), sums = new Map();
  for (const row of rows.slice(0, Number(peak[0]) + 1)) row[1] === "alloc" ? live.set(row[2], row) : live.delete(row[2]);
  for (const row of live.values()) sums.set(row[6], (sums.get(row[6]) ?? 0) + Number(row[3]));
  return { bytes: Number(peak[4]), event: Number(peak[0]), op: peak[7], five: [...sums].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([, bytes]) => bytes) };
}

function step(browser, site, scheme) {
  calculator(browser, `the picture's peak is the trace's ${scheme}`, { base: site[scheme] }, async (tab) => {
    for (const words of scheme === "http" ? RUNS : RUNS.slice(0, 1)) {
      const wanted = traced(words), state = Object.fromEntries(words.split(" ").map((pair) => pair.split("=")));
      const got = await tab.evaluate(async (state) => {
        const page = window.vramPage;
        page.replace(state);
        const t = await new Promise((done) => page.later("test", "ask", ["timeline"], (answer) => done(answer.value)));
        const at = await new Promise((done) => page.later("test", "moment", [t.peak_event], (answer) => done(answer.value)));
        const point = t.points.find((p) => p[0] === t.peak_event);
        return { bytes: point.slice(1).reduce((a, b) => a + b), said: t.peak_bytes, event: t.peak_event, op: at.op, five: at.tensors.map((x) => x.bytes) };
      }, state);
      equal(got.bytes, wanted.bytes, `${words}: peak`);
      equal(got.said, wanted.bytes, `${words}: what the library calls the peak`);
      equal(got.event, wanted.event, `${words}: moment`);
      equal(got.op, wanted.op, `${words}: operation`);
      equal(got.five.join(" "), wanted.five.join(" "), `${words}: five tensors`);
    }
  });
  calculator(browser, `the picture by keyboard and pointer ${scheme}`, { base: site[scheme] }, async (tab) => {
    const slider = tab.locator("[data-out=step]"), said = () => slider.getAttribute("aria-valuetext");
    await slider.locator("svg").waitFor();
    that(/logits/.test(await said()), `at first the peak: ${await said()}`);
    await slider.focus();
    await tab.keyboard.press("Home");
    await tab.waitForFunction(() => /:.*weight/.test(document.querySelector("[data-out=step]").getAttribute("aria-valuetext")));
    equal(await slider.getAttribute("aria-valuenow"), "0", "Home");
    const first = await said();
    await tab.keyboard.press("PageDown");
    await tab.keyboard.press("PageUp");
    that(await said() !== first, "PageUp moves");
    const box = await slider.boundingBox();
    await slider.hover({ position: { x: box.width * 0.9, y: 200 } });
    that(Number(await slider.getAttribute("aria-valuenow")) > 100, "the pointer moves it");
    equal(await tab.locator("[data-out=tensors] li").count() <= 5, true, "at most five tensors");
  });
  calculator(browser, `what is saved ${scheme}`, { base: site[scheme] }, async (tab) => {
    await tab.locator("[data-out=step] svg").waitFor();
    equal(await tab.locator("[data-out=step] line.card").count(), 1, "the card's line");
    for (const [kind, first] of [["svg", "<svg"], ["png", "\x89PNG"], ["csv", "event,kind,id"], ["viz", "\x80"], ["perfetto", "{"]]) {
      const [download] = await Promise.all([tab.waitForEvent("download"), tab.locator(`[data-save=${kind}]`).click()]);
      const bytes = readFileSync(await download.path());
      equal(bytes.subarray(0, first.length).toString("latin1"), first, `beginning of the ${kind}`);
      that(bytes.length > 1000, `${kind} has ${bytes.length} bytes`);
      if (kind === "svg") {
        that(!/class=|var\(|NaN/.test(bytes.toString()), "the SVG stands alone");
        const parts = await tab.evaluate(() => [...document.querySelectorAll("[data-out=step] path.cat")].map((e) => window.vramPage.words.parts[e.getAttribute("class").slice(4)]));
        for (const words of [...parts, await tab.locator("#calc-time").textContent(), "the card less the context"]) that(bytes.includes(words), `the SVG says ${words}`);
      }
      if (kind === "csv") equal(bytes.toString(), execFileSync(vramcalc, ["trace", "preset=oom-gpt2"], { encoding: "utf8", maxBuffer: 1 << 26 }), "the CSV is the command line's");
    }
  });
}

function order(browser, site) {
  for (const [state, fits] of [["#preset=oom-gpt2&gpu=RTX+4070", true], ["#preset=llama-3.1-8b&gpu=A100+80GB+SXM&n_gpu=12&parallel=fsdp2", false]])
    calculator(browser, `advice in its order ${state}`, { base: site.http, state }, async (tab) => {
      await tab.locator("[data-out=advice] button").nth(3).waitFor();
      const list = await tab.locator("[data-out=advice] li").evaluateAll((items) => items.map((li) => {
        const said = li.querySelector("p:not(.change)").textContent;
        return { fits: Boolean(li.querySelector(".badge")), other: /a different training/.test(said), saved: Number(/([\d.]+)\s[GM]iB/.exec(said)[1]) };
      }));
      that(list.some((a) => a.fits) === fits, "what makes it fit is marked where it does not");
      const rank = (a) => (!a.fits ? 2 : a.other ? 1 : 0), text = JSON.stringify(list);
      that(list.every((a, i) => !i || rank(list[i - 1]) < rank(a) || (rank(list[i - 1]) === rank(a) && list[i - 1].saved >= a.saved)), text);
      that(list[0].saved > 2 * list.at(-1).saved, text);
    });
}

function lateAdvice(browser, site) {
  calculator(browser, "advice for the run before cannot be applied", { base: site.http, state: "#preset=oom-gpt2&gpu=RTX+4070" }, async (tab) => {
    const first = tab.locator("[data-out=advice]:not(.late) button").first();
    await first.scrollIntoViewIfNeeded();
    const reached = () => tab.evaluate(() => {
      const button = document.querySelector("[data-out=advice] button"), r = button.getBoundingClientRect();
      return button.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2));
    });
    that(await reached(), "a click reaches the advice");
    await tab.evaluate(() => {
      const later = window.vramPage.later;
      window.vramPage.later = (kind, ...more) => (kind === "advise" ? (window.asked = () => later(kind, ...more)) : later(kind, ...more));
      window.vramPage.change({ gpu: "RTX 4060" }, "push");
    });
    await tab.waitForFunction(() => window.asked);
    that(!await reached(), "a click reaches what was advised for another card");
    await tab.evaluate(() => window.asked());
    await first.waitFor();
    that(await reached(), "a click reaches the new advice");
  });
}

function beyond(browser, site) {
  calculator(browser, "the largest that fits, and cards", { base: site.http }, async (tab) => {
    const largest = tab.locator("[data-solve=batch_size]:not(.late) button");
    await largest.waitFor();
    const shown = await largest.elementHandle();
    await tab.evaluate(() => {   // an answer may come before the next picture: late is no matter of what is painted
      new MutationObserver(() => { window.wasLate ||= Boolean(document.querySelector("[data-solve=batch_size].late")); })
        .observe(document.getElementById("calc"), { subtree: true, attributeFilter: ["class"] });
      window.vramPage.update();
    });
    await tab.waitForFunction(() => window.wasLate);
    await largest.waitFor();
    that(await shown.evaluate((e) => e.isConnected), "the same answer leaves its button where it is");
    await largest.click();
    await tab.waitForFunction(() => /^Fits/.test(document.querySelector("[data-out=verdict]").textContent));
    const fits = Number(await tab.locator("[name=batch_size]").inputValue());
    await tab.locator("[name=batch_size]").fill(String(fits + 1));
    that(!/^Fits/.test(await verdict(tab)), `${fits + 1} fit, too`);
    await tab.locator("[name=batch_size]").fill("64");
    await tab.waitForFunction(() => window.vramPage.report.config.batch_size === 64 && window.vramPage.settled());
    const cards = tab.locator("[data-out=cards]:not(.late)");
    await cards.waitFor();
    that(!/T4/.test(await cards.innerText()), "cards of the run before");
    await cards.locator("button").first().click();
    await tab.waitForFunction(() => /fits/i.test(document.querySelector("[data-out=verdict]").textContent));
  });
}

// ---- what is pasted ----------------------------------------------------------------------------------------

const llama = { model_type: "llama", hidden_size: 256, num_hidden_layers: 3, num_attention_heads: 4, intermediate_size: 512, vocab_size: 1000, max_position_embeddings: 128 };
const SMI = `| NVIDIA-SMI 550.54.14   Driver Version: 550.54.14   CUDA Version: 12.4 |
|   0  NVIDIA GeForce RTX 3090        On  |   00000000:01:00.0 Off |  N/A |
| 30%   41C    P8    22W / 350W |    1234MiB /  24576MiB |      0%      Default |`;
const PASTED = [
  ["a nanoGPT config", "batch_size = 3\nblock_size = 256\nn_layer = 5\nn_head = 4\nn_embd = 128\ndtype = 'float16'\ncompile = False\n", { n_layer: 5, batch_size: 3, dtype: "float16" }],
  ["a config.json", JSON.stringify(llama), { n_layer: 3, family: "llama" }],
  ["lines", "lora_rank = 16\nquantization = nf4\nfamily = llama", { lora_rank: 16, quantization: "nf4", family: "llama" }],
  ["its own command", "vramcalc estimate preset=llama-3.1-8b lora_rank=8 quantization=nf4 gpu='RTX 4090'", { n_layer: 32, lora_rank: 8, gpu: "RTX 4090" }],
  ["its own flags", "python train.py --batch_size=7 --block_size=512 --n_layer=4 --n_head=4 --n_embd=128 --compile=False", { batch_size: 7, block_size: 512, n_layer: 4 }],
  ["a launch script", "#!/bin/bash\nGPUS=4\ntorchrun --nproc_per_node $GPUS train.py \\\n  --model_name_or_path meta-llama/Llama-3.1-8B \\\n  --per_device_train_batch_size 2 --fsdp \"full_shard auto_wrap\" --bf16 True\n",
    { n_layer: 32, batch_size: 2, n_gpu: 4, parallel: "fsdp2" }],
  ["a server's command", "vllm serve Qwen/Qwen3-8B --max-model-len 8192 --gpu-memory-utilization 0.8", { n_layer: 36, task: "inference", seq_len: 8192 }],
  ["a link", "https://example.org/en/calculator.html#preset=qwen3-8b&batch_size=2", { n_layer: 36, batch_size: 2 }],
  ["TrainingArguments", "args = TrainingArguments(per_device_train_batch_size=4, gradient_checkpointing=True,\n  learning_rate=1e-4)", { batch_size: 4, checkpointing: "block", n_layer: 36 }],
  ["axolotl", "base_model: meta-llama/Llama-3.1-8B\nload_in_4bit: true\nadapter: qlora\nlora_r: 32\nsequence_len: 4096\nmicro_batch_size: 2\ngradient_checkpointing: true\n",
    { n_layer: 32, lora_rank: 32, seq_len: 4096, batch_size: 2, checkpointing: "block" }],
  ["DeepSpeed", '{"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}, "train_micro_batch_size_per_gpu": 3}', { n_layer: 32, parallel: "zero3", batch_size: 3 }],
  ["nvidia-smi", SMI, { gpu: "RTX 3090", other_memory: 1234 }],
  ["a name on the Hub", "meta-llama/Llama-3.1-8B", { family: "llama", n_layer: 32, vocab_size: 128256 }],
];
const REFUSED = [["prose", "Will this fit on my card?"], ["a broken JSON", '{"model_type": '], ["an unknown model", '{"model_type": "whisper", "hidden_size": 384}'],
  ["a word of 300 kB", "x".repeat(300000)], ["a word of 200 kB", "x".repeat(200000)]];

function paste(browser, site, scheme) {
  calculator(browser, `paste ${scheme}`, { base: site[scheme], state: "#preset=gpt2&gpu=RTX+4070" }, async (tab) => {
    const area = tab.locator("textarea");
    for (const [what, text, wanted] of PASTED) {
      await tab.evaluate(() => document.querySelector("[data-out=pasted]").replaceChildren());
      await area.fill(text);
      await tab.locator("[data-out=pasted] > *").first().waitFor();
      await tab.waitForFunction((wanted) => Object.entries(wanted).every(([key, value]) => window.vramPage.report.config[key] === value), wanted)
        .catch(async () => { throw new Error(`${what}: ${await tab.locator("[data-out=pasted]").innerText()}`); });
      that(/Read/.test(await tab.locator("[data-out=pasted]").innerText()), `${what}: what was read is said`);
    }
    await area.fill(JSON.stringify(llama));
    await tab.waitForFunction(() => window.vramPage.report.config.n_layer === 3);
    const [read, assumed] = await tab.locator("[data-out=pasted] dd").allInnerTexts();
    that(/n_layer = 3/.test(read) && !/seq_len|batch_size|evaluation/.test(read), `read of a config.json: ${read}`);
    that(/seq_len = /.test(assumed) && /batch_size = 1/.test(assumed) && !/n_layer/.test(assumed), `assumed of a config.json: ${assumed}`);
    await area.fill("base_model: NousResearch/Meta-Llama-3-8B\nadapter: lora\nlora_r: 8\nsequence_len: 4096\nmicro_batch_size: 3\nload_in_8bit: false\n");
    await tab.waitForFunction(() => window.vramPage.report.config.batch_size === 3);
    const [named, rest] = await tab.locator("[data-out=pasted] dd").allInnerTexts();
    that(/NousResearch\/Meta-Llama-3-8B = llama-3-8b/.test(named) && !/n_layer|n_embd/.test(named + rest), `of a model by its name: ${named} / ${rest}`);
    for (const [what, text] of REFUSED) {
      const before = await tab.evaluate(() => location.hash);
      await tab.evaluate((text) => { document.querySelector("[data-out=pasted]").replaceChildren(); window.vramPage.paste(text); }, text);
      await tab.locator("[data-out=pasted] .bad").waitFor().catch(() => { throw new Error(`${what} is not refused`); });
      equal(await tab.evaluate(() => location.hash), before, `${what} changes nothing`);
    }
  });
  calculator(browser, `an out-of-memory message ${scheme}`, { base: site[scheme], state: "#preset=gpt2&batch_size=16&gpu=RTX+4090" }, async (tab) => {
    await tab.locator("textarea").fill("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total capacity of 11.60 GiB of which 512.00 MiB is free.");
    await tab.locator("[data-out=pasted] li").first().waitFor();
    that(/50304/.test(await tab.locator("[data-out=pasted]").innerText()), await tab.locator("[data-out=pasted]").innerText());
    equal(Math.round(await tab.evaluate(() => window.vramPage.report.gpu.cuda_bytes) / 2 ** 28), 46, "the card has the message's total");
    const changed = tab.locator("[data-out=pasted] .changed"), gpu = await tab.locator("[name=gpu]").inputValue();
    that((await changed.innerText()).includes(gpu) && /11\.60\sGiB/.test(await changed.innerText()), `another card is said: ${await changed.innerText()}`);
    await changed.locator("button").click();
    await tab.waitForFunction(() => document.querySelector("[name=gpu]").value === "RTX 4090");
    equal(await changed.count(), 0, "a change that was undone is not said");
    await tab.locator("textarea").fill("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 11.60 GiB of which 2.00 MiB is free. Of the allocated memory 10.74 GiB is allocated by PyTorch, and 206.13 MiB is reserved by PyTorch but unallocated.");
    await tab.waitForFunction(() => /1 to 10 MiB/.test(document.querySelector("[data-out=pasted]").textContent));
    const segment = await tab.locator("[data-out=pasted]").innerText();
    that(!/Asked for|gpt2/.test(segment) && /2\sMiB were free/.test(segment), `a segment is no tensor's size: ${segment}`);
    await tab.locator("textarea").fill("ValueError: Free memory on device (7.2/8.0 GiB) on startup is less than desired GPU memory utilization (0.95, 7.6 GiB).");
    await tab.locator("[data-out=pasted] .changed").filter({ hasText: /8\.00\sGiB/ }).waitFor();
    await tab.locator("[data-out=pasted] li button").click();
    await tab.waitForFunction(() => window.vramPage.report.server === "vllm");
    equal(await tab.locator("[name=calc-task]:checked").inputValue(), "serve", "what vLLM says leads to the task");
    await tab.locator(".tasks label", { hasText: "Train" }).click();
    await tab.locator("textarea").fill("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 14.00 MiB. GPU 0 has a total capacity of 11.60 GiB of which 2.00 MiB is free.");
    await tab.locator("[data-out=pasted]").filter({ hasText: /Asked for 14\sMiB/ }).waitFor();
    await tab.evaluate(() => { location.hash = "#preset=gpt2&gpu=RTX+4070"; });
    await tab.waitForFunction(() => document.querySelector("[name=gpu]").value === "RTX 4070");
    await tab.locator("textarea").fill("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 6.14 GiB. GPU 0 has a total capacity of 11.99 GiB of which 1.25 GiB is free.");
    await tab.locator("[data-out=pasted] .changed").filter({ hasText: /RTX 4070, system = windows/ }).waitFor();
    equal(await tab.evaluate(() => window.vramPage.report.gpu.name), "RTX 4070", "all of a card is what CUDA offers on Windows");
  });
}

// Drops files on the calculator, as a hand would: names and texts in turn.
async function drop(tab, ...files) {
  const dataTransfer = await tab.evaluateHandle((files) => {
    const data = new DataTransfer();
    for (let i = 0; i < files.length; i += 2) data.items.add(new File([files[i + 1]], files[i]));
    return data;
  }, files);
  await tab.dispatchEvent("#calc .answer", "drop", { dataTransfer });
}

function dropped(browser, site) {
  calculator(browser, "drop a file", { base: site.http, state: "#preset=gpt2&gpu=RTX+4070" }, async (tab) => {
    await drop(tab, "train.log", "tokens per iteration will be: 65,536\nnumber of parameters: 29.94M\nstep 0: train loss 10.8, val loss 10.8\n");
    await tab.locator("[data-out=pasted]:not(:empty)").waitFor();
    await drop(tab, "small.py", "batch_size = 5\nn_layer = 3\nn_head = 4\nn_embd = 128\n");
    await tab.waitForFunction(() => document.querySelector("[name=batch_size]").value === "5");
    equal(await tab.locator("[name=gpu]").inputValue(), "RTX 4070", "the card stays");
    await drop(tab, "large.txt", "x".repeat(3e6));
    await tab.locator("[data-out=pasted] .bad").waitFor();
  });
  const config = (wanted) => (tab) => tab.waitForFunction((wanted) => Object.entries(wanted).every(([key, value]) => window.vramPage.report.config[key] === value), wanted);
  const TRAINER = "model_name_or_path: org/nobody-knows\nper_device_train_batch_size: 3\nbf16: true\n";
  const ENGINE = '{"zero_optimization": {"stage": 3}, "bf16": {"enabled": "auto"}, "train_micro_batch_size_per_gpu": "auto"}';
  calculator(browser, "several files", { base: site.http, state: "#preset=gpt2&gpu=RTX+4070" }, async (tab) => {
    const said = tab.locator("[data-out=pasted]");
    // in any order: the model comes first
    await drop(tab, "ds.json", ENGINE, "train.yaml", TRAINER, "config.json", JSON.stringify(llama));
    await config({ n_layer: 3, batch_size: 3, parallel: "zero3" })(tab);
    // one after the other: a file waits for the one that it needs
    await tab.evaluate(() => window.vramPage.paste("preset = gpt2"));
    await config({ family: "gpt2" })(tab);
    await drop(tab, "train.yaml", TRAINER);
    await said.locator(".bad").waitFor();
    that(/nobody-knows/.test(await said.innerText()) && /together/.test(await said.innerText()), `what is missing: ${await said.innerText()}`);
    await tab.locator("textarea").fill(JSON.stringify(llama));
    await config({ n_layer: 3, batch_size: 3 })(tab);
    equal(await said.locator(".bad").count(), 0, "both are read");
    // over what was read last
    await drop(tab, "ds.json", ENGINE);
    await config({ n_layer: 3, batch_size: 3, parallel: "zero3" })(tab);
    // with the model that is chosen here
    await tab.evaluate(() => window.vramPage.paste("preset = llama-3.2-1b"));
    await config({ n_layer: 16 })(tab);
    await drop(tab, "train.yaml", TRAINER);
    await said.locator("button", { hasText: "llama-3.2-1b" }).click();
    await config({ n_layer: 16, batch_size: 3 })(tab);
    // a file that speaks of a message in a comment is no message
    await tab.locator("textarea").fill("args = TrainingArguments(per_device_train_batch_size=7)  # 8: CUDA out of memory\n");
    await config({ n_layer: 16, batch_size: 7 })(tab);
  });
}

// ---- looks and languages -------------------------------------------------------------------------------------

// What reaches over the right or left edge of the screen.
const offScreen = () => [...document.querySelectorAll("#calc button, #calc input:not(.vh), #calc select")].filter((e) => {
  const box = e.getBoundingClientRect();
  return box.width > 0 && (box.left < -1 || box.right > document.documentElement.clientWidth + 1) && !e.closest(".tasks");
}).map((e) => e.outerHTML.slice(0, 90)).join(" ");

function looks(browser, site) {
  for (const width of [360, 1280]) for (const theme of ["light", "dark"]) for (const lang of ["en", "de", "hi"]) {
    const options = { viewport: { width, height: 800 }, colorScheme: theme };
    calculator(browser, `${lang} ${width} ${theme}`, { base: site.http, lang, state: "#preset=oom-gpt2&batch_size=20&gpu=RTX+4070", options }, async (tab) => {
      await tab.locator("[data-out=advice] button").first().waitFor();
      await tab.evaluate(() => { document.querySelector(".all").open = true; });
      await tab.locator("[name=all-n_layer]").waitFor();
      equal(await tab.evaluate(offScreen), "", "off the screen");
      equal(await tab.evaluate(() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth), 0, "too wide by");
      await axe(tab);
      await tab.locator("[data-sample=config]").click();
      await tab.locator("[data-out=pasted] dl").waitFor();
      await axe(tab);
    });
  }
}

// On a phone the phases have their names, one form of each, none over another or cut; on a desk form and number stay in sight.
function inSight(browser, site) {
  for (const lang of ["en", "de", "fr", "ar", "ja"])
    calculator(browser, `the phases are named on a phone ${lang}`, { base: site.http, lang, options: { viewport: { width: 360, height: 740 } } }, async (tab) => {
      await tab.locator("[data-out=step] svg").waitFor();
      const [names, width] = await tab.evaluate(() => {
        const box = document.querySelector("[data-out=step] svg").getBoundingClientRect(), bottom = document.querySelector("[data-out=step] .cursor").getBoundingClientRect().bottom;
        return [Array.from(document.querySelectorAll("[data-out=step] text")).map((e) => [e.textContent, e.getBoundingClientRect()]).filter(([, r]) => r.top > bottom - 4)
          .map(([text, r]) => ({ text, left: r.left - box.left, right: r.right - box.left, top: r.top, over: r.bottom > box.bottom + 1 })), box.width];
      });
      const said = JSON.stringify(names);
      equal(new Set(names.map((n) => n.text)).size, 3, `forward, backward, optimizer: ${said}`);
      that(names.every((n) => n.left > -1 && n.right < width + 1 && !n.over), `cut: ${said}`);
      that(names.every((a, i) => names.slice(i + 1).every((b) => Math.abs(a.top - b.top) > 9 || a.right <= b.left + 2)), `on each other: ${said}`);
    });
  calculator(browser, "beside a long answer the form stays in sight", { base: site.http, options: { reducedMotion: "reduce" } }, async (tab) => {
    const advice = tab.locator("[data-out=advice] button");
    await advice.nth(5).waitFor();
    await advice.nth(5).focus();
    const inView = (name) => tab.locator(`[name=${name}]`).evaluate((e) => { const r = e.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight && document.elementFromPoint(r.left + 5, r.top + 5) === e; });
    that(await inView("batch_size") && await inView("preset"), "the form");
    // Going back by keyboard, nothing that has the focus lies under the number.
    for (let i = 0; i < 12; i++) {
      await tab.keyboard.press("Shift+Tab");
      that(await tab.evaluate(() => { const e = document.activeElement, r = e.getBoundingClientRect(); return e.contains(document.elementFromPoint(r.left + 4, r.top + 4)); }), "hidden under the number");
    }
    await tab.setViewportSize({ width: 768, height: 900 });
    const far = await tab.locator("[data-out=fields] label").evaluateAll((all) => all.map((e) => e.lastChild.getBoundingClientRect().left - e.getBoundingClientRect().left));
    that(far.length > 3 && Math.max(...far) < 340, `from a field's name to it on a tablet: ${far}`);
    await tab.setViewportSize({ width: 1280, height: 900 });
    await tab.locator("[name=gpu]").click();
    that(await tab.locator("#calc-gpus [role=option]").first().evaluate((e) => { const r = e.getBoundingClientRect(); return e.contains(document.elementFromPoint(r.right - 8, r.top + 5)); }), "the list lies on top");
  });
}

function words(browser, site) {
  calculator(browser, "from right to left", { base: site.http, lang: "ar", options: { viewport: { width: 360, height: 800 } } }, async (tab) => {
    that(/^\u2066[^A-Z]*GiB\u2069$/.test(await tab.locator("[data-out=number]").innerText()), "the unit follows its number");
    await tab.locator("[data-out=advice] button").first().waitFor();
    equal(await tab.evaluate(offScreen), "", "off the screen");
    await tab.locator("textarea").fill("CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total capacity of 11.60 GiB of which 512.00 MiB is free.");
    const order = await tab.locator("[data-out=pasted] li bdi").first().evaluate((e) => {
      const at = (text) => { const range = document.createRange(), i = e.textContent.indexOf(text); range.setStart(e.firstChild, i); range.setEnd(e.firstChild, i + text.length); return range.getBoundingClientRect().left; };
      return [at("1024"), at("50304"), at("4 B"), at("=")];
    });
    that(order.every((x, i) => !i || x > order[i - 1]), `a shape reads from left to right: ${order}`);
    equal(await tab.locator("textarea").evaluate((e) => getComputedStyle(e).direction), "ltr", "the message as it was written");
    await axe(tab);
  });
  check("calculator: a table without a script", async () => {
    const tab = await open(browser, `${site.http}/en/calculator.html`, { javaScriptEnabled: false });
    try {
      that(await tab.locator(".no-js").isVisible(), "says that it needs a script");
      equal(await tab.locator("#calc:visible").count(), 0, "the form");
      that(await tab.locator(".body tbody tr").count() >= 8, "rows");
    } finally { await close(tab); }
  });
  calculator(browser, "printed without controls", { base: site.http, state: "#preset=llama-3.1-8b&gpu=RTX+4090&lora_rank=16" }, async (tab) => {
    await tab.emulateMedia({ media: "print" });
    await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const said = await tab.locator(".paper").innerText();
    for (const what of ["llama-3.1-8b", "RTX 4090", "lora_rank", "seq_len", "2048"]) that(said.includes(what), `${what} on paper: ${said}`);
    that(!said.includes("nf4"), `values that were not chosen: ${said}`);
    equal(await tab.locator("#calc :is(button, input, select, textarea):visible").count(), 0, "controls");
    that(await tab.locator("[data-out=number]").isVisible(), "the number");
    await tab.setViewportSize({ width: 680, height: 900 });   // of A4
    that((await tab.locator("[data-out=verdict]").boundingBox()).height > 10, "the verdict");
  });
}

export async function isBuilt(browser, site) {
  const tab = await open(browser, `${site.http}/en/calculator.html`);
  const there = await tab.locator("#calc").count();
  await close(tab);
  return there > 0;
}

export async function run(browser, site) {
  if (!await isBuilt(browser, site)) { console.log("skip calculator: vram.wasm was not built, see README"); return; }
  parity(browser, site);
  whole(browser, site);
  honest(browser, site);
  numbers(browser, site);
  for (const scheme of ["http", "file"]) {
    use(browser, site, scheme);
    paste(browser, site, scheme);
    step(browser, site, scheme);
  }
  tasks(browser, site);
  order(browser, site);
  lateAdvice(browser, site);
  beyond(browser, site);
  fields(browser, site);
  dropped(browser, site);
  looks(browser, site);
  inSight(browser, site);
  words(browser, site);
}
