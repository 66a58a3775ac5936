// Owns the flags of commands as pairs, and what a launcher's say: the processes that it makes.

#include "calc/base/text.h"
#include "calc/parse/command.h"

// Flags of launchers that stand alone.
static const char ALONE[] = "standalone multi_gpu use_fsdp use_deepspeed cpu mps tpu debug quiet "
                            "same_network no_python module use_megatron_lm no_local_rank "
                            "use_parallelism_config use_env enable_each_rank_log u";

// ---- pairs -----------------------------------------------------------------------------------

// Goes into the key, with an underscore for each dash. false: it has no name, or too long a one.
static bool enter(struct command *c, const char *prefix, struct span key)
{
    char name[96];
    size_t before = text_len(prefix), n = key.len < sizeof name - before ? key.len : 0;
    mem_copy(name, prefix, before);
    for (size_t i = 0; i < n; i++)
        name[before + i] = key.at[i] == '-' ? '_' : key.at[i];
    return n > 0 && pairs_enter(c->out, (struct span){name, before + n}) != SIZE_MAX;
}

void command_add(struct command *c, const char *prefix, struct span key, struct span value,
                 size_t key_at, size_t value_at)
{
    if (value.len > 1 && value.at[0] == '[' && value.at[value.len - 1] == ']')
        value = (struct span){value.at + 1, value.len - 2};
    if (!enter(c, prefix, key))
        return;
    pairs_add(c->out, value, key_at, value_at);
    pairs_leave(c->out, 0);
}

bool command_is_object(const struct command *c, struct span value, size_t at)
{
    return value.len > 1 && value.at[0] == '{' && value.at[value.len - 1] == '}' &&
           c->p->text[at] == '\'' && at + value.len + 1 < c->p->len &&
           c->p->text[at + value.len + 1] == '\'';
}

int command_add_object(struct command *c, struct span key, struct span value, size_t at)
{
    if (!enter(c, "", key))
        return VRAM_OK;
    int rc = read_json_within(c->p, c->out, at + 1, value.len);
    pairs_leave(c->out, 0);
    return rc;
}

// Has this command such a key?
static bool added(const struct command *c, const char *key)
{
    for (size_t i = c->from; i < c->out->count; i++)
        if (span_is(span_of(c->out->at[i].key), key))
            return true;
    return false;
}

struct span command_value(struct shell_word w)
{
    return w.known ? w.text : span_of(PAIRS_NOT_LITERAL);
}

// key=value, as torchtune's and LLaMA-Factory's command lines have it.
bool command_is_pair(struct shell_word w)
{
    size_t eq = span_find(w.text, "=");
    for (size_t i = 0; i < eq; i++)
        if (!parse_is_name((struct span){w.text.at + i, 1}) && w.text.at[i] != '.' &&
            !(w.text.at[i] >= '0' && w.text.at[i] <= '9'))
            return false;
    return eq > 0 && eq < w.text.len;
}

// A flag at word i: its name, and its value with the place of it; *next is the word behind both.
// Several words are one value with commas between them.
struct span command_flag(struct command *c, size_t i, struct span *value, size_t *value_at,
                         size_t *next)
{
    struct shell_word w = *command_word(c, i);
    while (span_starts(w.text, "-"))
        w.text = span_skip(w.text, 1);
    size_t eq = span_find(w.text, "="), dashes = command_word(c, i)->text.len - w.text.len;
    struct span key = {w.text.at, eq};
    *next = i + 1;
    if (eq < w.text.len) {
        w.text = span_skip(w.text, eq + 1);
        *value_at = w.at + dashes + eq + 1;
        *value = command_value(w);
        return key;
    }
    *value = span_of("true");
    *value_at = w.at;
    for (; *next < c->count && !command_is_flag(*command_word(c, *next)); ++*next) {
        struct shell_word more = *command_word(c, *next);
        bool first = *next == i + 1;
        if (!first && command_is_pair(more))
            break;
        if (first)
            *value_at = more.at;
        if (!first && span_is(*value, PAIRS_NOT_LITERAL))
            continue;
        if (first || (more.known && value->len + more.text.len < PARSE_LIST_MAX))
            *value = first ? command_value(more) : pairs_join(c->out, *value, more.text, false);
        else
            *value = span_of(PAIRS_NOT_LITERAL);
    }
    if (*next == i + 1 && (span_starts(key, "no_") || span_starts(key, "no-")) &&
        !span_is(key, "no_kv_offload") && !span_is(key, "no-kv-offload")) {
        *value = span_of("false");
        return span_skip(key, 3);
    }
    return key;
}

bool command_is_key(struct span key, const char *words)
{
    return text_has_word(words, key.at, key.len);
}

// ---- launchers -------------------------------------------------------------------------------

// "host:0,1@other:2,3" counts 4; 0: a machine without a list, all of whose cards count. SRC:
// deepspeed launcher/runner.py, parse_resource_filter.
static uint64_t slots_of(struct span hosts)
{
    uint64_t n = 0;
    while (hosts.len > 0) {
        struct span one = {hosts.at, span_find(hosts, "@")};
        if (span_find(one, ":") == one.len)
            return 0;
        n++;
        for (size_t i = 0; i < one.len; i++)
            n += one.at[i] == ',';
        hosts = span_skip(hosts, one.len + 1);
    }
    return n;
}

static void launcher_flag(struct command *c, size_t i, size_t *next)
{
    struct span value, key;
    size_t at;
    key = command_flag(c, i, &value, &at, next);
    struct shell_word taken = *command_word(c, i);
    bool alone = command_is_key(key, ALONE);
    if (span_find(taken.text, "=") < taken.text.len) {
        taken.text = value;
        taken.known = !span_is(value, PAIRS_NOT_LITERAL);
    } else if (!alone && i + 1 < c->count && *next > i + 1) {
        taken = *command_word(c, i + 1);
        *next = i + 2;
    } else {
        taken.text = span_of("true");
        taken.known = true;
        *next = i + 1;
    }
    if (command_is_key(key, "nproc_per_node nproc-per-node num_gpus num_processes"))
        c->each = taken;
    else if (command_is_key(key, "nnodes num_nodes"))
        c->nodes = taken;
    else if (c->launcher == ACCELERATE)
        command_add(c, LAUNCH, key, command_value(taken), command_word(c, i)->at, taken.at);
    else if (c->launcher == DEEPSPEED && command_is_key(key, "include")) {
        c->included = taken.known ? slots_of(taken.text) : 0;
        c->each = (struct shell_word){{"", 0}, taken.at, false};
    }
}

// To the program, over the launcher's own flags. false: none is started.
bool command_to_program(struct command *c)
{
    size_t len;
    while (c->at < c->count) {
        struct shell_word w = *command_word(c, c->at);
        if (c->launcher == PYTHON && span_is(w.text, "-c"))
            return false;
        if (span_is(w.text, "-m") || span_is(w.text, "--module")) {
            c->at++;
            if (command_launcher(c, c->at, &len, &c->launcher)) {
                c->at += len;
                continue;
            }
            return c->at < c->count;
        }
        if (command_launcher(c, c->at, &len, &c->launcher)) {
            c->at += len;
            continue;
        }
        if (!command_is_flag(w) &&
            (w.known || command_ends(w.text, ".py") || c->at + 1 == c->count))
            return true;
        if (!command_is_flag(w)) {  // words of the launcher that are not known
            c->each = w;
            c->at++;
        } else if (c->launcher == PYTHON)
            c->at++;
        else
            launcher_flag(c, c->at, &c->at);
    }
    return false;
}

static uint64_t number_of(struct shell_word w)
{
    uint64_t n = 0;
    bool overflow;
    return w.known && text_to_u64(w.text.at, w.text.len, &n, &overflow) && n < 1000000 ? n : 0;
}

struct shell_word command_variable(struct command *c, const char *name)
{
    const struct shell_name *b = shell_value(&c->s, name);
    struct shell_word none = {{"", 0}, c->program.at, true};
    return b ? (struct shell_word){b->value, c->program.at, b->known} : none;
}

// CUDA_VISIBLE_DEVICES=0,1; 0 where nothing says how many there are.
static uint64_t visible(struct command *c)
{
    struct span list = command_variable(c, "CUDA_VISIBLE_DEVICES").text;
    uint64_t n = list.len > 0;
    for (size_t i = 0; i < list.len; i++)
        n += list.at[i] == ',';
    return n;
}

// Processes on all machines; 0: they are not said. *unknown: something says it that is not read.
static uint64_t processes(struct command *c, const char *mark, bool *unknown)
{
    bool own =
        c->launcher == BY_NAME && command_is_key(span_of(mark), "_swift _llamafactory _torchtitan");
    if (own) {
        c->each = command_variable(
            c, command_is_key(span_of(mark), "_torchtitan") ? "NGPU" : "NPROC_PER_NODE");
        c->nodes = command_variable(c, "NNODES");
    } else if (c->launcher == BY_NAME || c->launcher == PYTHON)
        return 0;
    if (c->included)
        return c->included;
    uint64_t each = number_of(c->each), nodes = number_of(c->nodes);
    bool all = c->each.known && (c->each.text.len == 0 || command_is_key(c->each.text, "auto gpu"));
    if (all && command_is_key(span_of(mark), "_torchtitan"))
        each = 8;  // SRC: torchtitan run_train.sh, NGPU
    else if (all && c->each.text.len == 0 && (c->launcher == TORCHRUN || c->launcher == TUNE))
        each = 1;
    else if (all)
        each = visible(c);
    if (c->launcher == ACCELERATE || c->nodes.text.len == 0)
        nodes = 1;
    *unknown = (!all && each == 0) || nodes == 0;
    return *unknown ? 0 : each * nodes;
}

void command_add_processes(struct command *c, const struct program *program)
{
    bool unknown = false, flat = span_is(span_of(program->mark), "flat"),
         hf = command_is_key(span_of(program->mark),
                             "_dpo _reward _script _trl _llamafactory _axolotl _swift");
    uint64_t n = processes(c, program->mark, &unknown);
    size_t at = c->each.text.len ? c->each.at : c->program.at;
    char digits[TEXT_DIGITS];
    struct span number = span_of_number(n ? n : flat, digits);
    if (flat)
        command_add(c, "", span_of("n_gpu"), number, at, at);
    else if (n || unknown)
        command_add(c, LAUNCH, span_of("num_processes"), n ? number : span_of(PAIRS_NOT_LITERAL),
                    at, at);
    if (n > 1 && flat)
        command_add(c, "", span_of("parallel"), span_of("ddp"), at, at);
    else if (n > 1 && hf && !added(c, LAUNCH "config_file") && !added(c, LAUNCH "use_fsdp") &&
             !added(c, LAUNCH "use_deepspeed"))
        command_add(c, LAUNCH, span_of("scheme"), span_of("ddp"), at, at);
    else if (c->launcher == TUNE && command_ends(c->program.text, "_distributed"))
        command_add(c, LAUNCH, span_of("scheme"), span_of("fsdp"), at, at);
}
