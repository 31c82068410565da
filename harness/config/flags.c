#include "config/flags.h"

#include "base/mem.h"

/* Longer than the name of any flag: a name cut to this length is unknown. */
enum { MAX_NAME = 64 };

/* What is left of the command line, and where it goes. */
typedef struct reader {
    const dlb_command *command;
    dlb_arguments *arguments;
    char *const *next, *const *end;
    dlb_error *err;
} reader;

/* One flag as typed. */
typedef struct typed_flag {
    char name[MAX_NAME];  /* without dashes and "=value" */
    const char *attached; /* the text after "=", or NULL */
} typed_flag;

static typed_flag split(const char *argument)
{
    typed_flag flag;
    const char *start = argument + strspn(argument, "-");
    size_t length = strcspn(start, "=");
    snprintf(flag.name, sizeof flag.name, "%.*s", (int)(length < MAX_NAME ? length : MAX_NAME),
             start);
    flag.attached = start[length] == '=' ? start + length + 1 : NULL;
    return flag;
}

/* The value of a flag that needs one: attached, or the next argument. NULL after an error. */
static const char *take_value(reader *r, const typed_flag *flag, const char *what)
{
    if (flag->attached)
        return flag->attached;
    if (r->next == r->end)
        dlb_fail(r->err, DLB_BAD_INPUT, "--%s needs a value: --%s %s", flag->name, flag->name,
                 what);
    else if (strncmp(*r->next, "--", 2) == 0)
        dlb_fail(r->err, DLB_BAD_INPUT,
                 "--%s needs a value: --%s %s; one that begins with -- is given as --%s=%.80s",
                 flag->name, flag->name, what, flag->name, *r->next);
    else
        return *r->next++;
    return NULL;
}

/* A boolean takes the next argument only if that is yes or no. */
static const char *take_yes_or_no(reader *r, const typed_flag *flag)
{
    if (flag->attached)
        return flag->attached;
    if (r->next < r->end && (strcmp(*r->next, "yes") == 0 || strcmp(*r->next, "no") == 0))
        return *r->next++;
    return "yes";
}

static int read_key(reader *r, const typed_flag *flag, enum dlb_key key)
{
    const struct dlb_key_info *info = dlb_key_info(key);
    const char *text =
        info->type == DLB_TYPE_BOOL ? take_yes_or_no(r, flag) : take_value(r, flag, info->value);
    return text ? dlb_workload_set(r->command->workload, key, text, r->err) : DLB_BAD_INPUT;
}

static int read_own(reader *r, const typed_flag *flag, const dlb_flag *own)
{
    if (own->value) {
        *own->text = take_value(r, flag, own->value);
        return *own->text ? 0 : DLB_BAD_INPUT;
    }
    if (flag->attached)
        return dlb_fail(r->err, DLB_BAD_INPUT, "--%s takes no value, but was given %.80s",
                        own->name, flag->attached);
    *own->on = true;
    return 0;
}

/* Names of all flags of the command, as typed; free the array and nothing else. */
static char (*list_names(const dlb_command *command, size_t *count))[MAX_NAME]
{
    size_t keys = command->workload ? DLB_KEY_COUNT : 0, used = 0;
    char(*names)[MAX_NAME] = dlb_alloc(command->flag_count + keys + 1, sizeof *names);
    snprintf(names[used++], MAX_NAME, "help");
    for (size_t i = 0; i < command->flag_count; i++)
        snprintf(names[used++], MAX_NAME, "%s", command->flags[i].name);
    for (size_t key = 0; key < keys; key++) {
        dlb_str flag = DLB_STR_INIT;
        dlb_key_flag((enum dlb_key)key, &flag);
        snprintf(names[used++], MAX_NAME, "%s", flag.text + strlen("--"));
        dlb_str_release(&flag);
    }
    *count = used;
    return names;
}

static int refuse_unknown(const reader *r, const char *argument, const typed_flag *flag)
{
    size_t count;
    char(*names)[MAX_NAME] = list_names(r->command, &count);
    const char **candidates = dlb_alloc(count, sizeof *candidates);
    for (size_t i = 0; i < count; i++)
        candidates[i] = names[i];
    const char *closest = dlb_closest(flag->name, candidates, count);
    int length = (int)strcspn(argument, "=");
    if (closest)
        dlb_fail(r->err, DLB_BAD_INPUT, "unknown flag %.*s; did you mean --%s?",
                 length < 80 ? length : 80, argument, closest);
    else
        dlb_fail(r->err, DLB_BAD_INPUT, "unknown flag %.*s; %s --help lists all",
                 length < 80 ? length : 80, argument, r->command->name);
    free(candidates);
    free(names);
    return DLB_BAD_INPUT;
}

static int read_flag(reader *r, const char *argument)
{
    typed_flag flag = split(argument);
    if (argument[1] == '-') {
        for (size_t i = 0; i < r->command->flag_count; i++) {
            if (strcmp(flag.name, r->command->flags[i].name) == 0)
                return read_own(r, &flag, &r->command->flags[i]);
        }
        int key = r->command->workload ? dlb_key_find(flag.name) : -1;
        if (key >= 0)
            return read_key(r, &flag, (enum dlb_key)key);
    }
    return refuse_unknown(r, argument, &flag);
}

/* The next word of `operands`, of *length characters; NULL at the end. */
static const char *next_operand(const char *operands, size_t *length)
{
    operands += strspn(operands, " ");
    *length = strcspn(operands, " ");
    return *length ? operands : NULL;
}

/* The place of the operand after those already read; NULL when the command takes no more. */
static const char *expected_operand(const reader *r, size_t *length)
{
    const char *operand = next_operand(r->command->operands, length);
    for (int i = 0; operand && i < r->arguments->operand_count; i++)
        operand = next_operand(operand + *length, length);
    return operand;
}

static int read_operand(reader *r, const char *argument)
{
    size_t length;
    if (!expected_operand(r, &length) || r->arguments->operand_count == DLB_MAX_OPERANDS)
        return dlb_fail(r->err, DLB_BAD_INPUT, "%s takes no argument %.80s%s", r->command->name,
                        argument, *r->command->operands ? " after the others" : "");
    r->arguments->operands[r->arguments->operand_count++] = argument;
    return 0;
}

static int refuse_missing_operand(const reader *r)
{
    size_t length;
    const char *operand = expected_operand(r, &length);
    if (!operand || *operand == '[')
        return 0;
    return dlb_fail(r->err, DLB_BAD_INPUT, "%s needs %.*s", r->command->name, (int)length, operand);
}

static bool asks_for_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

int dlb_flags_parse(const dlb_command *command, int argc, char *const *argv,
                    dlb_arguments *arguments, dlb_error *err)
{
    *arguments = (dlb_arguments){0};
    reader r = {command, arguments, argv, argv + argc, err};
    bool flags_ended = false;
    int status = 0;
    while (status == 0 && r.next < r.end) {
        const char *argument = *r.next++;
        if (flags_ended || argument[0] != '-' || argument[1] == '\0') {
            status = read_operand(&r, argument);
        } else if (asks_for_help(argument)) {
            arguments->help = true;
            return 0;
        } else if (strcmp(argument, "--") == 0) {
            flags_ended = true;
        } else {
            status = read_flag(&r, argument);
        }
    }
    return status == 0 ? refuse_missing_operand(&r) : status;
}
