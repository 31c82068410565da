#include "launch/chatter.h"

enum {
    RULE_MIN = 60,  /* dashes that make a line the edge of a box; Open MPI prints 74 */
    BOX_MAX = 8192, /* bytes; what is longer is no message of a launcher */
};

static bool is_rule(const char *line)
{
    size_t dashes = strspn(line, "-");
    return dashes >= RULE_MIN && line[dashes] == '\n';
}

static bool is_chatter(const dlb_chatter *chatter, const char *message)
{
    for (const char *const *phrase = chatter->phrases; *phrase; phrase++)
        if (strstr(message, *phrase))
            return true;
    return false;
}

/* Show the message unless it is chatter, and forget it. */
static void pass(const dlb_chatter *chatter, dlb_str *message, dlb_str *kept)
{
    if (message->length > 0 && !is_chatter(chatter, message->text))
        dlb_str_add_bytes(kept, message->text, message->length);
    dlb_str_clear(message);
}

static void end_line(dlb_chatter *chatter, dlb_str *kept)
{
    bool rule = is_rule(chatter->line.text), in_box = chatter->box.length > 0;
    if (!rule && !in_box) {
        pass(chatter, &chatter->line, kept);
        return;
    }
    dlb_str_add_bytes(&chatter->box, chatter->line.text, chatter->line.length);
    dlb_str_clear(&chatter->line);
    if ((rule && in_box) || chatter->box.length > BOX_MAX)
        pass(chatter, &chatter->box, kept);
}

void dlb_chatter_filter(dlb_chatter *chatter, const char *bytes, size_t count, dlb_str *kept)
{
    for (const char *end = bytes + count; bytes < end;) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *next = newline ? newline + 1 : end;
        dlb_str_add_bytes(&chatter->line, bytes, (size_t)(next - bytes));
        if (newline)
            end_line(chatter, kept);
        bytes = next;
    }
}

void dlb_chatter_end(dlb_chatter *chatter, dlb_str *kept)
{
    pass(chatter, &chatter->box, kept);
    pass(chatter, &chatter->line, kept);
    dlb_str_release(&chatter->box);
    dlb_str_release(&chatter->line);
}
