#include "measure/topology.h"

#include <hwloc.h>

#include "base/str.h"

static const struct {
    hwloc_obj_type_t type;
    const char *kind;
} CACHES[DLB_CACHES_MAX] = {
    {HWLOC_OBJ_L1CACHE, "d"}, {HWLOC_OBJ_L1ICACHE, "i"}, {HWLOC_OBJ_L2CACHE, ""},
    {HWLOC_OBJ_L3CACHE, ""},  {HWLOC_OBJ_L4CACHE, ""},   {HWLOC_OBJ_L5CACHE, ""},
};

static void probe_caches(dlb_topology *t, hwloc_topology_t h)
{
    for (int i = 0; i < DLB_CACHES_MAX; i++) {
        hwloc_obj_t first = hwloc_get_obj_by_type(h, CACHES[i].type, 0);
        if (!first)
            continue;
        t->caches[t->cache_count++] = (dlb_cache){
            .level = (int)first->attr->cache.depth,
            .kind = CACHES[i].kind,
            .bytes = (double)first->attr->cache.size,
            .count = hwloc_get_nbobjs_by_type(h, CACHES[i].type),
        };
    }
}

/* The whole machine, also the CPUs that this process may not use. */
static int load(hwloc_topology_t h, const char *xml, dlb_error *err)
{
    hwloc_topology_set_flags(h, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_set_icache_types_filter(h, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (xml && hwloc_topology_set_xml(h, xml) < 0)
        return dlb_fail(err, DLB_FAIL, "%s: hwloc cannot read it", xml);
    if (hwloc_topology_load(h) < 0)
        return dlb_fail(err, DLB_FAIL, "hwloc cannot find out the topology of the machine");
    return 0;
}

int dlb_topology_probe(dlb_topology *t, const char *root, dlb_error *err)
{
    *t = (dlb_topology){0};
    hwloc_topology_t h;
    if (hwloc_topology_init(&h) < 0)
        return dlb_fail(err, DLB_FAIL, "hwloc does not start");

    dlb_str xml = DLB_STR_INIT;
    dlb_str_addf(&xml, "%s/topology.xml", root);
    int status = load(h, root[0] ? xml.text : NULL, err);
    dlb_str_release(&xml);
    if (status == 0) {
        t->sockets = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_PACKAGE);
        t->numa_nodes = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_NUMANODE);
        t->cores = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_CORE);
        t->cpus = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_PU);
        probe_caches(t, h);
    }
    hwloc_topology_destroy(h);
    return status;
}
