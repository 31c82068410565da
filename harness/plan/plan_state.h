/* A plan from within: its tables, and its points as rows of indices into them. */
#ifndef DLB_PLAN_PLAN_STATE_H
#define DLB_PLAN_PLAN_STATE_H

#include "plan/grid.h"
#include "plan/names.h"
#include "plan/plan.h"
#include "plan/values.h"

/* What a model makes of keys that are not set; index[key] is into the key's values. */
typedef struct dlb_plan_model {
    bool known;
    dlb_workload workload; /* nothing is given */
    uint32_t index[DLB_KEY_COUNT];
} dlb_plan_model;

typedef struct dlb_plan_data {
    bool known;
    long long images;
    uint64_t hash;
} dlb_plan_data;

typedef struct dlb_point {
    uint64_t id;
    uint32_t grid, mode; /* mode: an index into its values */
} dlb_point;

struct dlb_plan {
    const dlb_study *study;
    dlb_plan_host host;
    char *hostname; /* a copy: the host's own is not kept */
    size_t max_points;

    dlb_names names;
    dlb_values *values;     /* [slots] */
    dlb_workload checker;   /* for dlb_values_intern */
    dlb_plan_model *models; /* by index into the values of model */
    dlb_plan_data *data;    /* by index into the values of data */
    size_t model_capacity, data_capacity;

    dlb_grid *grids;
    size_t grid_count;

    int *columns; /* the slots of the parameters */
    bool *varies;
    size_t column_count;
    int *column_of; /* [slots]; -1: none */

    dlb_point *points;
    uint32_t *cells; /* [count][column_count] */
    size_t count, point_capacity, row_capacity;
};

/* The model of that index into the values of model, asked for once. */
int dlb_plan_model_at(dlb_plan *plan, uint32_t index, const dlb_plan_model **model, dlb_error *err);

/* The data of that index into the values of data, asked for once. */
int dlb_plan_data_at(dlb_plan *plan, uint32_t index, const dlb_plan_data **data, dlb_error *err);

/* Expand all grids into points. */
int dlb_plan_expand(dlb_plan *plan, dlb_error *err);

/* Decide which slots are parameters: what a grid sets, or a mode derives. A part of expanding. */
void dlb_plan_choose_columns(dlb_plan *plan);

/* Find out which parameters vary. */
void dlb_plan_compare(dlb_plan *plan);

/*
 * What braces know of a run, besides slots that have a value: the seed of a repeat is there even if
 * nobody sets it. [slots]; free() it.
 */
bool *dlb_plan_names_of_run(const dlb_plan *plan, const bool *has);

/*
 * Check the braces of command, wrap and metrics in every grid, and that a foreign program knows of
 * every axis; when they have been expanded.
 */
int dlb_plan_check_braces(const dlb_plan *plan, dlb_error *err);

/* A point's value in a slot that the file may or may not set; NULL if it has none. */
const dlb_values_item *dlb_plan_value_of_slot(const dlb_plan *plan, size_t point, int slot);

/* The values of the host's slots. */
void dlb_plan_host_values(const dlb_plan *plan, dlb_scalar *values);

#endif
