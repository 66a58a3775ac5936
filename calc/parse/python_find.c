// Owns the finding of calls in Python: constructors of trainers, adapters, quantizers, loaders.

#include "calc/parse/python_find.h"

#include "calc/base/text.h"
#include "calc/parse/pairs.h"

enum { TITANS = PYTHON_CALLS - 8 };  // torchtitan's come last

static const struct python_call CALLS[PYTHON_CALLS] = {
    {"TrainingArguments", "", NULL, ""},
    {"Seq2SeqTrainingArguments", "", NULL, ""},
    {"SFTConfig", "", NULL, ""},
    {"DPOConfig", "", NULL, ""},
    {"DPOTrainer", "", "model", ""},
    {"RewardConfig", "", NULL, ""},
    {"RewardTrainer", "", "model", ""},
    {"LoraConfig", "lora_config", "r", ""},
    {"IA3Config", "lora_config", NULL, "peft_type=IA3"},
    {"get_peft_model", "peft", "model", ""},
    {"BitsAndBytesConfig", "quantization_config", NULL, ""},
    {"GPTQConfig", "quantization_config", "bits", "quant_method=gptq"},
    {"AwqConfig", "quantization_config", "bits", "quant_method=awq"},
    {"prepare_model_for_kbit_training", "kbit", "model", "prepare=true"},
    {"prepare_model_for_int8_training", "kbit", "model", "prepare=true"},  // before PEFT 0.10
    {"gradient_checkpointing_enable", "", NULL, "gradient_checkpointing=true"},
    {"DistributedConfig", "distributed_config", NULL, ""},
    {"ForCausalLM.from_pretrained", "", "model_name_or_path", "_loads=library"},
    {"FastLanguageModel.from_pretrained", "", "model_name", ""},
    {"FastLanguageModel.get_peft_model", "lora_config", NULL, ""},
    {"FastModel.from_pretrained", "", "model_name", "fast_model=true"},
    {"FastModel.get_peft_model", "lora_config", NULL, ""},
    {"FastVisionModel.from_pretrained", "", "model_name", "vision_model=true fast_model=true"},
    {"FastVisionModel.get_peft_model", "lora_config", NULL, ""},
    {"SFTTrainer", "", "model", ""},
    {"Trainer", "", "model", ""},
    {"DataCollatorWithFlattening", "collator", NULL, "flat=true"},
    {"DataCollatorForLanguageModeling", "collator", NULL, ""},
    {"DataCollatorForSeq2Seq", "collator", NULL, ""},
    {"DataCollatorWithPadding", "collator", NULL, ""},
    {"train_on_responses_only", "responses", "trainer", "only=true"},
    {"Seq2SeqTrainer", "", "model", ""},
    {"TrainingConfig", "training", NULL, ""},
    {"ParallelismConfig", "parallelism", NULL, ""},
    {"ActivationCheckpointConfig", "activation_checkpoint", NULL, ""},
    {"CompileConfig", "compile", NULL, ""},
    {"FullAC.Config", "activation_checkpoint", NULL, "mode=full"},
    {"SelectiveAC.Config", "activation_checkpoint", NULL, "mode=selective selective_ac_option=op"},
    {"MemoryBudgetAC.Config", "activation_checkpoint", NULL, "mode=memory_budget"},
    {"ChunkedLossWrapper.Config", "loss", NULL, "chunked=true"},
};

// Calls by which a run is known not to be modelled.
static const char *const OTHER_CALLS[] = {
    // an encoder and a decoder
    "ForSeq2SeqLM.from_pretrained", "T5ForConditionalGeneration.from_pretrained",
    "T5ForConditionalGeneration", "T5Model.from_pretrained",
    "BartForConditionalGeneration.from_pretrained",
    "PegasusForConditionalGeneration.from_pretrained", "MarianMTModel.from_pretrained",
    "M2M100ForConditionalGeneration.from_pretrained",
    "WhisperForConditionalGeneration.from_pretrained",
    "LEDForConditionalGeneration.from_pretrained",
    "EncoderDecoderModel.from_encoder_decoder_pretrained",
    // Trainers of TRL that hold more than a model and its batch: a second model, what is generated,
    // rewards. SRC: trl trainer/{grpo,kto,orpo,cpo,ppo,rloo,prm,bco}_config.py
    "GRPOConfig", "KTOConfig", "ORPOConfig", "CPOConfig", "PPOConfig", "RLOOConfig", "PRMConfig",
    "BCOConfig", "XPOConfig", "OnlineDPOConfig", "GKDConfig", "NashMDConfig",
    // PEFT's other methods. SRC: peft 0.21 tuners/*/config.py, and Bone of versions before
    "AdaLoraConfig", "AdamssConfig", "AdaptionPromptConfig", "BOFTConfig", "BeftConfig",
    "BoneConfig", "C3AConfig", "CPTConfig", "CartridgeConfig", "DeftConfig", "DeloraConfig",
    "FourierFTConfig", "FrodConfig", "GloraConfig", "GraloraConfig", "HRAConfig", "HiraConfig",
    "LNTuningConfig", "LilyConfig", "LoHaConfig", "LoKrConfig", "MissConfig",
    "MultitaskPromptTuningConfig", "OFTConfig", "OSFConfig", "PeanutConfig", "PolyConfig",
    "PrefixTuningConfig", "PromptEncoderConfig", "PromptTuningConfig", "PsoftConfig", "PveraConfig",
    "RandLoraConfig", "RoadConfig", "ShadowConfig", "ShiraConfig", "SupertuningConfig",
    "TinyLoraConfig", "TrainableTokensConfig", "UniLoraConfig", "VBLoRAConfig", "VeraConfig",
    "WaveFTConfig", "XLoraConfig",
    // transformers' other quantizers. SRC: transformers 5.23 utils/quantization_config.py
    "AqlmConfig", "AutoRoundConfig", "BitNetQuantConfig", "CompressedTensorsConfig", "EetqConfig",
    "FbgemmFp8Config", "FineGrainedFP8Config", "FourOverSixConfig", "FPQuantConfig", "HiggsConfig",
    "HqqConfig", "NVFP4Config", "QuantoConfig", "QuarkConfig", "SinqConfig", "SpQRConfig",
    "TorchAoConfig", "VptqConfig"};

bool python_is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct span python_word_at(const char *at, const char *end)
{
    struct span word = {at, 0};
    while (at + word.len < end && python_is_name_byte(at[word.len]))
        word.len++;
    return word;
}

const char *python_over_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

const char *python_over_quiet(const char *at, const char *end)
{
    char quote = *at;
    if (quote == '#') {
        while (at < end && *at != '\n')
            at++;
        return at;
    }
    if (quote != '"' && quote != '\'')
        return at;
    ptrdiff_t n = end - at >= 3 && at[1] == quote && at[2] == quote ? 3 : 1;
    for (at += n; at < end; at++) {
        if (*at == '\\')
            at++;
        else if (*at == quote && (n == 1 || (end - at >= 3 && at[1] == quote && at[2] == quote)))
            break;
    }
    return end - at > n ? at + n : end;
}

size_t python_depth(char c, size_t depth)
{
    if (c == '(' || c == '[' || c == '{')
        return depth + 1;
    return depth - ((c == ')' || c == ']' || c == '}') && depth > 0);
}

const char *python_over_value(const char *at, const char *end)
{
    struct span rest = {at, (size_t)(end - at)};
    bool names = span_starts(rest, "lambda ");  // up to its colon, with commas between them
    for (size_t depth = 0; at < end;) {
        const char *behind = python_over_quiet(at, end);
        bool closes = *at == ')' || *at == ']' || *at == '}';
        names = names && (depth > 0 || *at != ':');
        if (depth == 0 && (closes || (*at == ',' && !names)))
            return at;
        depth += *at == '(' || *at == '[' || *at == '{';
        depth -= closes;
        at = behind > at ? behind : at + 1;
    }
    return at;
}

const char *python_over_more(const char *at, const char *end)
{
    struct span rest = {at, (size_t)(end - at)};
    return span_starts(rest, "for ") ? at : python_over_value(at, end);
}

const char *python_over_rest(const char *at, const char *end)
{
    while ((at = python_over_value(at, end)) < end && *at == ',')
        at++;
    return at < end ? at + 1 : end;
}

// ---- where calls are -------------------------------------------------------------------------

// Does `name(` stand at `at`? It may be a part of a longer name's end only where it has a point in
// it.
static bool calls_here(const char *begin, const char *at, const char *end, const char *name)
{
    size_t n = text_len(name);
    bool whole = span_find(span_of(name), ".") == n;
    if ((size_t)(end - at) <= n || !text_equal(at, n, name) || at[n] != '(')
        return false;
    if (whole && at > begin && python_is_name_byte(at[-1]))
        return false;
    const char *word = at;
    while (word > begin && (python_is_name_byte(word[-1]) || word[-1] == '.'))
        word--;
    while (word > begin && word[-1] == ' ')
        word--;
    return !(word - begin >= 5 && text_equal(word - 5, 5, "class")) &&
           !(word - begin >= 3 && text_equal(word - 3, 3, "def"));
}

const struct python_call *python_call_at(const char *begin, const char *at, const char *end,
                                         size_t *number)
{
    for (size_t i = 0; i < PYTHON_CALLS; i++)
        if (*at == CALLS[i].name[0] && calls_here(begin, at, end, CALLS[i].name)) {
            *number = i;
            return &CALLS[i];
        }
    return NULL;
}

static bool has(struct span text, const char *what)
{
    return span_find(text, what) < text.len;
}

bool python_is_titans(struct span text)
{
    return has(text, "torchtitan") ||
           !(has(text, "class TrainingConfig") || has(text, "import TrainingConfig") ||
             has(text, "from_pretrained("));
}

bool python_call_is_titans(const struct python_call *call)
{
    return call >= CALLS + TITANS;
}

const struct python_call *python_call(size_t number)
{
    return &CALLS[number];
}

// One of the calls whose run is not modelled, or NULL.
const char *python_other_call_at(const char *begin, const char *at, const char *end)
{
    for (size_t i = 0; i < sizeof OTHER_CALLS / sizeof *OTHER_CALLS; i++)
        if (*at == OTHER_CALLS[i][0] && calls_here(begin, at, end, OTHER_CALLS[i]))
            return OTHER_CALLS[i];
    return NULL;
}

bool calls_are_in(struct span text)
{
    bool comment = false, begins = true;  // of a line, after blanks
    bool titans = python_is_titans(text);
    for (size_t i = 0; i < text.len; i++) {
        comment = text.at[i] != '\n' && (comment || (begins && text.at[i] == '#'));
        begins = text.at[i] == '\n' || (begins && (text.at[i] == ' ' || text.at[i] == '\t'));
        const char *at = text.at + i, *end = text.at + text.len;
        size_t number;
        // Others have a Trainer, too: it does not make a file one of these.
        const struct python_call *call = comment ? NULL : python_call_at(text.at, at, end, &number);
        if ((call && !text_equal(call->name, 8, "Trainer") &&
             (titans || !python_call_is_titans(call))) ||
            (!comment && python_other_call_at(text.at, at, end)))
            return true;
    }
    return false;
}

bool python_call_lightens(const struct python_call *call)
{
    return span_is(span_of(call->name), "BitsAndBytesConfig") ||
           span_is(span_of(call->name), "LoraConfig");
}

size_t python_library_prefix(struct span source)
{
    size_t n = span_starts(source, "torch.") ? 6 : span_starts(source, "TaskType.") ? 9 : 0;
    return parse_is_name(span_skip(source, n)) ? n : 0;
}
