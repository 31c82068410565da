#include "launch/noise.h"

enum {
    RULE_MIN = 60,  /* dashes that make a line the edge of a box; Open MPI prints 74 */
    BOX_MAX = 8192, /* bytes; what is longer is no message of a launcher */
};

static bool is_rule(const char *line)
{
    size_t dashes = strspn(line, "-");
    return dashes >= RULE_MIN && line[dashes] == '\n';
}

static bool is_noise(const dlb_noise *noise, const char *message)
{
    for (const char *const *phrase = noise->phrases; *phrase; phrase++)
        if (strstr(message, *phrase))
            return true;
    return false;
}

/* Show the message unless it is noise, and forget it. */
static void pass(const dlb_noise *noise, dlb_str *message, dlb_str *kept)
{
    if (message->length > 0 && !is_noise(noise, message->text))
        dlb_str_add_bytes(kept, message->text, message->length);
    dlb_str_clear(message);
}

static void end_line(dlb_noise *noise, dlb_str *kept)
{
    bool rule = is_rule(noise->line.text), in_box = noise->box.length > 0;
    if (!rule && !in_box) {
        pass(noise, &noise->line, kept);
        return;
    }
    dlb_str_add_bytes(&noise->box, noise->line.text, noise->line.length);
    dlb_str_clear(&noise->line);
    if ((rule && in_box) || noise->box.length > BOX_MAX)
        pass(noise, &noise->box, kept);
}

void dlb_noise_filter(dlb_noise *noise, const char *bytes, size_t count, dlb_str *kept)
{
    for (const char *end = bytes + count; bytes < end;) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *next = newline ? newline + 1 : end;
        dlb_str_add_bytes(&noise->line, bytes, (size_t)(next - bytes));
        if (newline)
            end_line(noise, kept);
        bytes = next;
    }
}

void dlb_noise_end(dlb_noise *noise, dlb_str *kept)
{
    pass(noise, &noise->box, kept);
    pass(noise, &noise->line, kept);
    dlb_str_release(&noise->box);
    dlb_str_release(&noise->line);
}
