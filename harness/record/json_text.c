#include "record/json_text.h"

#include "base/str.h"

json_t *dlb_json_text(const char *text)
{
    json_t *json = json_string(text);
    if (json)
        return json;
    dlb_str plain = DLB_STR_INIT;
    for (const char *c = text; *c; c++)
        dlb_str_add_bytes(&plain, (unsigned char)*c < 0x80 ? c : "?", 1);
    json = json_string(plain.text);
    dlb_str_release(&plain);
    return json;
}
