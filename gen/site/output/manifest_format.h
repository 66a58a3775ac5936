// How manifest.json looks, for those that write and those that read it.
#ifndef GEN_SITE_MANIFEST_FORMAT_H
#define GEN_SITE_MANIFEST_FORMAT_H

// What foreign.c looks for in it: its name, its first lines, the line above the outputs, the head
// of one output's line.
#define MANIFEST_NAME "manifest.json"
#define MANIFEST_HEAD "{\n  \"generator\": \"vramdoc\",\n"
#define MANIFEST_OUTPUTS "  \"outputs\": {"
#define MANIFEST_INDENT "    \""

#endif
