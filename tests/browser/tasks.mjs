// What a newcomer comes for, done from the start page as a person does it: each task's answer is held against the command line, and
// takes no more clicks and typed words than said here. Choosing from a list of the browser's counts as two clicks: opening and taking.
import { check, close, equal, open, that } from "./harness.mjs";
import { isBuilt, vramcalc } from "./calculator.mjs";
import { spawnSync } from "node:child_process";

const json = (verb, ...words) => JSON.parse(spawnSync(vramcalc, [verb, "--format", "json", ...words], { encoding: "utf8" }).stdout);

// A hand that counts what it does.
function hand(tab) {
  const done = { clicks: 0, words: 0 };
  const click = async (locator) => { done.clicks++; await locator.click(); };
  return {
    done, click,
    // Into a field that was clicked: a word and, of a list, the key that takes the first that is found.
    async write(locator, text, key) {
      await click(locator);
      done.words++;
      await locator.fill(text);
      if (key) await tab.keyboard.press(key);
    },
    async choose(locator, value) {
      done.clicks += 2;
      await locator.selectOption(value);
    },
    model(name) { return this.write(tab.locator("[name=preset]"), name, "Enter"); },
    card(name) { return this.write(tab.locator("[name=gpu]"), name, "Enter"); },
    task(name) { return click(tab.locator(".tasks label", { hasText: name })); },
    // The door "Will my run fit?" of the start page.
    async calculator() {
      await click(tab.locator(".doors a").nth(1));
      await tab.locator("#calc.whole").waitFor();
    },
  };
}

function task(browser, site, width, name, most, body) {
  check(`a newcomer's task: ${name}, ${width} px`, async () => {
    const options = { viewport: { width, height: width === 360 ? 740 : 900 }, permissions: ["clipboard-read", "clipboard-write"] };
    const tab = await open(browser, `${site.http}/en/index.html`, options), person = hand(tab);
    try {
      await body(tab, person);
      that(person.done.clicks <= most.clicks && person.done.words <= most.words, `${person.done.clicks} clicks and ${person.done.words} words, at most ${most.clicks} and ${most.words}`);
      equal(tab.complaints.join("; "), "", "console");
    } finally { await close(tab); }
  });
}

const report = (tab) => tab.evaluate(() => window.vramPage.report);
async function sameAs(tab, verb, key, ...words) {
  const line = json(verb, ...words), page = await report(tab);
  equal(page[key], line[key], `${words.join(" ")}: ${key}`);
  return line;
}

const MESSAGE = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total capacity of 11.60 GiB of which 412.00 MiB is free.";

function messageToFix(browser, site, width) {
  task(browser, site, width, "a message to an applied fix", { clicks: 3, words: 1 }, async (tab, person) => {
    await person.write(tab.locator("form.paste textarea"), MESSAGE);
    await person.click(tab.locator("form.paste button"));
    await tab.locator("[data-out=pasted] li").first().waitFor();
    that(/logits/.test(await tab.locator("[data-out=pasted]").innerText()), "the tensor is named");
    const first = tab.locator("[data-out=advice]:not(.late) li.fitting").first(), text = await first.locator(".change code").innerText();
    await person.click(first.locator("button"));
    await tab.waitForFunction(() => document.querySelector("#calc").dataset.verdict === "fits");
    that(json("fit", "preset=oom-gpt2", "gpu=RTX 4070", ...text.split(/\s+/)).fits, `${text} fits on the command line`);
  });
}

function tuning(browser, site, width) {
  task(browser, site, width, "8B QLoRA on 24 GB", { clicks: 7, words: 2 }, async (tab, person) => {
    await person.calculator();
    await person.task("Fine-tune");
    await person.model("llama 3.1 8b");
    await person.card("4090");
    await person.choose(tab.locator("[name=quantization]"), "nf4");
    const words = ["preset=llama-3.1-8b", "gpu=RTX 4090", "lora_rank=16", "quantization=nf4", "compile=none"];
    that(!(await sameAs(tab, "estimate", "process_bytes", ...words)).fits, "not without checkpointing");
    await person.click(tab.locator("[data-out=advice]:not(.late) li.fitting", { hasText: "checkpointing=block" }).locator("button"));
    that((await sameAs(tab, "estimate", "process_bytes", ...words, "checkpointing=block")).fits, "what is advised fits");
    await tab.waitForFunction(() => document.querySelector("#calc").dataset.verdict === "fits");
  });
}

function sharded(browser, site, width) {
  task(browser, site, width, "FSDP on two cards of 24 GB", { clicks: 4, words: 3 }, async (tab, person) => {
    await person.calculator();
    await person.model("qwen3 1.7b");
    await person.card("3090");
    await person.write(tab.locator("[name=n_gpu]"), "2");
    equal(await tab.locator("[name=gpu]").inputValue(), "RTX 3090", "the card, and not the Ti");
    await sameAs(tab, "estimate", "process_bytes", "preset=qwen3-1.7b", "gpu=RTX 3090", "n_gpu=2", "parallel=fsdp2");
    equal(await tab.locator("[data-out=ranks] li:not(.scale)").count(), 2, "a bar for each card");
    equal(await tab.locator("[name=parallel]").inputValue(), "fsdp2", "the scheme");
  });
}

function served(browser, site, width) {
  task(browser, site, width, "70B at 4 bit with 32k on 80 GB", { clicks: 7, words: 3 }, async (tab, person) => {
    await person.calculator();
    await person.task("Serve");
    await person.model("llama 3.1 70b");
    await person.card("a100 80gb");
    await person.choose(tab.locator("[name=quantization]"), "awq");
    await person.write(tab.locator("[name=seq_len]"), "32k");
    const line = await sameAs(tab, "serve", "sequences", "preset=llama-3.1-70b", "gpu=A100 80GB SXM", "quantization=awq", "seq_len=32768");
    that(line.sequences >= 1, "a sequence has room");
    equal(await tab.locator("#calc").getAttribute("data-verdict"), "fits", "the badge");
  });
}

function longest(browser, site, width) {
  task(browser, site, width, "the largest length for a preset", { clicks: 3, words: 2 }, async (tab, person) => {
    await person.calculator();
    await person.model("smollm2 360m");
    await person.card("rtx 4070 ti super");
    const answer = tab.locator("[data-solve=seq_len]:not(.late) button");
    await answer.filter({ hasText: /seq_len = \d/ }).waitFor();
    const said = Number((await answer.innerText()).replace(/\D/g, "")), card = "gpu=RTX 4070 Ti SUPER";
    const fits = (length) => { const r = json("estimate", "preset=smollm2-360m", card, `seq_len=${length}`); return r.bounds.process_bytes.high <= r.gpu.left_bytes; };
    that(fits(said) && !fits(said + 1), `${said} fits for certain, one more does not`);
  });
}

function shared(browser, site, width) {
  task(browser, site, width, "a colleague opens the shared link", { clicks: 4, words: 2 }, async (tab, person) => {
    await person.calculator();
    await person.model("qwen3 8b");
    await person.write(tab.locator("[name=batch_size]"), "3");
    await person.click(tab.locator("[data-copy=link]"));
    const link = await tab.evaluate(() => navigator.clipboard.readText());
    const colleague = await open(browser, link);
    try {
      await colleague.locator("#calc.whole").waitFor();
      await sameAs(colleague, "estimate", "process_bytes", "preset=qwen3-8b", "batch_size=3", "gpu=RTX 4070");
      equal(await colleague.locator("[data-out=number]").innerText(), await tab.locator("[data-out=number]").innerText(), "the number");
      equal(await colleague.locator("[name=batch_size]").inputValue(), "3", "the form");
    } finally { await close(colleague); }
  });
}

export async function run(browser, site) {
  if (!await isBuilt(browser, site)) return;
  for (const width of [360, 1280]) for (const one of [messageToFix, tuning, sharded, served, longest, shared]) one(browser, site, width);
}
