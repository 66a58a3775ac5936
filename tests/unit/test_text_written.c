// The language of a text by its letters: where they say it, and where they do not.
#include "gen/text/written.h"
#include "tests/unit/base_fixture.h"

static void is(const char *text, const char *tag)
{
    str found = written_in(str_c(text));
    if (!str_eq(found, str_c(tag)))
        fail_msg("%.*s, not %s: %s", STR_ARG(found), tag, text);
}

static void letters_say_it(void **state)
{
    (void)state;
    is("# 所有权\n\n这是 Rust 最特别的功能, 它们对学习 ownership 的人来说还很新。", "zh-Hans");
    is("# 所有權\n\n這是 Rust 最特別的功能, 它們對學習 ownership 的人來說還很新。", "zh-Hant");
    is("山水日月火木土金山水日月火木土金", "zh");
    is("# 所有権\n\n所有権とは何か、Rust の中心となる機能を説明します。", "ja");
    is("# 소유권\n\n러스트의 핵심 기능인 소유권을 설명합니다.", "ko");
    is("Это объяснение для тех, кто знает язык Rust.", "ru");
    is("Це пояснення для тих, хто знає мову та її історію.", "uk");
    is("Гэта тлумачэнне для ўсіх, хто ведае мову.", "be");
    is("هذا شرح لمن يعرف لغة البرمجة.", "ar");
    is("این توضیح برای کسانی است که زبان برنامه‌نویسی را "
       "می‌شناسند "
       "و "
       "چیزی "
       "می‌گویند.",
       "fa");
    is("یہ ان لوگوں کے لیے ہے جو زبان جانتے ہیں اور بڑے پروگرام لکھتے ہیں۔", "ur");
    is("यह उन लोगों के लिए है जो भाषा जानते हैं।", "hi");
    is("นี่คือคำอธิบายสำหรับผู้ที่รู้ภาษา", "th");
    is("Αυτή είναι μια εξήγηση για όσους ξέρουν.", "el");
    is("זה הסבר למי שמכיר את השפה.", "he");
}

static void letters_do_not_say_it(void **state)
{
    (void)state;
    is("", "");
    is("Plain words of a page, and one 例え of another script.", "");
    is("Uma página em português, com acentuação.", "");
    is("Това е обяснение за тези, които знаят езика.", "");  // Bulgarian has no letter of its own
    is("你好", "");                                          // too few
}

static void only_what_is_read_counts(void **state)
{
    (void)state;
    is("Words.\n\n```\n这是程序中的注释这是程序中的注释这是程序中的注释\n```\n", "");
    is("这是他们的说明, 对学习的人 [链接](https://example.org/a/long/address/of/a/page/index.html)"
       " `a_long_name_of_a_function_in_code_that_is_not_read()` <span class=\"a-long-name\">.",
       "zh-Hans");
    is("`never closed (and <neither", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_say_it),
        cmocka_unit_test(letters_do_not_say_it),
        cmocka_unit_test(only_what_is_read_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
