// Out-of-memory messages of several PyTorch versions, and the tensors that they are about.

#include "tests/unit/calc_fixture.h"

#include "calc/answer/oom_shape.h"
#include "calc/parse/parse_oom.h"
#include "tests/unit/calc_answers.h"

// The wordings, as PyTorch printed them (numbers of two reported cases and of our own).
#define MESSAGE_1_0 \
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total " \
    "capacity; " \
    "6.36 GiB already allocated; 5.38 MiB free; 0.45 MiB cached)"
// SRC: https://github.com/karpathy/nanoGPT/issues/61
#define MESSAGE_1_13 \
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 786.00 MiB (GPU 0; 15.78 " \
    "GiB total " \
    "capacity; 14.28 GiB already allocated; 37.75 MiB free; 14.32 GiB reserved in total by " \
    "PyTorch) If reserved " \
    "memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."
#define MESSAGE_2_1 \
    "OutOfMemoryError: CUDA out of memory. Tried to allocate 6.14 GiB. GPU 0 has a total capacty " \
    "of 23.69 GiB of " \
    "which 1.27 GiB is free. Process 42 has 22.41 GiB memory in use. Of the allocated memory " \
    "20.03 GiB is " \
    "allocated by PyTorch, and 1.20 GiB is reserved by PyTorch but unallocated."
#define MESSAGE_2_5 \
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total " \
    "capacity of 11.99 GiB " \
    "of which\n1.02 GiB is free. Including non-PyTorch memory, this process has 10.80 GiB memory " \
    "in use. Of the " \
    "allocated memory 10.21 GiB is allocated by PyTorch, and 205.61 MiB is reserved by PyTorch " \
    "but unallocated."

static struct oom_message parsed(const char *text)
{
    static struct message e;
    struct oom_message m;
    memset(&e, 0, sizeof e);
    message_clear(&e);
    if (oom_parse(&m, &e, text, strlen(text)) != VRAM_OK)
        fail_msg("%s", e.out.text);
    return m;
}

static void assert_hundredths(struct vram_size s, uint64_t hundredths, uint64_t unit)
{
    assert_true(s.present);
    assert_int_equal(s.bytes, hundredths * unit / 100);
    assert_int_equal(s.high - s.bytes, unit / 100 / 2);
}

static void test_wordings(void **state)
{
    (void)state;
    const uint64_t mib = 1048576, gib = 1073741824;
    struct oom_message m = parsed(MESSAGE_1_0);
    assert_hundredths(m.tried, 2000, mib);
    assert_hundredths(m.total, 793, gib);
    assert_hundredths(m.allocated, 636, gib);
    assert_hundredths(m.free, 538, mib);
    assert_hundredths(m.unallocated, 45, mib);
    m = parsed(MESSAGE_1_13);
    assert_hundredths(m.tried, 78600, mib);
    assert_hundredths(m.reserved, 1432, gib);
    m = parsed(MESSAGE_2_1);
    assert_hundredths(m.tried, 614, gib);
    assert_hundredths(m.total, 2369, gib);
    assert_hundredths(m.free, 127, gib);
    assert_hundredths(m.in_use, 2241, gib);
    assert_hundredths(m.allocated, 2003, gib);
    assert_hundredths(m.unallocated, 120, gib);
    m = parsed("Traceback (most recent call last):\n  File \"train.py\"\n" MESSAGE_2_5 "\n");
    assert_hundredths(m.free, 102, gib);  // over a line's end
    assert_hundredths(m.unallocated, 20561, mib);
}

// NVML names every process of the card, this one by words or, in a container, by a number too.
#define OTHERS \
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total " \
    "capacity of 11.60 GiB " \
    "of which 2.44 GiB is free. Process 42 has 512.00 MiB memory in use. "
#define TENSORS \
    "Of the allocated memory 8.21 GiB is allocated by PyTorch, and 66.86 MiB is reserved by " \
    "PyTorch but unallocated."

static void test_other_processes(void **state)
{
    (void)state;
    struct oom_message m = parsed(
        OTHERS "Including non-PyTorch memory, this process has 8.60 GiB memory in use. " TENSORS);
    assert_hundredths(m.in_use, 860, 1073741824);
    assert_false(parsed(OTHERS TENSORS).in_use.present);  // less than the tensors: not this process
    // nothing is said of this process: nothing follows for others
    struct heap h = {0};
    vram *v = open_vram(&h);
    const char *bare = "CUDA out of memory. Tried to allocate 6.14 GiB. GPU 0 has a total capacity "
                       "of 11.60 GiB of "
                       "which 3.10 GiB is free.";
    assert_int_equal(write_oom(v, bare, strlen(bare), false, VRAM_FORMAT_TEXT), VRAM_OK);
    assert_null(strstr(vram_text(v, NULL), "other processes"));
    close_vram(v, &h);
}

static void test_not_a_message(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "hello",
                                        "CUDA out of memory.",
                                        "out of memory",
                                        "out of memory. Tried to allocate lots",
                                        "out of memory. Tried to allocate 99999999999999.00 GiB",
                                        "out of memory. Tried to allocate 1.2.3 GiB",
                                        "out of memory. Tried to allocate"};
    struct heap h = {0};
    vram *v = open_vram(&h);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int rc = write_oom(v, texts[i], strlen(texts[i]), false, VRAM_FORMAT_TEXT);
        if (rc != VRAM_EPARSE || vram_error(v)->line == 0)
            fail_msg("%s: %d", texts[i], rc);
    }
    close_vram(v, &h);
}

static json_t *explained(vram *v, const char *message, bool with_config)
{
    assert_int_equal(write_oom(v, message, strlen(message), with_config, VRAM_FORMAT_JSON),
                     VRAM_OK);
    json_t *j = json_loads(vram_text(v, NULL), 0, NULL);
    assert_non_null(j);
    return j;
}

static void assert_shape(const json_t *t, const char *wanted)
{
    char got[128] = "";
    size_t i;
    json_t *n;
    json_array_foreach(json_object_get(t, "shape"), i, n) snprintf(
        got + strlen(got), sizeof got - strlen(got), "%lld x ", (long long)json_integer_value(n));
    snprintf(got + strlen(got), sizeof got - strlen(got), "%lld",
             (long long)json_integer_value(json_object_get(t, "element_bytes")));
    assert_string_equal(got, wanted);
}

// The logits of the reported run: the request of 786 MiB is one of theirs.
static void test_names_the_tensor(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=gpt2 batch_size=4 dtype=float16");
    json_t *j = explained(v, MESSAGE_1_13, true);
    const json_t *first = json_array_get(json_object_get(j, "tensors"), 0);
    assert_int_equal(json_u64(first, "bytes"), 4 * 1024 * 50304 * 4);
    assert_string_equal(json_text(first, "category"), "logits");
    assert_shape(first, "4 x 1024 x 50304 x 4");
    json_decref(j);
    set_all(v, "batch_size=32");
    j = explained(v, MESSAGE_2_1, true);
    assert_shape(json_array_get(json_object_get(j, "tensors"), 0), "32 x 1024 x 50304 x 4");
    json_decref(j);
    assert_int_equal(write_oom(v, MESSAGE_2_1, strlen(MESSAGE_2_1), true, VRAM_FORMAT_TEXT),
                     VRAM_OK);
    assert_non_null(strstr(vram_text(v, NULL), "6.14 GiB = 32 x 1024 x 50304 x 4"));
    assert_non_null(strstr(vram_text(v, NULL), "batch_size"));
    // rounded to 2 MiB: 785.3 MiB asks for 786. SRC:
    // https://github.com/huggingface/transformers/issues/3360
    set_all(v, "preset=hf-gpt2 batch_size=4 dtype=float32 attention=math");
    j = explained(v, MESSAGE_1_13, true);
    assert_int_equal(json_u64(json_array_get(json_object_get(j, "tensors"), 0), "bytes"),
                     4 * 1024 * 50257 * 4);
    json_decref(j);
    close_vram(v, &h);
}

static void test_proposes_shapes(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    json_t *j = explained(v, MESSAGE_1_13, false);
    const json_t *shapes = json_object_get(j, "shapes");
    assert_true(json_array_size(shapes) >= 3);
    assert_shape(json_array_get(shapes, 0), "4 x 1024 x 50304 x 4");
    for (size_t i = 0; i < json_array_size(shapes); i++) {
        uint64_t segment = oom_asked(OOM_PYTORCH, json_u64(json_array_get(shapes, i), "bytes"));
        assert_int_equal(segment, 786 * 1048576);
    }
    json_decref(j);
    j = explained(v, MESSAGE_2_1, false);
    assert_shape(json_array_get(json_object_get(j, "shapes"), 0), "32 x 1024 x 50304 x 4");
    json_decref(j);
    close_vram(v, &h);
}

// Other compile modes are tried before it is said that nothing has the size.
// Whether a request for logits of 3 x 1024 tokens is taken for such logits.
static bool knows_vocabulary(uint64_t vocabulary)
{
    uint64_t segment = oom_asked(OOM_PYTORCH, 3 * 1024 * vocabulary * 4);
    static struct vram_shape found[1000];
    size_t room = sizeof found / sizeof *found;
    size_t count = oom_shape_guess(OOM_PYTORCH, segment, segment, found, room);
    assert_true(count < room);
    for (size_t i = 0; i < count; i++)
        if (found[i].dims == 3 && found[i].dim[2] == vocabulary &&
            strcmp(found[i].name[2], "vocabulary") == 0)
            return true;
    return false;
}

// The list of vocabularies has those of every preset of a language, and such as are round numbers.
static void test_knows_the_vocabularies(void **state)
{
    (void)state;
    static const uint64_t others[] = {65536, 131072, 32064, 65024, 100352, 49155, 201088, 129280};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!knows_vocabulary(others[i]))
            fail_msg("%u", (unsigned)others[i]);
    const struct vram_preset *p;
    for (size_t i = 0; (p = vram_preset_at(i)); i++) {
        const char *field = strstr(p->fields, "vocab_size=");
        uint64_t vocabulary = field ? strtoul(field + strlen("vocab_size="), NULL, 10) : 0;
        if (vocabulary > 1000 && !knows_vocabulary(vocabulary))
            fail_msg("%s: %u", p->name, (unsigned)vocabulary);
    }
    assert_false(knows_vocabulary(65537));
}

// cudaMallocAsync says what a tensor takes, the caching allocator which segment it asks for.
static void test_size_by_allocator(void **state)
{
    (void)state;
    const char *message = "Allocation on device 0 would exceed allowed memory. (out of memory)\n"
                          "Currently allocated     : 20.00 GiB\n"
                          "Requested               : 3.00 MiB\n";
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=gpt2 batch_size=1");
    json_t *j = explained(v, message, true);
    const json_t *tensors = json_object_get(j, "tensors");
    assert_true(json_array_size(tensors) > 0);
    for (size_t i = 0; i < json_array_size(tensors); i++)
        assert_int_equal(json_u64(json_array_get(tensors, i), "bytes"), 3 << 20);
    json_decref(j);
    j = explained(v, "CUDA out of memory. Tried to allocate 3.00 MiB.", true);
    assert_int_equal(json_array_size(json_object_get(j, "tensors")), 0);
    json_decref(j);
    assert_int_equal(oom_asked(OOM_DIRECTML, 3000000), 3000000);
    assert_int_equal(oom_asked(OOM_PYTORCH, 3000000), 20 << 20);
    j = explained(v,
                  "MPS backend out of memory (MPS allocated: 17.50 GB, other allocations: 4.00 MB, "
                  "max allowed: 18.13 GB). Tried to allocate 3.00 MB on private pool.",
                  true);
    assert_true(json_array_size(json_object_get(j, "tensors")) > 0);
    json_decref(j);
    close_vram(v, &h);
}

static void test_other_compile_modes(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    const char *message =
        "CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total capacity of 11.99 GiB "
        "of which 1.21 GiB "
        "is free. Including non-PyTorch memory, this process has 10.77 GiB memory in use. Of the "
        "allocated memory "
        "9.98 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated.";
    set_all(v, "preset=gpt2 batch_size=16 compile=2.5");
    json_t *j = explained(v, message, true);
    assert_shape(json_array_get(json_object_get(j, "tensors"), 0), "16 x 1024 x 50304 x 4");
    // Agrees better than compile=none with 9.98 GiB.
    assert_string_equal(json_text(j, "compile"), "2.4");
    json_decref(j);
    char mode[16];
    vram_get(v, "compile", mode, sizeof mode);
    assert_string_equal(mode, "2.5");  // the configuration is as it was
    assert_int_equal(write_oom(v, message, strlen(message), true, VRAM_FORMAT_TEXT), VRAM_OK);
    assert_non_null(strstr(vram_text(v, NULL), "with compile=2.4 one has"));
    close_vram(v, &h);
}

// Not PyTorch's allocator: the driver or a library.
static void test_driver(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "RuntimeError: CUDA error: out of memory",
        "torch.AcceleratorError: CUDA error: out of memory",
        "CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "CUDA_ERROR_OUT_OF_MEMORY"};
    struct heap h = {0};
    vram *v = open_vram(&h);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(parsed(texts[i]).source, OOM_DRIVER);
        assert_int_equal(write_oom(v, texts[i], strlen(texts[i]), i % 2, VRAM_FORMAT_TEXT),
                         VRAM_OK);
        assert_non_null(strstr(vram_text(v, NULL), "nvidia-smi"));
        json_t *j = explained(v, texts[i], i % 2);
        assert_true(json_is_null(json_object_get(j, "tried_bytes")));
        assert_int_equal(json_array_size(json_object_get(j, "shapes")), 0);
        json_decref(j);
    }
    assert_int_equal(parsed("cuda out of memory. tried to allocate 786 mib").source, OOM_PYTORCH);
    assert_int_equal(parsed("cuda out of memory. tried to allocate 786 mib").tried.bytes,
                     786 * 1048576);
    const char *cut = "RuntimeError: CUDA out of memory. Tried to allocate 1.53";
    assert_int_equal(write_oom(v, cut, strlen(cut), false, VRAM_FORMAT_TEXT), VRAM_EPARSE);
    assert_non_null(strstr(vram_error(v)->text, "cut off"));
    assert_int_equal(vram_error(v)->col, 36);
    close_vram(v, &h);
}

// With a card and nothing else to go by, the run dies at the first request that does not fit: here
// in evaluation, as reported. SRC: https://github.com/karpathy/nanoGPT/issues/88, whose message
// says what was allocated, too
static void test_first_that_does_not_fit(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    static const char *const messages[] = {
        "CUDA out of memory. Tried to allocate 6.14 GiB (GPU 0; 15.78 GiB total capacity; 10.16 "
        "GiB already allocated; 4.55 GiB free; "
        "10.20 GiB reserved in total by PyTorch)",
        "CUDA out of memory. Tried to allocate 6.14 GiB. GPU 0 has a total capacity of 15.78 GiB "
        "of which 4.55 GiB is free."};
    set_all(v, "preset=gpt2 batch_size=32 dtype=float16 gradient_accumulation_steps=40");
    for (size_t i = 0; i < 2; i++) {
        json_t *j = explained(v, messages[i], true);
        assert_string_equal(json_text(json_array_get(json_object_get(j, "tensors"), 0), "phase"),
                            "eval:1");
        json_decref(j);
    }
    set_all(v, "gpu=H200");  // the message's card counts
    json_t *j = explained(v, messages[1], true);
    assert_string_equal(json_text(json_array_get(json_object_get(j, "tensors"), 0), "phase"),
                        "eval:1");
    json_decref(j);
    close_vram(v, &h);
}

static void test_other_processes_first(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    const char *message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 "
                          "MiB. GPU 0 has a total capacity of 11.99 "
                          "GiB of which 12.00 MiB is free. Process 1234 has 9.00 GiB memory in "
                          "use. Including non-PyTorch memory, this "
                          "process has 2.77 GiB memory in use. Of the allocated memory 2.30 GiB is "
                          "allocated by PyTorch, and 100.00 MiB "
                          "is reserved by PyTorch but unallocated.";
    assert_int_equal(write_oom(v, message, strlen(message), false, VRAM_FORMAT_TEXT), VRAM_OK);
    const char *others = strstr(vram_text(v, NULL), "belong to other processes"),
               *pieces = strstr(vram_text(v, NULL), "expandable_segments");
    assert_true(others && pieces && others < pieces);
    close_vram(v, &h);
}

static void test_says_when_nothing_matches(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=shakespeare-char");
    assert_int_equal(write_oom(v, MESSAGE_2_1, strlen(MESSAGE_2_1), true, VRAM_FORMAT_TEXT),
                     VRAM_OK);
    assert_non_null(strstr(vram_text(v, NULL), "No tensor of this configuration has that size"));
    // half of the memory idle: fragmentation is named
    const char *idle = "CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 12.00 GiB total "
                       "capacity; 5.00 GiB already allocated; "
                       "0.50 GiB free; 11.00 GiB reserved in total by PyTorch)";
    assert_int_equal(write_oom(v, idle, strlen(idle), false, VRAM_FORMAT_TEXT), VRAM_OK);
    assert_non_null(strstr(vram_text(v, NULL), "expandable_segments:True"));
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wordings),
        cmocka_unit_test(test_not_a_message),
        cmocka_unit_test(test_other_processes),
        cmocka_unit_test(test_names_the_tensor),
        cmocka_unit_test(test_proposes_shapes),
        cmocka_unit_test(test_knows_the_vocabularies),
        cmocka_unit_test(test_says_when_nothing_matches),
        cmocka_unit_test(test_size_by_allocator),
        cmocka_unit_test(test_other_compile_modes),
        cmocka_unit_test(test_driver),
        cmocka_unit_test(test_first_that_does_not_fit),
        cmocka_unit_test(test_other_processes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
