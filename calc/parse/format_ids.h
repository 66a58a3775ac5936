// The formats of training frameworks' files, by number.

#ifndef CALC_FORMAT_IDS_H
#define CALC_FORMAT_IDS_H

enum format_id {
#define FORMAT(id, name, title, parent, newest, implied) FORMAT_##id,
#include "calc/parse/formats.def"
    FORMAT_COUNT,
    FORMAT_NONE = FORMAT_COUNT
};

#endif
