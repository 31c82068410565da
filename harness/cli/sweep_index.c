#include "cli/sweep_index.h"

#include "base/mem.h"

typedef struct place {
    char id[DLB_POINT_ID_SIZE];
    size_t point;
} place;

struct dlb_sweep_index {
    size_t count;
    place *places; /* by id */
};

static int compare_places(const void *a, const void *b)
{
    return strcmp(((const place *)a)->id, ((const place *)b)->id);
}

dlb_sweep_index *dlb_sweep_index_create(const dlb_sweep_scene *scene)
{
    dlb_sweep_index *index = dlb_alloc(1, sizeof *index);
    index->count = dlb_plan_count(scene->plan);
    index->places = dlb_alloc(index->count, sizeof *index->places);
    for (size_t point = 0; point < index->count; point++) {
        dlb_plan_id(scene->plan, point, index->places[point].id);
        index->places[point].point = point;
    }
    qsort(index->places, index->count, sizeof *index->places, compare_places);
    return index;
}

void dlb_sweep_index_free(dlb_sweep_index *index)
{
    if (!index)
        return;
    free(index->places);
    free(index);
}

bool dlb_sweep_index_find(const dlb_sweep_index *index, const char *id, size_t *point)
{
    place wanted = {0};
    snprintf(wanted.id, sizeof wanted.id, "%s", id);
    const place *found =
        bsearch(&wanted, index->places, index->count, sizeof wanted, compare_places);
    if (found)
        *point = found->point;
    return found != NULL;
}
