/* The doctor's findings for programs. */
#include <jansson.h>

#include "measure/doctor.h"

static json_t *number_or_null(const dlb_value *value)
{
    return value->known ? json_real(value->number) : json_null();
}

/* null on "" */
static json_t *text_or_null(const char *text)
{
    return text[0] ? json_string(text) : json_null();
}

static json_t *pack_facts(const dlb_host *h)
{
    return json_pack("{s:o, s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:b, s:o, s:o, s:o}", //
                     "cpu", text_or_null(h->cpu),                                    //
                     "isa", text_or_null(h->best_isa),                               //
                     "cores_allowed", h->cores.allowed,                              //
                     "sockets_spanned", h->cores.sockets,                            //
                     "numa_nodes", h->topology.numa_nodes,                           //
                     "memory_bytes", number_or_null(&h->memory_total),               //
                     "openmp", text_or_null(h->openmp.name),                         //
                     "mpi", text_or_null(h->mpi),                                    //
                     "kmp_has_effect", h->openmp.has_kmp,                            //
                     "cpu_quota", number_or_null(&h->cores.quota),                   //
                     "peak_one_gflops", number_or_null(&h->peak_one),                //
                     "peak_all_gflops", number_or_null(&h->peak_all));
}

static json_t *pack_events(const dlb_host *h)
{
    json_t *events = json_object();
    for (int i = 0; i < h->event_count; i++) {
        const dlb_host_event *e = &h->events[i];
        json_t *entry = json_pack("{s:b}", "works", e->works);
        if (e->why[0])
            json_object_set_new(entry, "why", json_string(e->why));
        json_object_set_new(events, e->name, entry);
    }
    return events;
}

static json_t *pack_findings(const dlb_findings *findings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < findings->count; i++) {
        const dlb_finding *f = &findings->items[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:s}", "section", f->section, "topic",
                                        f->topic, "verdict", dlb_verdict_name(f->verdict),
                                        "finding", f->text, "advice", f->advice));
    }
    return list;
}

static json_t *pack_counts(const dlb_findings *findings)
{
    json_t *counts = json_object();
    for (dlb_verdict v = 0; v < DLB_VERDICTS; v++)
        json_object_set_new(counts, dlb_verdict_name(v),
                            json_integer((json_int_t)dlb_findings_with(findings, v)));
    return counts;
}

int dlb_doctor_json(const dlb_host *host, const dlb_findings *findings, dlb_str *out,
                    dlb_error *err)
{
    json_t *root = json_pack("{s:o, s:o, s:o, s:o, s:o}",      //
                             "host", text_or_null(host->name), //
                             "counts", pack_counts(findings),  //
                             "facts", pack_facts(host),        //
                             "events", pack_events(host),      //
                             "findings", pack_findings(findings));
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(root);
    if (!text)
        return dlb_fail(err, DLB_FAIL, "the findings cannot be written as JSON");
    dlb_str_addf(out, "%s\n", text);
    free(text);
    return 0;
}
