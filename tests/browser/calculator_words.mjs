// The calculator in the reader's language: what a setting means, what is wrong, what the verdict is, in every language of the site.
import { axe, check, close, equal, that } from "./harness.mjs";
import { calculator, isBuilt, ready, verdict } from "./calculator.mjs";
import { readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);
const languages = readFileSync(new URL("content/site.yaml", root), "utf8").match(/^languages: \[(.*)\]$/m)[1].split(/,\s*/);
const sentences = (lang) => JSON.parse(readFileSync(new URL(`i18n/calculator/${lang}.json`, root), "utf8"));
// "whole number": a word of the error for "batch_size=x", by which a person sees that the catalog's language is its name's.
const wholeNumber = { en: /whole number/, es: /n\u00famero entero/, de: /ganze Zahl/, fr: /nombre entier/, hi: /\u092a\u0942\u0930\u094d\u0923/,
  "zh-Hans": /\u6574\u6570/, ja: /\u6574\u6570\u3092/, ar: /\u0639\u062f\u062f \u0635\u062d\u064a\u062d/ };
const mistakes = [["preset=gpt2&optimizer=adamx", "bad_enum"], ["preset=gpt2&lora_ranks=8", "unknown_key_near"],
  ["preset=gpt2&n_head=7", "heads_divide_width"], ["preset=gpt2&seq_len=4096", "longer_than_positions"], ["preset=gpt3", "unknown_preset_near"],
  ["preset=llama-3.1-8b&quantization=nf4", "quantized_needs_lora"], ["preset=gpt2&grad_clip=-1", "bad_fraction"]];
const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// Waits until is() holds; says what() when it does not.
async function until(is, what) {
  for (let i = 0; i < 300 && !(await is()); i++) await new Promise((later) => setTimeout(later, 100));
  that(await is(), await what());
}

// What a preset is stands beside its name in the list, and is found by the reader's words; the name itself is the same everywhere.
function presets(browser, site, lang) {
  const own = sentences(lang)["preset.oom-gpt2"];
  calculator(browser, `presets in ${lang}`, { base: site.http, lang, state: "#preset=gpt2" }, async (tab) => {
    await until(() => tab.evaluate(() => Boolean(window.vramPage.sentences)), () => "no sentences");
    await tab.locator("[name=preset]").fill(own ? own.split(/[:\uff1a\u3000\uff08]/)[0] : "out-of-memory case");
    const rows = await tab.locator("#calc-presets [role=option]").evaluateAll((list) => list.map((e) => [e.children[0].textContent, e.children[1].textContent, e.children[1].lang]));
    that(rows.some(([name, what, in_]) => name === "oom-gpt2" && (own ? what === own && in_ === "" : in_ === "en")), JSON.stringify(rows));
  });
}

function errorsAndMeanings(browser, site, lang) {
  const own = sentences(lang);
  calculator(browser, `errors and meanings in ${lang}`, { base: site.http, lang, state: "#preset=gpt2&batch_size=x" }, async (tab) => {
    that(wholeNumber[lang].test(await verdict(tab)), await verdict(tab));
    for (const [hash, id] of mistakes) {
      await tab.evaluate((hash) => { location.hash = hash; }, hash);
      const whole = new RegExp(`^${own[id].split(/\{\w+\}/).map(literal).join(".+")}[.\u3002\u0964]?$`, "i");
      await until(async () => whole.test(await verdict(tab)), async () => `${hash} says ${await verdict(tab)}, wanted ${own[id]}`);
      const said = await verdict(tab), first = /^[\w-]*/.exec(said)[0];
      that(/[.?!\u3002\u0964\u061f\uff1f]$/.test(said) && (!/^\p{Ll}/u.test(said) || `field.${first}` in own), `a sentence of its own: ${said}`);
    }
    await tab.evaluate(() => { location.hash = "preset=gpt2"; document.querySelector(".all").open = true; });
    for (const key of await tab.evaluate(() => Array.from(window.vramPage.fields.keys()))) {
      const help = await tab.locator(`#help-${key}`).textContent();
      that(help.startsWith(own["field." + key]), `the meaning of ${key}: ${help}`);
    }
    const titles = await tab.locator("[data-out=fields] [data-key]").evaluateAll((list) => list.map((e) => [e.dataset.key, e.title]));
    for (const [key, title] of titles) equal(title, own["field." + key], `the meaning beside ${key}`);
    await tab.locator(".all input[type=search]").fill("lora_r");
    const found = await tab.locator(".setting:visible").count();
    that(found < 9, `${found} settings are searched, also by their other names`);
    that(await tab.locator("[name=all-lora_rank]").isVisible(), "lora_rank");
  });
}

// What the range rests on: measurements of such runs, of a wider kind in the reader's words, or none.
function confirmed(browser, site, lang) {
  const own = sentences(lang), told = (id) => own["more.seen." + id].split(/\{\w+\}/).map(literal).join(".+");
  const lora = "preset=llama-3.1-8b&framework=transformers&lora_rank=8&checkpointing=block";
  calculator(browser, `what the range rests on in ${lang}`, { base: site.http, lang, state: `#${lora}&n_gpu=2&parallel=zero3` }, async (tab) => {
    const text = () => tab.evaluate(() => document.querySelector("[data-out=seen]").textContent.replace(/[\u2066-\u2069]/g, ""));
    const says = (pattern) => until(async () => new RegExp(`^${pattern}$`).test(await text()), text);
    await says(told("inside") + " " + told("wider"));
    const kinds = (await text()).slice(-(own["more.kind.adapters"] + own["more.kind.several_gpus"]).length - 3);
    that(kinds.includes(own["more.kind.adapters"]) && kinds.includes(own["more.kind.several_gpus"]), `the wider kind: ${kinds}`);
    await tab.evaluate((hash) => { location.hash = hash; }, lora + "&quantization=nf4");
    await says(told("own"));
    await tab.evaluate(() => { location.hash = "preset=gpt2&optimizer=sgd"; });
    await says(told("none"));
    await tab.evaluate(() => { location.hash = "preset=llama-3.1-8b&task=inference&gpu=RTX+4090"; });
    await says("");
  });
}

// What the library says of a message, in the reader's language: what it is where no tensor is meant, and what to look at first.
const MESSAGES = [
  ["torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total capacity of 11.60 GiB of which 412.00 MiB is free. " +
    "Of the allocated memory 6.74 GiB is allocated by PyTorch, and 4.13 GiB is reserved by PyTorch but unallocated.", "", ["hint_fragmented"], { mib: 4229, variable: "PYTORCH_ALLOC_CONF" }],
  ["ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
    "oom_of_vllm", ["hint_vllm", "hint_vllm_serve"], {}],
  ["RuntimeError: CUDA error: out of memory", "oom_of_driver", ["hint_holder", "hint_leave_room", "hint_contexts"], {}],
];
function hints(browser, site) {
  for (const [lang, scheme] of [["en", "file"], ["en", "http"], ["ar", "http"], ["ja", "http"]]) {
    const own = sentences(lang);
    calculator(browser, `what to look at first in ${lang} ${scheme}`, { base: site[scheme], lang, state: "#preset=gpt2&batch_size=16&gpu=RTX+4070" }, async (tab) => {
      const pasted = tab.locator("[data-out=pasted]");
      for (const [text, about, ids, args] of MESSAGES) {
        const wanted = (id) => own[id].replace(/`/g, "").replace(/\{(\w+)\}/g, (all, name) => args[name]);
        await tab.locator("textarea").fill(text);
        const items = pasted.locator("b").locator("xpath=../following-sibling::ul[1]/li");
        await items.filter({ hasText: wanted(ids[0]) }).waitFor().catch(async () => { throw new Error(`${ids[0]} is not in: ${await pasted.innerText()}`); });
        const listed = await items.evaluateAll((list) => list.map((li) => Array.from(li.childNodes, (e) => (e.tagName === "BUTTON" ? "" : e.textContent)).join("").trim()));
        equal(listed.join("\n"), ids.map(wanted).join("\n"), `the hints for ${text}`);
        equal(await pasted.locator(".bad").count(), 0, "refused");
        const said = await pasted.textContent();
        that(!/`|\{\w+\}/.test(said), said);
        if (about) equal(await pasted.locator("p").first().textContent(), wanted(about), "what it is");
        that(!about || !/\b0(\.00)?\sGiB/.test(said), "no size is made up");
        equal(/gpt2/.test(said), !about, `held against the run, where a tensor is meant: ${said}`);
      }
      equal(await tab.evaluate(() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth), 0, "too wide by");
      if (scheme === "http") await axe(tab);   // it asks for the styles again, which a file may not
    });
  }
}

// What the library remarks of a pasted file and what changes the answer, in the reader's language.
function remarks(browser, site) {
  const files = [["vision_config", "tower_outside", '{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 128256, "vision_config": {"hidden_size": 1024}}'],
    ["load_in_4bit", "bits_unused", "base_model: mistralai/Mistral-7B-v0.1\nload_in_4bit: true\nsequence_len: 2048\nmicro_batch_size: 1\n"]];
  for (const lang of languages) calculator(browser, `what is remarked of a file in ${lang}`, { base: site.http, lang, state: "#preset=gpt2" }, async (tab) => {
    for (const [key, id, text] of files) {
      await tab.locator("textarea").fill(text);
      await tab.locator("[data-out=pasted] .notes li").filter({ hasText: sentences(lang)[id].replace("{key}", key).slice(1) }).first().waitFor();
    }
  });
}

function verdicts(browser, site) {
  check("calculator: the reader's language", async () => {
    const state = "#preset=gpt2&batch_size=8&compile=2.5&gpu=RTX+4070", texts = new Map();
    for (const lang of languages) {
      const tab = await ready(browser, site.http, lang, state);
      try {
        texts.set(lang, await verdict(tab));
        const left = await tab.locator(".calc").innerText();
        that(!/calc\.|undefined|\{\w+\}/.test(left), `${lang}: a word is missing: ${left.match(/calc\.\w+|undefined|\{\w+\}/)}`);
      } finally { await close(tab); }
    }
    equal(new Set(texts.values()).size, languages.length, "different texts");
    that(texts.get("fr").includes("Gio") && texts.get("de").includes(","), [...texts.values()].join(" / "));
  });
}

// The names below the step are told apart where one word of each has room, and none stands in another.
function names(browser, site) {
  const own = (lang) => JSON.parse(readFileSync(new URL(`i18n/${lang}.json`, root), "utf8"));
  for (const lang of ["ar", "es", "ja"]) for (const width of [360, 1280]) {
    calculator(browser, `names of the step in ${lang} at ${width}`, { base: site.http, lang, state: "#preset=oom-gpt2&gpu=RTX+4070" }, async (tab) => {
      const kinds = ["forward", "backward", "optimizer"].map((kind) => own(lang)["chart." + kind]);
      await tab.setViewportSize({ width, height: 900 });
      await until(() => tab.locator(".area .phase").count(), () => "no phases");
      const found = await tab.locator(".area svg").evaluate((picture) => {
        const bottom = Math.max(...Array.from(picture.querySelectorAll(".phase"), (line) => +line.getAttribute("y2")));
        return Array.from(picture.querySelectorAll("text")).filter((e) => +e.getAttribute("y") > bottom).map((e) => [e.textContent, e.getBoundingClientRect().left, e.getBoundingClientRect().right, e.getAttribute("y")]);
      });
      const beside = ([, left, , row], i) => found.slice(0, i).every(([, , right, other]) => other !== row || left >= right);   // in a row of its own
      that(found.every(beside), `one over another: ${JSON.stringify(found)}`);
      that(found.length && found.every(([name]) => kinds.filter((kind) => kind.includes(name)).length === 1), `which part of the step: ${JSON.stringify(found)}`);
    });
  }
}

export async function run(browser, site) {
  if (!await isBuilt(browser, site)) return;
  for (const lang of languages) { errorsAndMeanings(browser, site, lang); presets(browser, site, lang); confirmed(browser, site, lang); }
  hints(browser, site);
  remarks(browser, site);
  verdicts(browser, site);
  names(browser, site);
}
