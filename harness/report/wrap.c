#include "report/wrap.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

int dlb_wrap_columns(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xC0) != 0x80;
    return columns;
}

/* Signs that stand between blanks and belong to what is before them; all but % also to what
 * follows. */
static const char *const joints[] = {"%", "×", "±", "="};
enum { JOINTS = sizeof joints / sizeof *joints };

/* Whether the word that ends at the blank is a bare number, which belongs to what it counts. */
static bool is_count(const char *text, size_t blank)
{
    size_t digits = 0;
    while (digits < blank && isdigit((unsigned char)text[blank - digits - 1]))
        digits++;
    return digits > 0 && (digits == blank || text[blank - digits - 1] == ' ');
}

static bool may_break(const char *text, size_t blank)
{
    if (is_count(text, blank))
        return false;
    for (int i = 0; i < JOINTS; i++) {
        size_t length = strlen(joints[i]);
        if (strncmp(text + blank + 1, joints[i], length) == 0)
            return false;
        bool after = i > 0 && blank >= length;
        if (after && strncmp(text + blank - length, joints[i], length) == 0)
            return false;
    }
    return true;
}

size_t dlb_wrap_line(const char *text, int columns)
{
    size_t last = 0;
    int used = 0;
    for (size_t i = 0;; i++) {
        if (text[i] == '\0' || (text[i] == ' ' && may_break(text, i))) {
            if (used > columns)
                return last ? last : i;
            if (text[i] == '\0')
                return i;
            last = i;
        }
        used += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
}
