#include "base/pattern.h"

int dlb_pattern_compile(regex_t *regex, const char *pattern, dlb_error *err)
{
    char why[128];
    int problem = regcomp(regex, pattern, REG_EXTENDED);
    if (problem) {
        regerror(problem, regex, why, sizeof why);
        return dlb_fail(err, DLB_BAD_INPUT, "no regular expression: %s", why);
    }
    if (regex->re_nsub > 0)
        return 0;
    regfree(regex);
    return dlb_fail(err, DLB_BAD_INPUT,
                    "a group is missing; put the number in parentheses, such as ([0-9.]+)");
}

int dlb_pattern_check(const char *pattern, dlb_error *err)
{
    regex_t regex;
    int status = dlb_pattern_compile(&regex, pattern, err);
    if (status == 0)
        regfree(&regex);
    return status;
}

bool dlb_pattern_find(const regex_t *regex, const char *line, dlb_str *value)
{
    regmatch_t group[2];
    if (regexec(regex, line, 2, group, 0) != 0)
        return false;
    dlb_str_clear(value);
    dlb_str_add(value, "");
    if (group[1].rm_so >= 0)
        dlb_str_add_bytes(value, line + group[1].rm_so, (size_t)(group[1].rm_eo - group[1].rm_so));
    return true;
}
