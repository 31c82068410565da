#ifndef DLB_RECORD_JSON_TEXT_H
#define DLB_RECORD_JSON_TEXT_H

#include <jansson.h>

/* A text that is not UTF-8 loses its bytes beyond ASCII: JSON has no place for them. */
json_t *dlb_json_text(const char *text);

#endif
