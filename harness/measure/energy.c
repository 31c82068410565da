#include "measure/energy.h"

#include <glob.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "measure/sysfile.h"

/* No package draws more: bounds how long a meter can run without a second turn. */
static const double MOST_WATTS = 1000;

typedef struct meter {
    char *folder;
    double range_uj; /* value at which it starts again at 0 */
    double last_uj;
    double joules; /* of the window */
} meter;

struct dlb_energy {
    meter *meters;
    size_t count, capacity;
    dlb_str names;
    double polled_s;
    dlb_value usable; /* missing: why no window can be measured */
    dlb_value window; /* missing: why this one could not */
};

/* Packages and their memory; a "core" is part of its package, "psys" is the sum of all. */
static bool is_additive(const char *name)
{
    return strncmp(name, "package", 7) == 0 || strcmp(name, "dram") == 0;
}

/* A sum with one meter left out would be a wrong value, so one that is unreadable ends all. */
static void add_meter(dlb_energy *e, const char *folder)
{
    char name[64];
    long long range, now;
    dlb_sys_line(name, sizeof name, folder, "/name");
    if (!is_additive(name) || !dlb_sys_number(&range, folder, "/max_energy_range_uj") || range <= 0)
        return;
    if (!dlb_sys_number(&now, folder, "/energy_uj"))
        e->usable = dlb_value_missing("%s/energy_uj may not be read; ask for it", folder);
    else if (!e->count)
        e->usable = dlb_value_of(0);
    e->meters = dlb_grow(e->meters, &e->capacity, e->count + 1, sizeof *e->meters);
    e->meters[e->count++] = (meter){.folder = dlb_strdup(folder), .range_uj = (double)range};
    dlb_str_addf(&e->names, "%s%s", e->names.length ? " " : "", name);
}

dlb_energy *dlb_energy_create(const char *root)
{
    dlb_energy *e = dlb_alloc(1, sizeof *e);
    dlb_str_add(&e->names, "");
    e->usable = dlb_value_missing("no energy meter: %s/sys/class/powercap has no RAPL zones", root);
    e->window = dlb_value_missing("no window was started");

    dlb_str pattern = DLB_STR_INIT;
    dlb_str_addf(&pattern, "%s/sys/class/powercap/intel-rapl:*", root);
    glob_t zones;
    if (glob(pattern.text, 0, NULL, &zones) == 0) {
        for (size_t i = 0; i < zones.gl_pathc; i++)
            add_meter(e, zones.gl_pathv[i]);
        globfree(&zones);
    }
    dlb_str_release(&pattern);
    return e;
}

void dlb_energy_free(dlb_energy *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->count; i++)
        free(e->meters[i].folder);
    free(e->meters);
    dlb_str_release(&e->names);
    free(e);
}

const char *dlb_energy_meters(const dlb_energy *e)
{
    return e->names.text;
}

/* In microjoules; what cannot be read makes the window's value missing. */
static bool read_meter(dlb_energy *e, const meter *m, double *uj)
{
    long long reading;
    if (dlb_sys_number(&reading, m->folder, "/energy_uj")) {
        *uj = (double)reading;
        return true;
    }
    if (e->window.known)
        e->window = dlb_value_missing("%s/energy_uj could no longer be read", m->folder);
    return false;
}

void dlb_energy_start(dlb_energy *e)
{
    e->window = e->usable;
    e->polled_s = dlb_clock_s();
    for (size_t i = 0; i < e->count; i++) {
        e->meters[i].joules = 0;
        read_meter(e, &e->meters[i], &e->meters[i].last_uj);
    }
}

static void poll_meter(dlb_energy *e, meter *m, double elapsed_s)
{
    double now_uj;
    if (!read_meter(e, m, &now_uj))
        return;
    bool turned = now_uj < m->last_uj;
    m->joules += 1e-6 * (now_uj - m->last_uj + (turned ? m->range_uj : 0));
    m->last_uj = now_uj;
    if (e->window.known && elapsed_s * MOST_WATTS > 1e-6 * m->range_uj)
        e->window = dlb_value_missing("%.0f s without a reading: a meter may have started again "
                                      "more than once",
                                      elapsed_s);
}

void dlb_energy_poll(dlb_energy *e)
{
    double now_s = dlb_clock_s();
    for (size_t i = 0; i < e->count; i++)
        poll_meter(e, &e->meters[i], now_s - e->polled_s);
    e->polled_s = now_s;
}

dlb_value dlb_energy_stop(dlb_energy *e)
{
    dlb_energy_poll(e);
    if (!e->window.known)
        return e->window;
    double joules = 0;
    for (size_t i = 0; i < e->count; i++)
        joules += e->meters[i].joules;
    return dlb_value_of(joules);
}
