// What a person whose run has just died pastes first, onto the page's own example: it is read for what it says, and the answer that
// is about the example says so.
import { equal, that } from "./harness.mjs";
import { fileURLToPath } from "node:url";
import { calculator, isBuilt } from "./calculator.mjs";

const EXAMPLE = /does not say which model ran/;
const TOTAL = (gib, start = "CUDA") => `${start} out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity of ${gib} GiB of which 1.21 GiB is free. Of the allocated memory 6.74 GiB is allocated by PyTorch.`;
const ENGINE = `INFO 03-14 10:11:12 [gpu_model_runner.py:1347] Starting to load model meta-llama/Llama-3.1-8B-Instruct...
ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (4.41 GiB). Based on the available memory, the estimated maximum model length is 36064.`;
const FACTORY = "model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\nstage: sft\nfinetuning_type: lora\nlora_rank: 8\ncutoff_len: 2048\nper_device_train_batch_size: 1\n";

// A text, what the address says of it then, and what is said beside; the first of the two words of "unsaid" are not.
const PASTED = [
  ["a traceback", TOTAL("23.52"), { gpu: "RTX 4090", preset: "oom-gpt2" }, [EXAMPLE, /Asked for 1\.96\sGiB/], [/held against/]],
  ["a card with another driver", TOTAL("14.75"), { gpu: "T4", cuda_memory: "15104" }, [EXAMPLE, /14\.75\sGiB \(T4\)/]],
  ["a card that is not known", TOTAL("13.37"), { gpu: "RTX 4070", cuda_memory: "13691" }, [/The card has 13\.37\sGiB; /], [/none/]],
  ["a card of another maker", TOTAL("23.98", "HIP"), { gpu: "RTX 4070", cuda_memory: "24556" }, [EXAMPLE], [/RTX 4090/]],
  ["a server's log", ENGINE, { preset: "llama-3.1-8b", task: "inference" }, [/preset = llama-3\.1-8b/, /36064 tokens/], [EXAMPLE]],
  ["arguments without a model", "args = TrainingArguments(per_device_train_batch_size=4, fp16=True)", { compile: "none", batch_size: "4" }, [EXAMPLE, /Read as: TrainingArguments/]],
  ["a name that the list has not", "meta-llama/Llama-3.3-70B-Instruct", { preset: "meta-llama/Llama-3.3-70B-Instruct" }, [/name of a model/], [EXAMPLE]],
  ["a name with a version behind it", "mistralai/Mistral-7B-Instruct-v0.3", { preset: "mistral-7b-v0.3" }, [/name of a model/]],
  ["a name that nanoGPT has, too", "openai-community/gpt2", { preset: "hf-gpt2" }, [/name of a model/]],
  ["a name of the same sizes", "deepseek-ai/DeepSeek-R1", { preset: "deepseek-v3" }, [/name of a model/]],
  ["a name that only begins as one of the list", "microsoft/Phi-4-multimodal-instruct", { preset: "oom-gpt2" }, [/No model of the list/]],
  ["a container's command", "docker run --gpus all vllm/vllm-openai:latest --model mistralai/Mistral-7B-Instruct-v0.3 --max-model-len 8192", { task: "inference", seq_len: "8192", vocab_size: "32768" }, [/Read as: vLLM/]],
  ["a name that nobody knows", "someone/some-model-7b", { preset: "oom-gpt2" }, [/some-model-7b.*config\.json/s, /huggingface\.co\/someone\/some-model-7b\/blob\/main\/config\.json/], [/What can be read/]],
  ["a question", "how much vram do I need for llama 70b?", { preset: "oom-gpt2" }, [/Nothing here was recognised/], [/key = value`/]],
  ["a YAML of LLaMA-Factory", FACTORY, { lora_rank: "8", n_layer: "32" }, [/Read as: LLaMA-Factory/], [EXAMPLE]],
];

function snapshot(browser, site) {
  calculator(browser, "a newcomer chooses a snapshot", { base: site.http }, async (tab) => {
    await tab.locator("input[type=file]").setInputFiles(fileURLToPath(new URL("../cli/calc_snapshot/step2.pickle", import.meta.url)));
    await tab.locator("[data-out=pasted] table").waitFor();
    that(EXAMPLE.test(await tab.locator("[data-out=pasted]").innerText()), "it is held against the example");
    const [shade, below] = await tab.locator("[data-out=pasted] .table").evaluate((e) => ["--paper", "--tint"].map((name) => getComputedStyle(e).getPropertyValue(name)));
    equal(shade, below, "the ends of the table have the colour of the box");
  });
}

function chosen(browser, site) {
  calculator(browser, "a message, then its model", { base: site.http }, async (tab) => {
    const pasted = tab.locator("[data-out=pasted]");
    await tab.locator("textarea").fill(TOTAL("23.52"));
    await pasted.filter({ hasText: EXAMPLE }).waitFor();
    await tab.evaluate(() => window.vramPage.change({ checkpointing: "block" }, "push"));
    that(EXAMPLE.test(await pasted.innerText()), "another setting is no model");
    await tab.locator("[name=preset]").fill("llama 3.1 8b");
    await tab.keyboard.press("Enter");
    await pasted.filter({ hasText: /held against the configuration below \(llama-3\.1-8b\)/ }).waitFor();
    that(!EXAMPLE.test(await pasted.innerText()), "the model is chosen");
    equal(await tab.locator("[name=gpu]").inputValue(), "RTX 4090", "the message's card");
  });
}

// Whoever hears a list of the buttons hears what each copies.
function named(browser, site) {
  calculator(browser, "what the copy buttons copy", { base: site.http, state: "#preset=gpt2&gpu=RTX+4070" }, async (tab) => {
    for (const what of [/^Copy: A link to this calculation$/, /^Copy: Flags for nanoGPT$/, /^Copy: For the command line$/]) equal(await tab.getByRole("button", { name: what }).count(), 1, `a button ${what}`);
  });
}

export async function run(browser, site) {
  if (!await isBuilt(browser, site)) return;
  named(browser, site);
  snapshot(browser, site);
  chosen(browser, site);
  for (const [what, text, wanted, said, unsaid = []] of PASTED) {
    calculator(browser, `a newcomer pastes ${what}`, { base: site.http }, async (tab) => {
      const pasted = tab.locator("[data-out=pasted]");
      await tab.locator("textarea").fill(text);
      await pasted.locator("> *").first().waitFor();
      const state = await tab.evaluate(() => window.vramPage.state()), told = await pasted.innerText();
      for (const [key, value] of Object.entries(wanted)) equal(state[key], value, `${key} of the run`);
      for (const words of said) that(words.test(told), `${words} is not in: ${told}`);
      for (const words of unsaid) that(!words.test(told), `${words} is in: ${told}`);
      equal(await tab.locator("#calc.wrong").count(), 0, "there is an answer");
    });
  }
}
