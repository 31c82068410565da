/* The help of a command: its flags, then the workload's keys under their headings. */
#include "config/flags.h"

enum { MIN_WIDTH = 60, MARGIN = 2 };

/* The layout of a page. */
typedef struct page {
    dlb_str *out;
    size_t width;
    size_t label; /* columns of the left column, margins included */
} page;

/* A line of the keys' part: a heading, or a key where there is none. */
typedef struct entry {
    const char *heading;
    enum dlb_key key;
} entry;

static const entry entries[] = {
#define KEY_GROUP(title) {.heading = (title)},
#define KEY(name)        {.key = DLB_KEY_##name},
#include "config/keys.def"
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static void add_spaces(dlb_str *out, size_t count)
{
    dlb_str_addf(out, "%*s", (int)count, "");
}

/* Append `text` word by word from column `at` on; further lines begin at column `indent`. */
static void add_wrapped(const page *p, size_t at, size_t indent, const char *text)
{
    bool first = true;
    while (*(text += strspn(text, " "))) {
        size_t length = strcspn(text, " ");
        if (!first && at + 1 + length > p->width) {
            dlb_str_add(p->out, "\n");
            add_spaces(p->out, indent);
            at = indent;
        } else if (!first) {
            dlb_str_add(p->out, " ");
            at++;
        }
        dlb_str_add_bytes(p->out, text, length);
        at += length;
        text += length;
        first = false;
    }
    dlb_str_add(p->out, "\n");
}

static void add_entry(const page *p, const char *label, const char *text)
{
    size_t used = MARGIN + strlen(label);
    add_spaces(p->out, MARGIN);
    dlb_str_add(p->out, label);
    if (used + MARGIN > p->label) {
        dlb_str_add(p->out, "\n");
        used = 0;
    }
    add_spaces(p->out, p->label - used);
    add_wrapped(p, p->label, p->label, text);
}

static void flag_label(const dlb_flag *flag, dlb_str *label)
{
    dlb_str_clear(label);
    dlb_str_addf(label, "--%s%s%s", flag->name, flag->value ? " " : "",
                 flag->value ? flag->value : "");
}

static void key_label(enum dlb_key key, dlb_str *label)
{
    dlb_str_clear(label);
    dlb_key_flag(key, label);
    dlb_str_addf(label, " %s", dlb_key_info(key)->value);
}

/* The help of a key, then in parentheses its range and default. */
static void key_text(const struct dlb_key_info *info, dlb_str *text)
{
    dlb_str_clear(text);
    dlb_str_add(text, info->help);
    const char *separator = " (";
    if (info->type == DLB_TYPE_INT || info->type == DLB_TYPE_REAL) {
        dlb_str_add(text, separator);
        dlb_key_range(info, text);
        separator = "; ";
    }
    if (*info->preset)
        dlb_str_addf(text, "%sdefault %s%s)", separator, info->preset,
                     info->of_model ? "; the model's own where it has one" : "");
}

/* Widen the left column for a label, up to a third of the page; a longer one has its own line. */
static void make_room(page *p, const dlb_str *label)
{
    size_t need = MARGIN + label->length + MARGIN;
    if (need > p->label && need <= p->width / 3)
        p->label = need;
}

static void measure_labels(page *p, const dlb_command *command)
{
    dlb_str label = DLB_STR_INIT;
    for (size_t i = 0; i < command->flag_count; i++) {
        flag_label(&command->flags[i], &label);
        make_room(p, &label);
    }
    for (int key = 0; command->workload && key < DLB_KEY_COUNT; key++) {
        key_label((enum dlb_key)key, &label);
        make_room(p, &label);
    }
    dlb_str_release(&label);
}

static void add_usage(const page *p, const dlb_command *command)
{
    dlb_str_addf(p->out, "usage: %s [--flag value]...%s%s\n\n", command->name,
                 *command->operands ? " " : "", command->operands);
    add_wrapped(p, 0, 0, command->about);
}

static void add_own_flags(const page *p, const dlb_command *command)
{
    dlb_str label = DLB_STR_INIT;
    dlb_str_add(p->out, "\nOptions\n");
    for (size_t i = 0; i < command->flag_count; i++) {
        flag_label(&command->flags[i], &label);
        add_entry(p, label.text, command->flags[i].help);
    }
    add_entry(p, "--help", "show this help");
    dlb_str_release(&label);
}

static void add_keys(const page *p)
{
    dlb_str label = DLB_STR_INIT, text = DLB_STR_INIT;
    for (size_t i = 0; i < ENTRIES; i++) {
        if (entries[i].heading) {
            dlb_str_addf(p->out, "\n%s\n", entries[i].heading);
            continue;
        }
        key_label(entries[i].key, &label);
        key_text(dlb_key_info(entries[i].key), &text);
        add_entry(p, label.text, text.text);
    }
    dlb_str_release(&text);
    dlb_str_release(&label);
}

void dlb_flags_help(const dlb_command *command, int width, dlb_str *out)
{
    page p = {
        .out = out,
        .width = (size_t)(width < MIN_WIDTH ? MIN_WIDTH : width),
        .label = MARGIN + strlen("--help") + MARGIN,
    };
    measure_labels(&p, command);
    add_usage(&p, command);
    add_own_flags(&p, command);
    if (command->workload)
        add_keys(&p);
}
