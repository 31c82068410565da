/*
 * Plans of sweep files given as text, on the machine of fake_host.h.
 *
 *     planned p = plan_of("[grid]\nranks = 1 2\n");
 *     assert_points(p.plan, "ranks=1", "ranks=2");
 *     planned_release(&p);
 */
#ifndef DLB_TESTS_SUPPORT_PLANNED_H
#define DLB_TESTS_SUPPORT_PLANNED_H

#include <criterion/criterion.h>

#include "base/str.h"
#include "support/fake_host.h"

typedef struct planned {
    dlb_study *study;
    dlb_plan *plan;
} planned;

static inline int try_plan(planned *p, const char *text, const dlb_plan_host *host, dlb_error *err)
{
    *p = (planned){0};
    int status = dlb_study_parse(&p->study, "test.ini", text, strlen(text), err);
    if (status == 0)
        status = dlb_plan_create(&p->plan, p->study, host, err);
    if (status < 0)
        dlb_study_free(p->study);
    return status;
}

static inline void planned_release(planned *p)
{
    dlb_plan_free(p->plan);
    dlb_study_free(p->study);
}

static inline planned plan_of(const char *text)
{
    planned p;
    dlb_error err;
    dlb_plan_host host = fake_host(NULL);
    cr_assert_eq(try_plan(&p, text, &host, &err), 0, "%s", err.message);
    return p;
}

/* The message with which a file is refused. */
static inline const char *refusal_of(const char *text)
{
    static dlb_error err;
    planned p;
    dlb_plan_host host = fake_host(NULL);
    cr_assert_eq(try_plan(&p, text, &host, &err), DLB_BAD_INPUT, "accepted:\n%s", text);
    return err.message;
}

/* The file must be refused with a message that holds `part`, and with the caret where it is shown:
 * a second text below the line at fault. */
static inline void assert_refused(const char *text, const char *part, const char *caret)
{
    const char *message = refusal_of(text);
    cr_assert(strstr(message, part), "'%s' is not in:\n%s", part, message);
    cr_assert(strstr(message, caret), "the caret is elsewhere in:\n%s", message);
}

/* Append the parameters that vary, as "ranks=1 threads=8"; "-" is a missing value. */
static inline void describe_point(const dlb_plan *plan, size_t point, dlb_str *text)
{
    const char *separator = "";
    dlb_str_add(text, "");
    for (size_t p = 0; p < dlb_plan_parameters(plan); p++) {
        if (!dlb_plan_varies(plan, p))
            continue;
        bool has = dlb_plan_has(plan, point, (int)p);
        dlb_str_addf(text, "%s%s=%s", separator, dlb_plan_parameter(plan, p),
                     has ? dlb_plan_value(plan, point, (int)p) : "-");
        separator = " ";
    }
}

static inline void assert_point(const dlb_plan *plan, size_t point, const char *expected)
{
    dlb_str text = DLB_STR_INIT;
    describe_point(plan, point, &text);
    cr_assert_str_eq(text.text, expected, "point %zu: %s", point, text.text);
    dlb_str_release(&text);
}

/* The plan has these points in this order, described by what varies. */
#define assert_points(plan, ...)                                                                   \
    do {                                                                                           \
        const char *const expected_[] = {__VA_ARGS__};                                             \
        cr_assert_eq(dlb_plan_count(plan), sizeof expected_ / sizeof *expected_, "%zu points",     \
                     dlb_plan_count(plan));                                                        \
        for (size_t i_ = 0; i_ < sizeof expected_ / sizeof *expected_; i_++)                       \
            assert_point(plan, i_, expected_[i_]);                                                 \
    } while (0)

static inline const char *value_of(const dlb_plan *plan, size_t point, const char *name)
{
    int parameter = dlb_plan_find(plan, name);
    cr_assert_geq(parameter, 0, "%s is no parameter", name);
    return dlb_plan_value(plan, point, parameter);
}

#endif
