#include <math.h>

#include "base/mem.h"
#include "cli/bench_roofline.h"
#include "cli/bench_suite_report.h"
#include "stats/spread.h"

/* Names are given to what trains best: kernels in use of the first kind, of each model. */
static bool gets_name(const dlb_suite *s, const dlb_suite_case *c)
{
    const dlb_suite_kind *kind = &s->kinds[c->kind], *best = &s->kinds[0];
    return strcmp(kind->kernels, best->kernels) == 0 && strcmp(kind->isa, best->isa) == 0 &&
           (strcmp(c->about.role, "kernel") == 0 || strcmp(c->about.role, "step") == 0);
}

static char *name_of(const dlb_suite *s, const dlb_suite_case *c)
{
    dlb_str name = DLB_STR_INIT;
    if (s->options.models[1])
        dlb_str_addf(&name, "%s ", s->kinds[c->kind].model);
    dlb_str_add(&name, c->name);
    return name.text;
}

static size_t make_marks(const dlb_suite *s, dlb_roofline_mark *marks)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const dlb_suite_case *c = &s->cases[i];
        double seconds = dlb_median(c->seconds, (size_t)s->options.rounds);
        if (c->about.flops > 0 && c->about.bytes > 0 && seconds > 0)
            marks[count++] = (dlb_roofline_mark){name_of(s, c), gets_name(s, c) ? seconds : 0,
                                                 c->about.flops / c->about.bytes,
                                                 1e-9 * c->about.flops / seconds};
    }
    return count;
}

int dlb_suite_draw_roofline(const dlb_suite *s, const char *path, dlb_error *err)
{
    const dlb_suite_kind *best = &s->kinds[0];
    dlb_roofline_mark *marks = dlb_alloc(s->count, sizeof *marks);
    dlb_roofline roofline = {.rounds = s->options.rounds,
                             .peak = dlb_suite_rate(s, best, DLB_REFERENCE_PEAK),
                             .bandwidth = dlb_suite_rate(s, best, DLB_REFERENCE_TRIAD),
                             .count = make_marks(s, marks),
                             .marks = marks};
    dlb_str title = DLB_STR_INIT;
    dlb_str_addf(&title, "All kernels on %d thread%s; names and roofs are those of %s, %s",
                 s->options.threads, s->options.threads == 1 ? "" : "s", best->kernels, best->isa);
    roofline.title = title.text;
    int status = roofline.count
                     ? dlb_roofline_draw(&roofline, path, err)
                     : dlb_fail(err, DLB_FAIL,
                                "--roofline %s: nothing that computes was measured, so there is no "
                                "picture",
                                path);
    dlb_str_release(&title);
    for (size_t i = 0; i < roofline.count; i++)
        free((char *)marks[i].name);
    free(marks);
    return status;
}
