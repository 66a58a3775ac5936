// Configuration texts: flat, nanoGPT's Python, training logs; what is read, and what is refused
// where.

#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_answers.h"

static uint64_t number(vram *v, const char *key)
{
    uint64_t n = 0;
    assert_int_equal(vram_get_u64(v, key, &n), VRAM_OK);
    return n;
}

static void assert_field(vram *v, const char *key, const char *wanted)
{
    char got[64];
    assert_true(vram_get(v, key, got, sizeof got) > 0);
    assert_string_equal(got, wanted);
}

static vram *read_ok(struct heap *h, enum vram_kind kind, const char *text)
{
    vram *v = open_vram(h);
    if (parse_text(v, kind, text, strlen(text), "file") != VRAM_OK)
        fail_msg("%u:%u: %s", vram_error(v)->line, vram_error(v)->col, vram_error(v)->text);
    return v;
}

// Reads text that must be refused; checks the code, the place and a part of the message.
static void assert_bad(enum vram_kind kind, const char *text, int code, unsigned line, unsigned col,
                       const char *part)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t before = number(v, "n_layer");
    int rc = parse_text(v, kind, text, strlen(text), "file");
    const struct vram_message *m = vram_error(v);
    if (rc != code || m->line != line || m->col != col || !strstr(m->text, part))
        fail_msg("%s\n  gives %d at %u:%u: %s\n  wanted %d at %u:%u: ...%s...", text, rc, m->line,
                 m->col, m->text, code, line, col, part);
    assert_string_equal(m->file, "file");
    assert_int_equal(number(v, "n_layer"), before);  // nothing of a refused text stays
    close_vram(v, &h);
}

// ---- flat --------------------------------------------------------------------------------------

static void test_flat_values(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = read_ok(
        &h, VRAM_KIND_FLAT,
        "# a comment\n\nn_layer = 6\r\n  n_embd=384   # another\n--n_head=6\nvocab-size: 50_304,\n"
        "dtype = \"float16\"\ncompile = True\ndropout = 0.1\nlearning_rate = 6e-4\ngpu = RTX 4070\n"
        "gradient_accumulation_steps = 5 * 8");
    assert_int_equal(number(v, "n_layer"), 6);
    assert_int_equal(number(v, "n_embd"), 384);
    assert_int_equal(number(v, "n_head"), 6);
    assert_int_equal(number(v, "vocab_size"), 50304);
    assert_int_equal(number(v, "dropout"), 100000);
    assert_int_equal(number(v, "gradient_accumulation_steps"), 40);
    assert_field(v, "dtype", "float16");
    assert_field(v, "compile", "2.5");
    assert_field(v, "gpu", "RTX 4070");
    close_vram(v, &h);
}

static void test_flat_refusals(void **state)
{
    (void)state;
    assert_bad(VRAM_KIND_FLAT, "n_layer = 6\nn_layers_ = 4\n", VRAM_EKEY, 2, 1,
               "did you mean 'n_layer'");
    assert_bad(VRAM_KIND_FLAT, "batch_sise = 4\n", VRAM_EKEY, 1, 1, "did you mean 'batch_size'");
    assert_bad(VRAM_KIND_FLAT, "n_layer = -3\n", VRAM_EVALUE, 1, 11, "whole number");
    assert_bad(VRAM_KIND_FLAT, "n_layer = 0\n", VRAM_ERANGE, 1, 11, "from 1 to");
    assert_bad(VRAM_KIND_FLAT, "n_layer = 1000000000000000000\n", VRAM_ERANGE, 1, 11, "from 1 to");
    assert_bad(VRAM_KIND_FLAT, "n_layer = 99999999999999999999999999\n", VRAM_ERANGE, 1, 11,
               "from 1 to");
    assert_bad(VRAM_KIND_FLAT, "dropout = nan\n", VRAM_EVALUE, 1, 11, "number of 0 or more");
    assert_bad(VRAM_KIND_FLAT, "dropout = 1\n", VRAM_ERANGE, 1, 11, "dropout");
    assert_bad(VRAM_KIND_FLAT, "dropout = -0.1\n", VRAM_EVALUE, 1, 11, "dropout");
    assert_bad(VRAM_KIND_FLAT, "dtype = float17\n", VRAM_EVALUE, 1, 9, "float32, float16");
    assert_bad(VRAM_KIND_FLAT, "n_layer\n", VRAM_EPARSE, 1, 1, "key = value");
    assert_bad(VRAM_KIND_FLAT, "n_layer =\n", VRAM_EPARSE, 1, 9, "no value");
    assert_bad(VRAM_KIND_FLAT, "dtype = 'float16\n", VRAM_EPARSE, 1, 9, "never closed");
    assert_bad(VRAM_KIND_FLAT, "n_layer = 6\x01\n", VRAM_EPARSE, 1, 12, "not text");
    assert_bad(VRAM_KIND_FLAT, "\xc3\xa9\xc3\xa9 n_layer = x", VRAM_EKEY, 1, 1, "unknown key");
    assert_bad(VRAM_KIND_FLAT, "gpu = RTX 9999\n", VRAM_EGPU, 1, 7, "RTX 9999");
}

// ---- nanoGPT -----------------------------------------------------------------------------------

static void test_train_gpt2(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = read_ok(
        &h, VRAM_KIND_NANOGPT,
        "# config for training GPT-2 (124M) down to very nice loss of ~2.85 on 1 node of 8X A100 "
        "40GB\n"
        "wandb_log = True\nwandb_project = 'owt'\n\n# these make the total batch size be ~0.5M\n"
        "batch_size = 12\nblock_size = 1024\ngradient_accumulation_steps = 5 * 8\n"
        "max_iters = 600000\nlr_decay_iters = max_iters\nweight_decay = 1e-1\n");
    assert_int_equal(number(v, "batch_size"), 12);
    assert_int_equal(number(v, "gradient_accumulation_steps"), 40);
    assert_field(v, "compile", "2.5");  // train.py's own default
    close_vram(v, &h);
}

// What is in a block may not happen: it is not taken, and that is said.
static void test_blocks_are_not_run(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = read_ok(&h, VRAM_KIND_NANOGPT,
                      "batch_size = 4\nif big:\n    batch_size = 64\n    learning_rate = 1e-3\n");
    assert_int_equal(number(v, "batch_size"), 4);
    assert_string_equal(
        notes_of(v), "line 3 sets batch_size inside a block, which is not run: set it yourself\n");
    close_vram(v, &h);
}

static void test_head_of_train_py(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = read_ok(
        &h, VRAM_KIND_NANOGPT,
        "\"\"\"\nThis training script\nbatch_size = 99\n\"\"\"\nimport os\nfrom model import "
        "GPTConfig, GPT\n"
        "out_dir = 'out'\neval_only = False # if True, script exits\ninit_from = 'scratch'\n"
        "n_layer : int = 6\nn_head = n_layer\nn_embd = 64 * n_head\ndropout = 0.0\nbias = False\n"
        "learning_rate = 6e-4\nbeta2 = 0.95\ngrad_clip = 1.0 # clip\n"
        "dtype = 'bfloat16' if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else "
        "'float16'\n"
        "compile = False\nblock_size = (2 **\n   9)\nbatch_size = 128 // 8 + 1 - 1 # 16\n"
        "config_keys = [k for k,v in globals().items() if not k.startswith('_')]\n"
        "exec(open('configurator.py').read())\nconfig = {k: globals()[k] for k in config_keys}\n"
        "tokens_per_iter = gradient_accumulation_steps * 2\nn_layer = 99\n");
    assert_int_equal(number(v, "n_layer"), 6);
    assert_int_equal(number(v, "n_embd"), 384);
    assert_int_equal(number(v, "block_size"), 512);
    assert_int_equal(number(v, "batch_size"), 16);
    assert_field(v, "dtype", "bfloat16");
    assert_field(v, "compile", "none");
    close_vram(v, &h);
}

static void test_nanogpt_specials(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = read_ok(&h, VRAM_KIND_NANOGPT,
                      "batch_size = 1\ngradient_accumulation_steps = 32\ninit_from = 'gpt2-xl'\n");
    assert_int_equal(number(v, "batch_size"), 1);  // what is before it stays
    assert_int_equal(number(v, "gradient_accumulation_steps"), 32);
    assert_field(v, "compile", "2.5");
    assert_int_equal(number(v, "n_layer"), 48);
    assert_int_equal(number(v, "vocab_size"), 50257);
    assert_int_equal(number(v, "bias"), 1);
    assert_int_equal(number(v, "dropout"), 0);
    close_vram(v, &h);
    v = read_ok(&h, VRAM_KIND_NANOGPT, "dataset = 'shakespeare_char'\ndropout = 0.2\n");
    assert_int_equal(number(v, "vocab_size"), 65);
    assert_int_equal(number(v, "dropout"), 200000);
    assert_non_null(strstr(notes_of(v), "65"));
    close_vram(v, &h);
    v = open_vram(&h);
    set_all(v, "mode=reference");
    assert_int_equal(parse_text(v, VRAM_KIND_NANOGPT, "n_layer = 2\n", 12, NULL), VRAM_OK);
    assert_field(v, "compile", "none");  // the reference is eager
    close_vram(v, &h);
}

static void test_nanogpt_refusals(void **state)
{
    (void)state;
    assert_bad(VRAM_KIND_NANOGPT, "x = 1\nbatch_sizee = 12\n", VRAM_EKEY, 2, 1,
               "did you mean 'batch_size'");
    assert_bad(VRAM_KIND_NANOGPT, "x = start(1)\n", VRAM_EKEY, 1, 1, "unknown key 'x'");
    assert_bad(VRAM_KIND_NANOGPT, "batch_sizee = 12\n", VRAM_EKEY, 1, 1,
               "did you mean 'batch_size'");
    assert_bad(VRAM_KIND_NANOGPT, "batch_size = len(data)\n", VRAM_EPARSE, 1, 14,
               "cannot be worked out");
    assert_bad(VRAM_KIND_NANOGPT, "batch_size = 12.5\n", VRAM_EVALUE, 1, 14, "whole number");
    assert_bad(VRAM_KIND_NANOGPT, "batch_size = 3 - 5\n", VRAM_EVALUE, 1, 14, "'-2'");
    assert_bad(VRAM_KIND_NANOGPT, "batch_size = 12 / 0\n", VRAM_EPARSE, 1, 17, "division by zero");
    assert_bad(VRAM_KIND_NANOGPT, "batch_size = 10 ** 30\n", VRAM_EPARSE, 1, 17, "too large");
    assert_bad(VRAM_KIND_NANOGPT, "batch_size = 9999999999 * 9999999999\n", VRAM_EPARSE, 1, 25,
               "too large");
    assert_bad(VRAM_KIND_NANOGPT, "batch_size = (12\n", VRAM_EPARSE, 2, 1, "bracket");
    assert_bad(VRAM_KIND_NANOGPT, "dtype = 'float16\nn_layer = 1\n", VRAM_EPARSE, 1, 9,
               "never closed");
    assert_bad(VRAM_KIND_NANOGPT, "\"\"\"open\n", VRAM_EPARSE, 1, 1, "never closed");
    assert_bad(VRAM_KIND_NANOGPT, "batch_size = 12 13\n", VRAM_EPARSE, 1, 17, "end of the value");
    assert_bad(VRAM_KIND_NANOGPT, "batch_size\n", VRAM_EPARSE, 1, 1, "name = value");
    assert_bad(VRAM_KIND_NANOGPT, "batch_size = 12 if True\n", VRAM_EPARSE, 1, 24, "no `else`");
}

static void test_deep_nesting_is_refused(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    static char text[20000];
    size_t n = (size_t)snprintf(text, sizeof text, "batch_size = ");
    memset(text + n, '(', 9000);
    assert_int_equal(parse_text(v, VRAM_KIND_NANOGPT, text, n + 9000, "file"), VRAM_EPARSE);
    memset(text + n, '-', 9000);
    assert_int_equal(parse_text(v, VRAM_KIND_NANOGPT, text, n + 9000, "file"), VRAM_EPARSE);
    close_vram(v, &h);
}

// ---- logs --------------------------------------------------------------------------------------

#define COUNTS \
    "number of parameters: 29.94M\nnum decayed parameter tensors: 26, with 30,130,176 " \
    "parameters\n" \
    "num non-decayed parameter tensors: 13, with 4,992 parameters\n"

static void test_log_counts_give_the_model(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = read_ok(
        &h, VRAM_KIND_LOG,
        "tokens per iteration will be: 32,768\nInitializing a new model from scratch\n"
        "defaulting to vocab_size of GPT-2 to 50304 (50257 rounded up for efficiency)\n" COUNTS
        "using fused AdamW: True\ncompiling the model... (takes a ~minute)\n"
        "step 0: train loss 10.8, val loss 10.8\niter 0: loss 10.8, time 30000ms, mfu -100.00%\n");
    assert_int_equal(number(v, "n_layer"), 6);
    assert_int_equal(number(v, "n_embd"), 384);
    assert_int_equal(number(v, "block_size"), 512);
    assert_int_equal(number(v, "vocab_size"), 50304);
    assert_int_equal(number(v, "bias"), 0);
    assert_field(v, "optimizer", "adamw_fused");
    assert_field(v, "compile", "2.5");
    assert_null(strstr(notes_of(v), "do not agree"));
    close_vram(v, &h);
}

static void test_log_without_vocabulary(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = read_ok(&h, VRAM_KIND_LOG, COUNTS);
    assert_int_equal(number(v, "block_size"), 512);
    assert_int_equal(number(v, "vocab_size"), 50304);
    close_vram(v, &h);
    // with biases: GPT-2 124M as published, 148 tensors
    v = read_ok(&h, VRAM_KIND_LOG,
                "number of parameters: 123.65M\nnum decayed parameter tensors: 50, with "
                "124,318,464 parameters\n"
                "num non-decayed parameter tensors: 98, with 121,344 parameters\n");
    assert_int_equal(number(v, "n_layer"), 12);
    assert_int_equal(number(v, "n_embd"), 768);
    assert_int_equal(number(v, "bias"), 1);
    assert_int_equal(number(v, "vocab_size"), 50257);
    close_vram(v, &h);
}

static void test_log_echo_and_disagreement(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = read_ok(&h, VRAM_KIND_LOG,
                      "Overriding config with config/x.py:\nn_layer = 6\nn_embd = 384\nn_head = "
                      "6\nblock_size = 512\n"
                      "Overriding: batch_size = 16\nloss = nonsense here\n" COUNTS);
    assert_int_equal(number(v, "batch_size"), 16);
    assert_null(strstr(notes_of(v), "do not agree"));
    close_vram(v, &h);
    v = read_ok(&h, VRAM_KIND_LOG,
                "n_layer = 7\nn_embd = 384\nn_head = 6\nblock_size = 512\n" COUNTS);
    assert_non_null(strstr(
        notes_of(v), "do not agree: the log counts 30130176 decayed parameters in 26 tensors"));
    assert_int_equal(number(v, "n_layer"), 7);  // what was said is not overruled
    close_vram(v, &h);
    v = read_ok(&h, VRAM_KIND_LOG, "batch_size = 7\ntokens per iteration will be: 32,768\n");
    assert_non_null(strstr(notes_of(v), "no multiple"));
    close_vram(v, &h);
}

static void test_log_refusals(void **state)
{
    (void)state;
    assert_bad(VRAM_KIND_LOG, "\nnumber of parameters: many\n", VRAM_EPARSE, 2, 23, "29.94M");
    assert_bad(VRAM_KIND_LOG, "num decayed parameter tensors: 26 with x\n", VRAM_EPARSE, 1, 32,
               "expected");
    assert_bad(VRAM_KIND_LOG,
               "num decayed parameter tensors: 26, with 99999999999999999999 parameters\n",
               VRAM_EPARSE, 1, 41, "number of parameters");
    assert_bad(VRAM_KIND_LOG, "Overriding: n_layer = 0\n", VRAM_ERANGE, 1, 23, "n_layer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_values),
        cmocka_unit_test(test_flat_refusals),
        cmocka_unit_test(test_train_gpt2),
        cmocka_unit_test(test_head_of_train_py),
        cmocka_unit_test(test_blocks_are_not_run),
        cmocka_unit_test(test_nanogpt_specials),
        cmocka_unit_test(test_nanogpt_refusals),
        cmocka_unit_test(test_deep_nesting_is_refused),
        cmocka_unit_test(test_log_counts_give_the_model),
        cmocka_unit_test(test_log_without_vocabulary),
        cmocka_unit_test(test_log_echo_and_disagreement),
        cmocka_unit_test(test_log_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
