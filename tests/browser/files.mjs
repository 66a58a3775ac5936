// Files as a hand brings them to the calculator: chosen by the button, a folder dropped, a long text from the start page. What the
// files say is in calculator.mjs; here the browser itself opens them.
import { axe, check, close, equal, open, that } from "./harness.mjs";
import { execFileSync, spawnSync } from "node:child_process";
import { calculator, isBuilt, vramcalc } from "./calculator.mjs";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MODEL = { model_type: "llama", hidden_size: 256, num_hidden_layers: 3, num_attention_heads: 4, intermediate_size: 512, vocab_size: 1000, max_position_embeddings: 128 };
const TRAINER = (batch) => `model_name_or_path: org/nobody-knows\nper_device_train_batch_size: ${batch}\nbf16: true\n`;
const MESSAGE = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total capacity of 11.60 GiB of which 412.00 MiB is free.";

// A folder that is gone when body has ended.
async function folder(body) {
  const at = mkdtempSync(join(tmpdir(), "vram-files-"));
  const put = (name, text) => { writeFileSync(join(at, name), text); return join(at, name); };
  try { await body(at, put); } finally { rmSync(at, { recursive: true }); }
}
const config = (tab, wanted) => tab.waitForFunction((wanted) => Object.entries(wanted).every(([key, value]) => window.vramPage.report.config[key] === value), wanted);

// What the command line itself writes and what it alone reads.
function ownOutputs(browser, base) {
  const state = "#preset=gpt2&gpu=RTX+4070", run = ["preset=llama-3.1-8b", "lora_rank=16", "gpu=RTX 4090"];
  const wrote = (...words) => spawnSync(vramcalc, words, { encoding: "utf8" }).stdout;
  calculator(browser, "outputs of vramcalc, sweeps and preferences are told apart", { base, state }, async (tab) => {
    const paste = (text) => tab.evaluate((text) => window.vramPage.paste(text), text);
    const told = async (text, word) => {
      const before = await tab.evaluate(() => location.hash);
      await paste(text);
      await tab.locator("[data-out=pasted] .bad", { hasText: word }).waitFor();
      equal(await tab.evaluate(() => location.hash), before, "the run stays as it was");
    };
    for (const words of [["estimate"], ["estimate", "--format", "csv"], ["estimate", "--format", "md"], ["fit"], ["advise"], ["cards"]])
      await told(wrote(words[0], ...run, ...words.slice(1)), "--format json");
    await told(wrote("sweep", "preset=gpt2", "batch_size=4,8"), "--format json");
    await told("trl dpo --model_name_or_path org/x", "org/x");   // a model that no list has
    for (const trainer of ["dpo", "reward"]) {
      await paste(`trl ${trainer} --model_name_or_path Qwen/Qwen3-0.6B --per_device_train_batch_size 2`);
      await config(tab, { trainer, n_layer: 28, batch_size: 2 });
    }
    await tab.evaluate((hash) => { location.hash = hash; }, state);
    await config(tab, { trainer: "sft", n_layer: 12 });
    await paste("vramcalc sweep preset=gpt2-medium batch_size=4,8 block_size=512:1024 gpu='RTX 4070'");
    await config(tab, { n_layer: 24, batch_size: 4, block_size: 512 });
    that(await tab.locator("[data-out=pasted] .notes").count() === 1, "and it is said that a sweep has several");
    const json = wrote("estimate", ...run, "--format", "json");
    await paste(json);
    await config(tab, { lora_rank: 16, family: "llama" });
    equal(await tab.evaluate(() => window.vramPage.report.process_bytes), JSON.parse(json).process_bytes, "the same figure");
    await told(json.slice(0, 300), "--format json");
    const adapter = JSON.stringify({ peft_type: "LORA", r: 8, target_modules: ["q_proj", "v_proj"], base_model_name_or_path: "meta-llama/Llama-3.1-8B" });
    await paste(adapter);   // its run is a preset's, as on the command line
    await config(tab, { lora_rank: 8, lora_targets: "q+v" });
    const { stdout } = spawnSync(vramcalc, ["estimate", "-", "--gpu", "4090", "--format", "json"], { input: adapter, encoding: "utf8" });
    equal(await tab.evaluate(() => window.vramPage.report.process_bytes), JSON.parse(stdout).process_bytes, "an adapter's figure");
  });
}

function chosen(browser, base) {
  calculator(browser, "files are chosen by the button", { base, state: "#preset=gpt2&gpu=RTX+4070" }, (tab) => folder(async (at, put) => {
    const choose = async (...files) => {
      const [chooser] = await Promise.all([tab.waitForEvent("filechooser"), tab.locator("label.file").click()]);
      that(chooser.isMultiple(), "several at once");
      await chooser.setFiles(files);
    };
    const model = put("config.json", JSON.stringify(MODEL)), trainer = put("train.yaml", TRAINER(3));
    await choose(trainer, model);
    await config(tab, { n_layer: 3, batch_size: 3 });
    put("train.yaml", TRAINER(5));
    await choose(trainer, model);   // the same names, another text
    await config(tab, { n_layer: 3, batch_size: 5 });
    await choose(put("large.json", " ".repeat(300000)));
    await tab.locator("[data-out=pasted] .bad").waitFor();
    const [byKey] = await Promise.all([tab.waitForEvent("filechooser"), tab.locator("label.file input").press("Enter")]);
    await byKey.setFiles([put("small.py", "batch_size = 7\nn_layer = 2\nn_head = 4\nn_embd = 128\n")]);
    await config(tab, { n_layer: 2, batch_size: 7 });
    // what is no configuration, alone and beside one
    const said = tab.locator("[data-out=pasted]");
    await choose(put("step.pickle", Buffer.concat([Buffer.from([0x80, 4, 0x95]), Buffer.alloc(300000)])));
    await said.locator(".bad").filter({ hasText: "opcode 0" }).waitFor();
    await choose(put("error.txt", "CUDA out of memory. Tried to allocate 26.00 MiB."), put("config.json", JSON.stringify(MODEL)), put("train.yaml", TRAINER(50)));
    await config(tab, { n_layer: 3, batch_size: 50 });
    await said.filter({ hasText: "50 \u00d7 128 \u00d7 1000" }).waitFor();
    await choose(put("train.log", "number of parameters: 29.94M\nnum decayed parameter tensors: 26, with 30,130,176 parameters\ntokens per iteration will be: 32,768\n" + MESSAGE));
    await said.filter({ hasText: "GiB" }).waitFor();
    equal(await said.locator(".bad").count(), 0, "a log with a message at its end");
  }));
}

// Messages of programs other than PyTorch are told from a configuration, too.
function others(browser, base) {
  calculator(browser, "messages of other programs", { base, state: "#preset=gpt2&gpu=RTX+4070" }, async (tab) => {
    for (const [text, first] of [["llama_model_load: error loading model: unable to allocate backend buffer", "llama.cpp"], ["slurmstepd: error: Detected 1 oom_kill event in StepId=1234.0. Some of the step tasks have been OOM Killed.", "dmesg"]]) {
      await tab.locator("textarea").fill(text);
      await tab.locator("[data-out=pasted]").filter({ hasText: first }).waitFor();
    }
    // command lines and names, as the command takes them
    const read = async (text, wanted) => { await tab.locator("textarea").fill(text); await config(tab, wanted); };
    await read('vramcalc estimate shakespeare-char batch_size=16 --format csv --gpu "RTX 4070"', { batch_size: 16, n_layer: 6 });
    await read("vramcalc serve preset=llama-3.1-8b quantization=q4_k_m seq_len=8192 --gpu 3060", { task: "inference", seq_len: 8192, quantization: "q4_k_m" });
    await read("Qwen/Qwen2.5-7B-Instruct-AWQ", { task: "inference", quantization: "awq", n_layer: 28 });
    await read("vramcalc estimate config.json batch_size=5", { batch_size: 5 });
    await tab.locator("[data-out=pasted]").filter({ hasText: "config.json" }).waitFor();
    await read("preset = gpt2\nbatch_size = 2\n", { n_layer: 12, batch_size: 2 });
    await read("gpt2-medium", { n_layer: 24, batch_size: 2 });
    await tab.locator("textarea").fill("# 16: CUDA out of memory\nbatch_size = 6\nwandb_log = True\n");
    await config(tab, { batch_size: 6 });
  });
}

// Texts on which a search that goes back and forth takes minutes, and lines by the thousand.
const LONG = {
  "digits before no unit": "nvidia-smi " + "1".repeat(200000), "words behind a name": "a".repeat(200000) + " b",
  "spaces before a bracket": "a =" + " ".repeat(200000) + "(", "spaces within a value": "a = b" + " ".repeat(200000) + "c",
  "addresses without a state": "calculator.html#".repeat(12000), "a word": "qwertz".repeat(33000), "open quotes": "vramcalc " + "a'".repeat(100000),
};
function long(browser, base) {
  calculator(browser, "long texts do not hold it up", { base, state: "#preset=gpt2&gpu=RTX+4070" }, async (tab) => {
    for (const [name, text] of Object.entries(LONG)) {
      const ms = await tab.evaluate(async (text) => {
        const said = document.querySelector("[data-out=pasted]"), began = performance.now();
        said.replaceChildren();
        window.vramPage.paste(text);
        while (!said.firstChild) await new Promise((next) => setTimeout(next, 20));
        return performance.now() - began;
      }, text);
      that(ms < 5000, `${name}: ${Math.round(ms)} ms`);
    }
    // a hand pastes: the first lines are shown, the last one counts
    await tab.locator("textarea").focus();
    await tab.evaluate(() => {
      const data = new DataTransfer();
      data.setData("text/plain", "# a line\n".repeat(20000) + "batch_size = 7\n");
      document.activeElement.select();
      document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await config(tab, { batch_size: 7 });
    equal((await tab.locator("textarea").inputValue()).split("\n").length, 2001, "lines in the box");
    await tab.locator("textarea").fill("NVIDIA GeForce RTX 3090");   // a card's name alone is that card
    await config(tab, { batch_size: 7 });
    await tab.waitForFunction(() => document.querySelector("[name=gpu]").value === "RTX 3090");
  });
}

// A memory snapshot of PyTorch, and the formulas of others: the command's answers.
const DUMPS = "tests/cli/calc_snapshot/";
const command = (...args) => JSON.parse(execFileSync(vramcalc, [...args, "--format", "json"], { encoding: "utf8" }));
const mebibytes = (bytes) => Math.round(bytes / 1048576).toLocaleString("en");
function snapshots(browser, base) {
  calculator(browser, "a memory snapshot beside the estimate", { base, state: "#preset=gpt2&batch_size=2&gpu=RTX+4070" }, (tab) => folder(async (at, put) => {
    const said = tab.locator("[data-out=pasted]"), choose = (...files) => tab.locator("label.file input").setInputFiles(files);
    const cells = (row) => said.locator("tr").filter({ hasText: row }).locator("td").allInnerTexts();
    await choose(`${DUMPS}step4.pickle`);
    await said.locator("table").waitFor();
    const told = command("snapshot", `${DUMPS}step4.pickle`, "preset=gpt2", "batch_size=2"), row = told.categories.find((c) => c.category === "activations");
    equal(String(await cells("activations")), [row.now_bytes, row.peak_bytes, row.estimated_bytes].map(mebibytes).join(), "activations");
    equal(String(await cells("reserved in segments")), [told.reserved_bytes, told.peak_reserved_bytes, told.estimated_reserved_bytes].map(mebibytes).join(), "reserved");
    const plain = async (e) => (await e.innerText()).replace(/\u00a0/g, " ");
    that((await plain(said)).includes("99 MiB were asked for, 3 MiB were free on the card; at u/model.py:41 forward"), await plain(said));
    const block = told.blocks[0], first = await plain(said.locator("li").first());
    that(first.includes(`${mebibytes(block.bytes)} MiB`) && first.includes(`${block.file.split("/").slice(-2).join("/")}:${block.line} ${block.name}`), first);
    await axe(tab);
    // a file that comes with it is what it is held against
    await choose(put("config.json", JSON.stringify(MODEL)), `${DUMPS}segments.pickle`);
    await said.filter({ hasText: "_record_memory_history" }).waitFor();
    await config(tab, { n_layer: 3 });
    equal(await said.locator("th[scope=col]").count(), 3, "columns without a history");
    // beside a run that cannot be it stands alone
    await tab.locator("[name=batch_size]").fill("0");
    await choose(`${DUMPS}segments.pickle`);
    await tab.waitForFunction(() => document.querySelectorAll("[data-out=pasted] th[scope=col]").length === 2);   // no estimate
    await choose(`${DUMPS}hostile.pickle`);
    await said.locator(".bad").filter({ hasText: "wants to call Python code" }).waitFor();
    await tab.evaluate((text) => window.vramPage.paste(text), '{"segments": [{"device": 0, "address": 4096, "total_size": 2097152, "stream": 0, "segment_type": "small", "blocks": [{"size": 2097152, "requested_size": 2097152, "state": "active_allocated", "frames": []}]}], "device_traces": []}');
    await said.filter({ hasText: "no Python frame" }).waitFor();
    await tab.evaluate(() => window.vramPage.paste("\ufffd\u0004\ufffdE"));
    await said.locator(".bad").filter({ hasText: "drop the file itself" }).waitFor();
  }));
  calculator(browser, "the formulas of others", { base, state: "#gpu=RTX+4070" }, async (tab) => {
    await tab.locator("textarea").fill("vramcalc compare preset=gpt2 batch_size=2");
    const list = tab.locator("details.formulas li"), told = command("compare", "preset=gpt2", "batch_size=2");
    await list.nth(told.formulas.length).waitFor();
    const texts = await list.allInnerTexts(), gib = (bytes) => (bytes / 2 ** 30).toFixed(bytes < 2 ** 30 ? 2 : 1);
    that(texts[0].includes(gib(told.peak_live_bytes)), texts[0]);
    told.formulas.forEach((f, i) => that(texts[i + 1].includes(gib(f.bytes)) && texts[i + 1].includes(`${Math.round(Math.abs(f.difference_permille) / 10)}%`), texts[i + 1]));
    await axe(tab);
  });
}

// Drops paths of this machine where the calculator's result stands, as the desk would.
async function drop(tab, paths) {
  const box = await tab.locator("#calc .result").boundingBox(), cdp = await tab.context().newCDPSession(tab);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await cdp.send("Input.dispatchDragEvent", { type, x: box.x + 20, y: box.y + 20, data });
    if (type === "dragOver") await tab.locator("#calc.over").waitFor();
  }
  equal(await tab.locator("#calc.over").count(), 0, "the mark of what may be dropped");
}

function dropped(browser, base) {
  calculator(browser, "a folder is dropped", { base, state: "#preset=gpt2&gpu=RTX+4070" }, (tab) => folder(async (at, put) => {
    mkdirSync(join(at, "run"));
    // More entries than a browser tells of at once, scripts before settings in the alphabet, and what is no text.
    for (let i = 0; i < 130; i++) put(`run/a${String(i).padStart(3, "0")}.bin`, "\0".repeat(64));
    for (let i = 0; i < 30; i++) put(`run/code${i}.py`, "import os\n");
    put("run/weights.safetensors", "x".repeat(300000));
    put("run/tokenizer.json", "x".repeat(300000));
    put("run/zz-config.json", JSON.stringify(MODEL));
    put("run/zz-train.yaml", TRAINER(3));
    await drop(tab, [join(at, "run")]);
    await config(tab, { n_layer: 3, batch_size: 3 });
    equal(await tab.locator("[name=gpu]").inputValue(), "RTX 4070", "the card stays");
    // a file beside a folder
    await tab.evaluate(() => window.vramPage.paste("preset = gpt2"));
    await config(tab, { n_layer: 12 });
    mkdirSync(join(at, "model"));
    put("model/config.json", JSON.stringify(MODEL));
    await drop(tab, [join(at, "model"), put("train.yaml", TRAINER(6))]);
    await config(tab, { n_layer: 3, batch_size: 6 });
    mkdirSync(join(at, "empty"));
    await drop(tab, [join(at, "empty")]);
    await tab.locator("[data-out=pasted] .bad").waitFor();
    await config(tab, { n_layer: 3, batch_size: 6 });
  }));
}

function messages(browser, site, scheme) {
  check(`calculator: a message that says what is chosen changes nothing ${scheme}`, async () => {
    const tab = await open(browser, `${site[scheme]}/en/calculator.html`);   // no state in the address
    try {
      await tab.locator("#calc.whole").waitFor();
      await tab.locator("textarea").fill(MESSAGE);
      await tab.locator("[data-out=pasted] li").first().waitFor();
      equal(await tab.locator("[data-out=pasted] .changed").count(), 0, "a card that was changed");
    } finally { await close(tab); }
  });
  check(`calculator: a long log from the start page ${scheme}`, async () => {
    const tab = await open(browser, `${site[scheme]}/en/index.html`);
    try {
      const log = "\u{1f642}".repeat(4095) + "x" + "\u{1f642}\n" + "iter 10: loss 4.1, time 300 ms\n".repeat(1000) + MESSAGE + "\n";   // a sign in two halves at the cut
      await tab.locator("form.paste textarea").fill(log);
      await tab.locator("form.paste button").click();
      await tab.locator("[data-out=pasted]").filter({ hasText: "50304" }).waitFor();
      equal(await tab.evaluate(() => sessionStorage.getItem("paste")), null, "what was handed over");
      equal(tab.complaints.join("; "), "", "console");
      await tab.goto(`${site[scheme]}/en/index.html`);
      await tab.goto(`${site[scheme]}/en/calculator.html#paste=%E0%A4`);   // an address that was cut
      await tab.locator("#calc.whole").waitFor();
    } finally { await close(tab); }
  });
}

export async function run(browser, site) {
  if (!await isBuilt(browser, site)) return;
  chosen(browser, site.http);
  ownOutputs(browser, site.http);
  dropped(browser, site.http);
  others(browser, site.http);
  long(browser, site.http);
  snapshots(browser, site.http);
  for (const scheme of ["http", "file"]) messages(browser, site, scheme);
}
