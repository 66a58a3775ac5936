// The calculator in the page: its numbers are the command line's, its state is in the address, it explains itself.
import { check, close, equal, open, that } from "./harness.mjs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const vramcalc = join(process.env.BUILD ?? "build", "vramcalc");

async function ready(browser, base, lang, state = "", options = {}) {
  const tab = await open(browser, `${base}/${lang}/calculator.html${state}`, options);
  await tab.locator("#calc.ready").waitFor();
  return tab;
}

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

async function parity(browser, site) {
  await check("calculator: 200 configs as on the command line", async () => {
    const tab = await ready(browser, site.http, "en");
    try {
      const list = configs(200);
      const pages = await tab.evaluate(async (list) => {
        const text = atob(window.vramWasm), bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
        const core = await window.vramOpen(bytes);
        return list.map((config) => core.estimate(Object.entries(config).map(([k, v]) => `${k} = ${v}`).join("\n")).value);
      }, list);
      list.forEach((config, i) => {
        const words = Object.entries(config).map(([key, value]) => `${key}=${value}`);
        let line;
        try {
          line = JSON.parse(execFileSync(vramcalc, ["estimate", "--format", "json", ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }));
        } catch (error) { line = { error: String(error.stderr) }; }
        if (line.error) { that(pages[i].error, `${words.join(" ")}: only the command line refuses it: ${line.error}`); return; }
        for (const key of shown) equal(pages[i][key], line[key], `${words.join(" ")}: ${key}`);
      });
    } finally { await close(tab); }
  });
}

async function use(browser, site, scheme) {
  await check(`calculator: change, apply, share ${scheme}`, async () => {
    const tab = await ready(browser, site[scheme], "en", "#preset=oom-gpt2&gpu=RTX+4070");
    try {
      const verdict = tab.locator("[data-out=verdict]");
      that(/not fit/.test(await verdict.innerText()), await verdict.innerText());
      await tab.locator("[data-out=advice] button").first().waitFor();
      await tab.locator("[data-out=advice] button").first().click();
      await tab.waitForFunction(() => /^Fits/.test(document.querySelector("[data-out=verdict]").textContent));
      const address = tab.url();
      that(/batch_size=/.test(address), `state in the address: ${address}`);
      const text = await verdict.innerText();
      await tab.goto("about:blank");
      await tab.goto(address);
      await tab.locator("#calc.ready").waitFor();
      equal(await verdict.innerText(), text, "what a link shows");
      that(/--batch_size=\d+/.test(await tab.locator("[data-out=flags]").innerText()), "flags for nanoGPT");
      await tab.locator("[name=batch_size]").fill("64");
      await tab.waitForFunction(() => /not fit/.test(document.querySelector("[data-out=verdict]").textContent));
      await tab.locator("[name=n_head]").fill("7");
      await tab.locator("#calc.wrong").waitFor();
      equal(tab.complaints.join("; "), "", "console");
    } finally { await close(tab); }
  });
  await check(`calculator: paste ${scheme}`, async () => {
    const tab = await ready(browser, site[scheme], "en", "#preset=gpt2&gpu=RTX+4070");
    try {
      await tab.locator(".calc details summary").first().click();
      const area = tab.locator("textarea");
      await area.fill("batch_size = 3\nblock_size = 256\nn_layer = 5\nn_head = 4\nn_embd = 128\ndtype = 'float16'\ncompile = False\n");
      await tab.waitForFunction(() => document.querySelector("[name=n_layer]").value === "5");
      equal(await tab.locator("[name=batch_size]").inputValue(), "3", "batch_size");
      await area.fill(JSON.stringify({ model_type: "llama", hidden_size: 256, num_hidden_layers: 3, num_attention_heads: 4, intermediate_size: 512, vocab_size: 1000, max_position_embeddings: 128 }));
      await tab.waitForFunction(() => document.querySelector("[name=n_layer]").value === "3");
      await tab.evaluate(() => { location.hash = "#preset=gpt2&batch_size=16&gpu=RTX+4070"; });
      await tab.waitForFunction(() => document.querySelector("[name=batch_size]").value === "16");
      await area.fill("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total capacity of 11.99 GiB of which 512.00 MiB is free.");
      await tab.locator("[data-out=pasted] li").first().waitFor();
      that(/50304/.test(await tab.locator("[data-out=pasted]").innerText()), await tab.locator("[data-out=pasted]").innerText());
      equal(tab.complaints.join("; "), "", "console");
    } finally { await close(tab); }
  });
}

// Drops a file on the calculator, as a hand would.
async function drop(tab, name, text) {
  const dataTransfer = await tab.evaluateHandle(([name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    return data;
  }, [name, text]);
  await tab.dispatchEvent("#calc .answer", "drop", { dataTransfer });
}

async function dropped(browser, site) {
  await check("calculator: drop a file", async () => {
    const tab = await ready(browser, site.http, "en", "#preset=gpt2&gpu=RTX+4070");
    try {
      await drop(tab, "train.log", "tokens per iteration will be: 65,536\nnumber of parameters: 29.94M\nstep 0: train loss 10.8, val loss 10.8\n");
      await tab.locator("[data-out=pasted]:not(:empty)").waitFor();
      that(await tab.locator("textarea").isVisible(), "the field with the text is open");
      await drop(tab, "small.py", "batch_size = 5\nn_layer = 3\nn_head = 4\nn_embd = 128\n");
      await tab.waitForFunction(() => document.querySelector("[name=batch_size]").value === "5");
      equal(await tab.locator("[name=gpu]").inputValue(), "RTX 4070", "the card stays");
      equal(tab.complaints.join("; "), "", "console");
    } finally { await close(tab); }
  });
}

async function words(browser, site) {
  await check("calculator: the reader's language", async () => {
    const state = "#preset=gpt2&batch_size=8&compile=2.5&gpu=RTX+4070", texts = new Map();
    for (const lang of ["en", "es", "de", "fr", "hi"]) {
      const tab = await ready(browser, site.http, lang, state);
      try {
        texts.set(lang, await tab.locator("[data-out=verdict]").innerText());
        const left = await tab.locator(".calc").innerText();
        that(!/calc\.|undefined|\{\w+\}/.test(left), `${lang}: a word is missing: ${left.match(/calc\.\w+|undefined|\{\w+\}/)}`);
      } finally { await close(tab); }
    }
    equal(new Set(texts.values()).size, 5, "different texts");
    that(texts.get("fr").includes("Mio") && texts.get("de").includes("."), [...texts.values()].join(" / "));
  });
  await check("calculator: a table without a script", async () => {
    const tab = await open(browser, `${site.http}/en/calculator.html`, { javaScriptEnabled: false });
    try {
      that(await tab.locator(".no-js").isVisible(), "says that it needs a script");
      equal(await tab.locator("#calc:visible").count(), 0, "the form");
      that(await tab.locator(".body tbody tr").count() >= 8, "rows");
    } finally { await close(tab); }
  });
}

export async function run(browser, site) {
  const tab = await open(browser, `${site.http}/en/calculator.html`);
  const there = await tab.locator("#calc").count();
  await close(tab);
  if (!there) { console.log("skip calculator: vram.wasm was not built, see README"); return; }
  await parity(browser, site);
  for (const scheme of ["http", "file"]) await use(browser, site, scheme);
  await dropped(browser, site);
  await words(browser, site);
}
