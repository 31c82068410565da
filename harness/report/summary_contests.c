#include "report/summary_contests.h"

#include <math.h>
#include <stdint.h>

#include "report/board.h"
#include "report/figures.h"

static const char *value_of(const dlb_contest *contest, size_t point)
{
    return dlb_value_label(dlb_point_text(contest->points, point, contest->parameter));
}

/* "keras_cnn, isa auto: peer dlbench trains 1500 images/s, 4.40 times (4.36 to 4.57) …" */
static void add_panel(const dlb_board *board, size_t panel, dlb_str *out)
{
    const dlb_contest *contest = board->contest;
    const dlb_board_entry *entries = board->entries[panel];
    const dlb_board_entry *first = dlb_board_best(board, panel, SIZE_MAX);
    const dlb_board_entry *next =
        first ? dlb_board_best(board, panel, (size_t)(first - entries)) : NULL;
    if (!next)
        return;
    dlb_str title = DLB_STR_INIT;
    dlb_contest_title(contest, panel, &title);
    dlb_str_addf(out, "%s%s", title.text, title.length ? ": " : "");
    dlb_str_release(&title);
    dlb_parameter_label(dlb_points_parameter(board->points, (size_t)contest->parameter), out);
    double rate = first->value.value;
    dlb_str_addf(out, rate < 100 ? " %s trains %.1f images/s" : " %s trains %.0f images/s",
                 value_of(contest, first->point), rate);
    dlb_interval ratio =
        dlb_point_ratio(board->points, first->point, next->point, DLB_MEASURE_images_per_s);
    if (!isnan(ratio.value))
        dlb_str_addf(out, ", %.2f times", ratio.value);
    if (!isnan(ratio.low))
        dlb_str_addf(out, " (%.2f to %.2f)", ratio.low, ratio.high);
    dlb_str_addf(out, isnan(ratio.value) ? "; next is %s.\n" : " as many as the next, %s.\n",
                 value_of(contest, next->point));
}

void dlb_summary_contests(const dlb_points *points, dlb_str *sentences)
{
    dlb_contests contests;
    dlb_contests_make(&contests, points);
    for (size_t i = 0; i < contests.count; i++) {
        dlb_board board;
        if (!dlb_board_make(&board, &contests.items[i], DLB_BOARD_RATE))
            continue;
        for (size_t panel = 0; panel < contests.items[i].panel_count; panel++)
            add_panel(&board, panel, sentences);
    }
    dlb_contests_release(&contests);
}
