// One value of site.yaml put into its member, by the type that settings.def names.
#ifndef GEN_SITE_SETTINGS_VALUE_H
#define GEN_SITE_SETTINGS_VALUE_H

#include "gen/site/source/settings.h"
#include "gen/text/yaml.h"

enum setting_type {
    SETTING_STR,
    SETTING_URL,
    SETTING_PATH,
    SETTING_FOLDER,
    SETTING_TEXTS,
    SETTING_SYNONYMS,
    SETTING_TAG,
    SETTING_TAGS,
    SETTING_LIST,
    SETTING_DOCUMENTS,
    SETTING_BOOL,
    SETTING_UINT,
    SETTING_SEARCH,
    SETTING_MATH,
    SETTING_ADMONITIONS,
    SETTING_KIND,
    SETTING_LINKS,
    SETTING_MESSAGES
};

struct setting {
    const char *key;
    size_t len;
    enum setting_type type;
    size_t offset;
};

struct setting_reader {
    struct settings *settings;
    str text, file, base_dir;  // paths in the file are relative to base_dir
    arena *arena;
    struct diag *diag;
    bool failed, fallback_given;
};

void setting_read(struct setting_reader *r, const struct setting *s, const struct yaml_node *value);

#endif
