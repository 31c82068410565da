/* The doctor's page for people. */
#include "measure/doctor.h"

enum { COLUMNS = 100, VERDICT_WIDTH = 7, TOPIC_WIDTH = 16, GAP = 2 };
enum { TEXT_COLUMN = GAP + VERDICT_WIDTH + GAP + TOPIC_WIDTH + GAP };

/* Escape sequences of a terminal. */
static const char BOLD[] = "\033[1m", DIM[] = "\033[2m", PLAIN[] = "\033[0m";
static const char *const VERDICT_COLOUR[DLB_VERDICTS] = {
    [DLB_VERDICT_OK] = "\033[32m",
    [DLB_VERDICT_WARN] = "\033[33m",
    [DLB_VERDICT_MISSING] = "\033[36m",
    [DLB_VERDICT_FAULT] = "\033[1;31m",
};

typedef struct page {
    dlb_str *out;
    bool colour;
} page;

static void switch_to(const page *p, const char *sequence)
{
    if (p->colour)
        dlb_str_add(p->out, sequence);
}

/* Columns that `length` bytes of UTF-8 take: continuation bytes take none. */
static int columns_of(const char *text, size_t length)
{
    int columns = 0;
    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/* Bytes of the next word of `text`; one that no line can hold is cut. */
static size_t next_word(const char *text)
{
    size_t length = strcspn(text, " ");
    size_t most = COLUMNS - TEXT_COLUMN - 2;
    return length > most ? most : length;
}

/* Words from column `left` on, where the cursor is, broken before COLUMNS. */
static void add_wrapped(const page *p, int left, const char *text)
{
    int column = left;
    while (*text) {
        size_t length = next_word(text);
        int width = columns_of(text, length);
        if (column > left && column + 1 + width > COLUMNS) {
            dlb_str_addf(p->out, "\n%*s", left, "");
            column = left;
        } else if (column > left) {
            dlb_str_add(p->out, " ");
            column++;
        }
        dlb_str_add_bytes(p->out, text, length);
        column += width;
        text += length;
        text += strspn(text, " ");
    }
}

static void add_finding(const page *p, const dlb_finding *f)
{
    dlb_str_addf(p->out, "%*s", GAP, "");
    switch_to(p, VERDICT_COLOUR[f->verdict]);
    dlb_str_addf(p->out, "%-*s", VERDICT_WIDTH, dlb_verdict_name(f->verdict));
    switch_to(p, PLAIN);
    dlb_str_addf(p->out, "%*s%-*s%*s", GAP, "", TOPIC_WIDTH, f->topic, GAP, "");
    add_wrapped(p, TEXT_COLUMN, f->text);
    dlb_str_add(p->out, "\n");
    if (!f->advice[0])
        return;
    dlb_str_addf(p->out, "%*s", TEXT_COLUMN, "");
    switch_to(p, DIM);
    dlb_str_add(p->out, "→ ");
    add_wrapped(p, TEXT_COLUMN + 2, f->advice);
    switch_to(p, PLAIN);
    dlb_str_add(p->out, "\n");
}

static void add_heading(const page *p, const char *section)
{
    dlb_str_add(p->out, "\n");
    switch_to(p, BOLD);
    dlb_str_add(p->out, section);
    switch_to(p, PLAIN);
    dlb_str_add(p->out, "\n");
}

static void add_summary(const page *p, const dlb_findings *findings)
{
    dlb_str_add(p->out, "\n");
    for (dlb_verdict v = 0; v < DLB_VERDICTS; v++) {
        size_t count = dlb_findings_with(findings, v);
        dlb_str_addf(p->out, "%s%zu ", v ? ", " : "", count);
        switch_to(p, count ? VERDICT_COLOUR[v] : DIM);
        dlb_str_add(p->out, dlb_verdict_name(v));
        switch_to(p, PLAIN);
    }
    dlb_str_add(p->out, "\n");
}

void dlb_doctor_text(const dlb_host *host, const dlb_findings *findings, bool colour, dlb_str *out)
{
    page p = {.out = out, .colour = colour};
    switch_to(&p, BOLD);
    dlb_str_addf(out, "%s", host->name[0] ? host->name : "this machine");
    switch_to(&p, PLAIN);
    dlb_str_add(out, ": what it offers, and what it lacks\n");
    const char *section = "";
    for (size_t i = 0; i < findings->count; i++) {
        const dlb_finding *f = &findings->items[i];
        if (strcmp(f->section, section) != 0)
            add_heading(&p, section = f->section);
        add_finding(&p, f);
    }
    add_summary(&p, findings);
}
