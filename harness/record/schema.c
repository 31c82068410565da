#include "record/schema.h"

#define COLUMN(name_, type_, unit_, meaning_)                                                      \
    {.name = #name_, .type = DLB_COLUMN_##type_, .unit = (unit_), .meaning = (meaning_)},

static const dlb_column run_columns[] = {
#define RUN COLUMN
#include "record/schema.def"
};

static const dlb_column epoch_columns[] = {
#define EPOCH COLUMN
#include "record/schema.def"
};

static const dlb_column rank_columns[] = {
#define RANK COLUMN
#include "record/schema.def"
};

static const dlb_column step_columns[] = {
#define STEP COLUMN
#include "record/schema.def"
};

const dlb_table dlb_table_runs = {"runs.csv", run_columns, DLB_RUN_COUNT, true};
const dlb_table dlb_table_epochs = {"epochs.csv", epoch_columns, DLB_EPOCH_COUNT, false};
const dlb_table dlb_table_ranks = {"ranks.csv", rank_columns, DLB_RANK_COUNT, true};
const dlb_table dlb_table_steps = {"steps.csv", step_columns, DLB_STEP_COUNT, false};

int dlb_table_find(const dlb_table *table, const char *name)
{
    for (int column = 0; column < table->count; column++) {
        if (strcmp(table->columns[column].name, name) == 0)
            return column;
    }
    return -1;
}

bool dlb_column_allows(const dlb_column *column, const char *text)
{
    if (column->type != DLB_COLUMN_TEXT || !strchr(column->unit, '|'))
        return true;
    size_t length = strlen(text);
    for (const char *value = column->unit; *value; value += *value == '|') {
        size_t width = strcspn(value, "|");
        if (width == length && memcmp(value, text, width) == 0)
            return true;
        value += width;
    }
    return false;
}
