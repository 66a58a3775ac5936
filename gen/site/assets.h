// Files that are copied as they are, under addresses that change with their bytes.
#ifndef GEN_SITE_ASSETS_H
#define GEN_SITE_ASSETS_H

#include "gen/site/site.h"

// Address below the site of a file of the templates' folder ("style.css" -> "assets/style.0123abcd.css"); "" when there is none.
str assets_template(const struct site *site, str name);
// Address below the site of a content file that is no page, by its path below the content folder; "" when there is none.
str assets_content(const struct site *site, str path);

#endif
