// Writes parity-configs.txt: 200 configurations, one a line, made by a fixed sequence of numbers.
//     node tests/calc/make-parity.mjs >tests/calc/parity-configs.txt

let seed = 20240229;
function random(n) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
}
const pick = (list) => list[random(list.length)];

const presets = ['gpt2', 'gpt2', 'gpt2-medium', 'hf-gpt2', 'nanogpt-30m', 'shakespeare-char', 'tinyllama-1.1b', 'llama-3.2-1b'];
const options = {
    batch_size: () => 1 + random(24),
    block_size: () => pick([64, 128, 256, 512, 1024]),
    n_layer: () => 1 + random(14),
    dtype: () => pick(['float32', 'float16', 'bfloat16', 'bfloat16_pure']),
    optimizer: () => pick(['adamw_fused', 'adamw_foreach', 'adamw_8bit', 'sgd', 'sgd_momentum', 'adafactor', 'muon']),
    attention: () => pick(['flash', 'mem_efficient', 'math']),
    checkpointing: () => pick(['none', 'block', 'every']),
    compile: () => pick(['none', 'none', '2.4', '2.5']),
    cross_entropy: () => pick(['eager', 'upcast', 'chunked', 'cce']),
    gradient_accumulation_steps: () => pick([1, 2, 4, 40]),
    dropout: () => pick(['0', '0.1']),
    bias: () => pick(['true', 'false']),
    mode: () => pick(['process', 'reference']),
    evaluation: () => pick(['true', 'false']),
    expandable_segments: () => pick(['true', 'false']),
    gpu: () => pick(['RTX_4070', 'A100_80GB', 'T4 dtype=float16', 'none']),
    lora_rank: () => pick([0, 0, 8]),
    parallel: () => pick(['none', 'none', 'ddp', 'zero2', 'fsdp']),
    n_gpu: () => pick([1, 8]),
    vocab_size: () => pick([256, 32000, 50257, 50304]),
    not_a_key: () => 'x',
};
// The last one is wrong on purpose: errors must be alike too, but only now and then.
const names = Object.keys(options);

for (let i = 0; i < 200; i++) {
    const words = [`preset=${pick(presets)}`];
    for (let k = random(6); k > 0; k--) {
        const name = names[random(names.length - (i % 20 ? 1 : 0))];
        words.push(`${name}=${options[name]()}`);
    }
    console.log(words.join(' '));
}
