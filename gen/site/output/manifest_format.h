// How vramdoc.json, the manifest, looks, for those that write and those that read it.
#ifndef GEN_SITE_MANIFEST_FORMAT_H
#define GEN_SITE_MANIFEST_FORMAT_H

// What foreign.c looks for in it: its name, its first lines, the line above the outputs, the head
// of one output's line.
#define MANIFEST_NAME "vramdoc.json"
#define MANIFEST_EARLIER "manifest.json"  // of outputs until 0.1.0: an app's file is called so
#define MANIFEST_HEAD "{\n  \"generator\": \"vramdoc\",\n"
#define MANIFEST_OUTPUTS "  \"outputs\": {"
#define MANIFEST_INDENT "    \""

#endif
