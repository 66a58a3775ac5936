// Owns the reading of launch scripts and command lines: which command starts a run, and its words
// as pairs.

#include "calc/base/text.h"
#include "calc/parse/actions.h"
#include "calc/parse/command.h"

static const struct program SCRIPT = {"", "_script", "config", ""},
                            RECIPE = {"", "_torchtune", "", ""}, NANOGPT = {"", "flat", "", ""},
                            TITAN = {"", "_torchtitan", "", ""}, SWIFT = {"", "_swift", "", ""};

static bool is_settings(struct span name)
{
    return command_ends(name, ".yaml") || command_ends(name, ".yml") || command_ends(name, ".json");
}

// What is said of settings that are not here: a file's name, or that of settings which came with
// the program. SRC: torchtune torchtune/_recipe_registry.py, `tune cp`; torchtitan 0.3
// torchtitan/config/manager.py, models/*/config_registry.py.
static message_id settings_first(const struct command *c, const struct program *program,
                                 struct span value)
{
    bool own = value.len > 0 && !is_settings(value) && !command_ends(value, ".toml");
    if (own && c->launcher == TUNE)
        return MESSAGE_recipe_first;
    return own && span_is(span_of(program->mark), "_torchtitan") ? MESSAGE_function_first
                                                                 : MESSAGE_file_first;
}

// Files that are not read here are asked for where nothing was given before.
static int ask_for(struct command *c, message_id id, struct span value, size_t at)
{
    err_set(&c->p->v->err, id, pairs_pos(c->out, c->p->file, at), NO_FIELD,
            ARGS(arg_part("value", value.at, value.len)));
    return parse_report(c->p);
}

// Settings that the command names.
static int on_config(struct command *c, const struct program *program, struct span value, size_t at)
{
    struct vram *v = c->p->v;
    bool given = parse_is_given(c->p);
    value = span_is(value, PAIRS_NOT_LITERAL) ? command_source(c, at) : value;
    message_id id = settings_first(c, program, value);
    c->has_config = id != MESSAGE_function_first;
    if (id == MESSAGE_function_first && (given || v->facts.model)) {
        parse_warn(c->p, MESSAGE_function_unread, pairs_pos(c->out, c->p->file, at),
                   ARGS(arg_part("value", value.at, value.len)));
        return VRAM_OK;
    }
    return given ? VRAM_OK : ask_for(c, id, value, at);
}

// ---- the program -----------------------------------------------------------------------------

static void add_implied(struct command *c, const struct program *program)
{
    for (struct span rest = span_of(program->pairs); rest.len > 0;) {
        struct span row = {rest.at, span_find(rest, " ")};
        size_t eq = span_find(row, "=");
        command_add(c, "", (struct span){row.at, eq}, span_skip(row, eq + 1), c->program.at,
                    c->program.at);
        rest = span_skip(rest, row.len + 1);
    }
}

// PYTORCH_ALLOC_CONF, or by its older name: expandable_segments:True,max_split_size_mb:128. A list
// of values is not modelled.
static void add_allocator(struct command *c, const struct program *program)
{
    static const char names[] = "expandable_segments max_split_size_mb "
                                "garbage_collection_threshold roundup_power2_divisions";
    struct shell_word w = command_variable(c, "PYTORCH_ALLOC_CONF");
    const char *prefix = span_is(span_of(program->mark), "flat") ? "" : LAUNCH;
    if (w.text.len == 0)
        w = command_variable(c, "PYTORCH_CUDA_ALLOC_CONF");
    for (struct span rest = w.text; w.known && rest.len > 0;) {
        struct span setting = {rest.at, span_find(rest, ",")};
        size_t colon = span_find(setting, ":");
        struct span name = {setting.at, colon}, value = span_skip(setting, colon + 1);
        if (command_is_key(name, names) && !span_starts(value, "["))
            command_add(c, prefix, name, value, w.at, w.at);
        rest = span_skip(rest, setting.len + 1);
    }
}

static void unread(struct command *c, struct shell_word w)
{
    struct span word = command_source(c, w.at);
    parse_warn(c->p, MESSAGE_word_unread, pairs_pos(c->out, c->p->file, w.at),
               ARGS(arg_part("word", word.at, word.len)));
}

static int on_flag(struct command *c, const struct program *program, size_t *i)
{
    struct span value, key;
    size_t at, from = *i;
    key = command_flag(c, from, &value, &at, i);
    if (command_is_key(key, "config config_file config-file job.config_file") &&
        !value_is_true(value)) {
        bool joined = span_find(command_word(c, from)->text, "=") < command_word(c, from)->text.len;
        if (!joined)  // words behind it are no part of a file's name
            value = command_value(*command_word(c, from + 1)), *i = from + 2;
        return on_config(c, program, value, at);
    }
    if (span_is(span_of(program->mark), "flat") && span_is(value, PAIRS_NOT_LITERAL)) {
        if (!parse_is_training_key(key))
            unread(c, *command_word(c, from));
        return VRAM_OK;
    }
    if (command_is_object(c, value, at))
        return command_add_object(c, key, value, at);
    command_add(c, "", key, value, command_word(c, from)->at, at);
    return VRAM_OK;
}

// The program's words as pairs.
static int arguments(struct command *c, const struct program *program)
{
    int rc = VRAM_OK;
    bool first = true;
    for (size_t i = c->at; i < c->count && rc == VRAM_OK;) {
        struct shell_word w = *command_word(c, i);
        if (command_is_flag(w)) {
            rc = on_flag(c, program, &i);
            continue;
        }
        i++;
        if (!w.known)
            unread(c, w);
        else if (command_is_pair(w)) {
            size_t eq = span_find(w.text, "=");
            command_add(c, "", (struct span){w.text.at, eq}, span_skip(w.text, eq + 1), w.at,
                        w.at + eq + 1);
        } else if (first && span_is(span_of(program->first), "config") &&
                   (program != &SCRIPT || is_settings(w.text)))
            rc = on_config(c, program, w.text, w.at);
        else if (first && program->first[0])
            command_add(c, "", span_of(program->first), w.text, w.at, w.at);
        else if (span_is(span_of(program->mark), "flat") && command_ends(w.text, ".py"))
            rc = on_config(c, program, w.text, w.at);
        first = false;
    }
    return rc;
}

// What run_train.sh of torchtitan is told by its environment: a file, or since 0.3 a function.
static int on_environment(struct command *c, const struct program *program)
{
    struct shell_word file = command_variable(c, "CONFIG_FILE"),
                      function = command_variable(c, "CONFIG"),
                      module = command_variable(c, "MODULE");
    if (!span_is(command_base(c->program.text), "run_train.sh"))
        return VRAM_OK;
    if (function.text.len == 0)
        function = module;
    if (function.text.len > 0)
        return on_config(c, program, function.text, function.at);
    return on_config(c, program, file.text.len ? file.text : span_of("CONFIG_FILE=FILE.toml"),
                     file.at);
}

// ---- runs ------------------------------------------------------------------------------------

// The value of a flag among the program's words, or NULL.
static bool says(struct command *c, const char *keys)
{
    for (size_t i = c->at; i < c->count; i++) {
        struct span name = command_word(c, i)->text;
        while (span_starts(name, "-"))
            name = span_skip(name, 1);
        if (command_is_flag(*command_word(c, i)) &&
            command_is_key((struct span){name.at, span_find(name, "=")}, keys))
            return true;
    }
    return false;
}

// train_lora.py --lora_r 8: where no switch says it, the script's name does.
static bool adapts_by_name(struct command *c)
{
    struct span name = command_base(c->program.text);
    return span_find(name, "lora") < name.len && says(c, "lora_r lora_rank") &&
           !says(c, "use_lora lora_enable use_peft use_peft_lora");
}

// nanoGPT's train.py takes --key=value alone, of its own settings, and files of Python.
static bool is_nanogpt(struct command *c)
{
    bool ours = false;
    if (!span_is(command_base(c->program.text), "train.py"))
        return false;
    for (size_t i = c->at; i < c->count; i++) {
        struct span w = command_word(c, i)->text;
        size_t eq = span_find(w, "=");
        if (command_ends(w, ".py")) {
            ours = true;
            continue;
        }
        if (!span_starts(w, "--") || eq == w.len)
            return false;
        struct span key = {w.at + 2, eq - 2};
        ours = ours || config_field(key.at, key.len) >= 0;
    }
    return ours;
}

static bool names_settings(struct command *c)
{
    if (says(c, "config config_file config-file"))
        return true;
    struct span first = c->at < c->count ? command_word(c, c->at)->text : (struct span){"", 0};
    return is_settings(first);
}

// A program of which nothing is known trains where a launcher of several processes starts it, or by
// its name. The first one is named where no other command is a run.
static void meet_stranger(struct command *c)
{
    struct span name = c->program.text;
    bool trains = c->launcher == TORCHRUN || c->launcher == ACCELERATE ||
                  c->launcher == DEEPSPEED || span_find(name, "train") < name.len ||
                  span_find(name, "tune") < name.len || span_find(name, "sft") < name.len;
    bool named = c->program.known || command_ends(name, ".py");
    if (c->launcher != BY_NAME && c->stranger.text.len == 0 && named && trains)
        c->stranger = c->program;
}

// What the command is read as; NULL: it is no run.
static const struct program *program_of(struct command *c)
{
    size_t len;
    const struct program *program = command_program(c, c->at, &len);
    bool file = program && command_ends(span_of(program->words), ".py"),
         any = program && program->words[0] == '*';
    c->program = *command_word(c, c->at);
    c->at += program ? len : 1;
    bool starts =
        says(c, "per_device_train_batch_size per-device-train-batch-size") || names_settings(c);
    if (c->launcher != BY_NAME && says(c, "tuner_type train_type sft_type"))
        return &SWIFT;  // swift/cli/sft.py
    if (program && (!any || c->launcher != PYTHON || starts) &&
        !(file && !starts && c->at == c->count))
        return program->mark[0] ? program : NULL;
    if (c->launcher == TUNE)
        return &RECIPE;
    if (c->launcher != BY_NAME && says(c, "job.config_file job.config-file"))
        return &TITAN;  // by its flag: before 0.1 its program was ./train.py
    if (c->launcher != BY_NAME && is_nanogpt(c))
        return &NANOGPT;
    if (c->launcher != BY_NAME && starts)
        return &SCRIPT;
    meet_stranger(c);
    return NULL;
}

static bool same_run(const struct command *c)
{
    size_t n = c->run_to - c->run_from;
    if (c->out->count - c->from != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct vram_pair *a = &c->out->at[c->run_from + i], *b = &c->out->at[c->from + i];
        if (!span_is(span_of(a->key), b->key) || !span_is(span_of(a->value), b->value))
            return false;
    }
    return true;
}

// Keeps the command's pairs as the run's, or says that there is another.
static int keep_run(struct command *c)
{
    struct err_pos pos = pairs_pos(c->out, c->p->file, c->program.at);
    if (c->run_line == 0) {
        c->run_line = pos.line;
        c->run_from = c->from;
        c->run_to = c->out->count;
        return VRAM_OK;
    }
    bool same = same_run(c);  // on another machine
    c->out->count = c->from;
    if (same)
        return VRAM_OK;
    err_set(&c->p->v->err, MESSAGE_run_twice, pos, NO_FIELD, ARGS(arg_u64("line", c->run_line)));
    return parse_report(c->p);
}

// A program whose runs are not modelled, from its first byte in the script to the end of the word
// at the last one; a script of Python may say by itself what it runs.
static int not_modelled(struct command *c, size_t from, size_t last)
{
    struct span name = {c->p->text + from, last + command_source(c, last).len - from};
    message_id id = from == c->stranger.at && command_ends(name, ".py") ? MESSAGE_script_first
                                                                        : MESSAGE_call_not_modelled;
    return err_set(&c->p->v->err, id, pairs_pos(c->out, c->p->file, from), NO_FIELD,
                   ARGS(arg_part("call", name.at, name.len)));
}

static int read_run(struct command *c)
{
    const struct program *program = program_of(c);
    if (!program) {
        c->out->count = c->from;
        return VRAM_OK;
    }
    if (span_is(span_of(program->mark), "!")) {
        struct shell_word last = *command_word(c, c->at > 0 ? c->at - 1 : 0);
        not_modelled(c, c->program.at, last.at > c->program.at ? last.at : c->program.at);
        c->run_line = c->run_line ? c->run_line : 1;
        return parse_report(c->p);
    }
    c->has_config = false;
    command_add_processes(c, program);
    if (program->mark[0] == '_')
        command_add(c, LAUNCH, span_of(program->mark), span_of("true"), c->program.at,
                    c->program.at);
    add_allocator(c, program);
    add_implied(c, program);
    if (program == &SCRIPT && adapts_by_name(c))
        command_add(c, "", span_of("use_lora"), span_of("true"), c->program.at, c->program.at);
    int rc = on_environment(c, program);
    rc = rc ? rc : arguments(c, program);
    if (c->has_config && program->mark[0] == '_')
        command_add(c, LAUNCH, span_of("_config"), span_of("true"), c->program.at, c->program.at);
    return rc ? rc : keep_run(c);
}

// Is word i started? An image is where a container is made of it: `docker run IMAGE`.
static bool is_started(struct command *c, const struct program *program, size_t i)
{
    struct span words = span_of(program->words);
    bool made = !command_is_image(words);
    for (size_t k = 0; k < i && !made; k++)
        made = command_is_key(command_word(c, k)->text, "run create");
    return made && command_is_name(words);
}

// Reads what a launcher or a program's name at word i or behind it starts. false: there is none.
static bool read_from(struct command *c, size_t i, int *rc)
{
    for (size_t len; i < c->count; i++) {
        bool launched = command_launcher(c, i, &len, &c->launcher);
        if (launched &&
            !(i > 0 && command_is_key(command_word(c, i - 1)->text, "install uninstall which"))) {
            c->at = i + len;
            *rc = command_to_program(c) ? read_run(c) : VRAM_OK;
            return true;
        }
        const struct program *named = command_program(c, i, &len);
        if (named && is_started(c, named, i)) {
            c->launcher = BY_NAME;
            c->at = i;
            *rc = read_run(c);
            return true;
        }
    }
    return false;
}

static int read_command(struct command *c);

// The commands of a text within this one.
static int read_script(struct command *c, struct span source)
{
    const char *at = c->s.at, *end = c->s.end;
    int rc = VRAM_OK;
    c->s.at = source.at;
    c->s.end = source.at + source.len;
    c->s.quoted = source.at[-1] == '"';
    c->within++;
    while (rc == VRAM_OK && shell_next(&c->s, &rc) && rc == VRAM_OK && !c->p->ended)
        rc = read_command(c);
    c->within--;
    c->s.at = at;
    c->s.end = end;
    c->s.quoted = false;
    return rc;
}

// A launcher stands behind other words: sudo, srun, a scheduler's command, which ends in `--`.
static int read_command(struct command *c)
{
    enum { DEEP = 3 };
    size_t last = 0;
    int rc = VRAM_OK;
    c->from = c->out->count;
    c->count = c->s.count;
    struct span source = command_within(c);
    if (source.len > 0 && c->within < DEEP)
        return read_script(c, source);
    for (size_t i = 0; i < c->count; i++)
        if (span_is(command_word(c, i)->text, "--") && i + 1 < c->count)
            last = i + 1;
    c->each = c->nodes = (struct shell_word){{"", 0}, 0, true};
    c->included = 0;
    if (!read_from(c, last, &rc) && (last == 0 || !read_from(c, 0, &rc)))
        command_meet_script(c);  // a `--` was the program's own
    return rc;
}

// A script without a run of its own: another one's, which is read before it.
static int no_run(struct command *c)
{
    struct shell_word script = c->script;
    if (c->stranger.text.len > 0)
        return not_modelled(c, c->stranger.at, c->stranger.at);
    if (script.text.len == 0 || !script.known)
        return err_set(&c->p->v->err, MESSAGE_no_command, (struct err_pos){c->p->file, 1, 1},
                       NO_FIELD, NO_ARGS);
    c->p->delegated = parse_is_given(c->p);
    return c->p->delegated ? VRAM_OK : ask_for(c, MESSAGE_file_first, script.text, script.at);
}

int read_command_line(struct parse *p, struct pair_list *out)
{
    struct command c = {.p = p, .out = out};
    int rc;
    if (!shell_init(&c.s, p, out))
        return handle_no_memory(p->v);
    while (shell_next(&c.s, &rc) && rc == VRAM_OK && !p->ended)
        rc = read_command(&c);
    if (rc != VRAM_OK)
        return rc;
    if (c.run_line == 0 && !err_is_set(&p->first))
        rc = no_run(&c);
    return rc == VRAM_OK && out->failed ? handle_no_memory(p->v) : rc;
}
