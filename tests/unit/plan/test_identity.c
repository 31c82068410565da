/* Ids stay in result files: what they depend on, and what they do not. */
#include "plan/hash.h"
#include "plan/identity.h"
#include "support/planned.h"

static const char *id_of(const planned *p, size_t point)
{
    static char ids[2][DLB_POINT_ID_SIZE];
    static int turn;
    char *id = ids[turn ^= 1];
    dlb_plan_id(p->plan, point, id);
    return id;
}

static void assert_id(const char *text, const char *expected)
{
    planned p = plan_of(text);
    cr_assert_str_eq(id_of(&p, 0), expected, "%s\n%s", id_of(&p, 0), text);
    planned_release(&p);
}

static bool same_id(const char *text, const char *other)
{
    planned p = plan_of(text), q = plan_of(other);
    bool same = strcmp(id_of(&p, 0), id_of(&q, 0)) == 0;
    planned_release(&q);
    planned_release(&p);
    return same;
}

/* A value that changes here loses the results of all studies that exist. */
Test(identity, ids_are_the_same_on_every_machine_and_in_every_version)
{
    assert_id("", "4bac9f178cfba0b1");
    assert_id("[workload]\nmodel = horovod_cnn\nlr = 0.25\nranks = 4\nthreads = 2\n",
              "bdee06d829378d6d");
    assert_id("[workload]\nmode = strong\nworkers = 4\nenv.A = b\ndata = synthetic\n",
              "c68b4f8211ce9255");
    assert_id("[workload]\ncommand = a \"b c\" {param.x}\nparam.x = 7\n", "36cb71525f9953ba");
}

Test(identity, the_hash_is_the_same_on_every_machine_and_in_every_version)
{
    cr_assert_eq(dlb_hash_text(0, ""), UINT64_C(0xf52a15e9a9b5e89b));
    cr_assert_eq(dlb_hash_text(1, "dlbench"), UINT64_C(0xc994d9da5b8e1199));
}

/*
 * Defaults are left out of ids, so that a new key leaves them as they are. A default that changes
 * must come with another `version` in identity.c, and with another line here.
 */
Test(identity, defaults_are_those_that_ids_were_made_with)
{
    static const char *const presets[][2] = {
        {"model", "keras_cnn"},
        {"data", "mnist"},
        {"train_images", "0"},
        {"test_images", "0"},
        {"epochs", "5"},
        {"batch", "128"},
        {"drop_last", "no"},
        {"shuffle", "global"},
        {"readers", "1"},
        {"target_accuracy", "0"},
        {"seed", "1"},
        {"optimizer", "adam"},
        {"momentum", "0"},
        {"nesterov", "no"},
        {"weight_decay", "0"},
        {"beta1", "0.9"},
        {"beta2", "0.999"},
        {"epsilon", "1e-7"},
        {"trust", "0.001"},
        {"lr", "0.001"},
        {"lr_scaling", "linear"},
        {"warmup_epochs", "0"},
        {"warmup", "gradual"},
        {"schedule", "constant"},
        {"schedule_factor", "0.1"},
        {"schedule_epochs", "30"},
        {"workers", "0"},
        {"ranks", "0"},
        {"ranks_per_node", "0"},
        {"binding", "auto"},
        {"threads_per_core", "0"},
        {"comm", "auto"},
        {"comm_bucket_kb", "1024"},
        {"comm_piece_kb", "64"},
        {"comm_radix", "4"},
        {"hang_timeout", "300"},
        {"threads", "0"},
        {"intra_op", "0"},
        {"inter_op", "0"},
        {"kmp_blocktime", ""},
        {"kmp_affinity", ""},
        {"kernels", "auto"},
        {"isa", "auto"},
        {"counters", ""},
    };
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        int key = dlb_key_find(presets[i][0]);
        cr_assert_geq(key, 0, "%s", presets[i][0]);
        cr_assert_str_eq(dlb_key_info((enum dlb_key)key)->preset, presets[i][1], "%s",
                         presets[i][0]);
    }
}

Test(identity, does_not_depend_on_the_order_of_keys_or_on_the_study)
{
    cr_assert(
        same_id("[workload]\nlr = 0.5\nthreads = 2\n", "[workload]\nthreads = 2\nlr = 0.5\n"));
    cr_assert(same_id("[study]\nname = a\nrepeats = 3\n[workload]\nlr = 0.5\n",
                      "[study]\nname = b\n[grid x]\nlr = 0.5\n"));
}

Test(identity, does_not_depend_on_the_host)
{
    dlb_plan_host here = fake_host(NULL), there = here;
    static const char text[] = "[workload]\nthreads = 2\n";
    planned p, q;
    there.cores = 64;
    there.hostname = "elsewhere";
    cr_assert_eq(try_plan(&p, text, &here, NULL), 0);
    cr_assert_eq(try_plan(&q, text, &there, NULL), 0);
    cr_assert_str_eq(id_of(&p, 0), id_of(&q, 0));
    planned_release(&q);
    planned_release(&p);
}

Test(identity, a_value_is_the_same_however_it_came_about)
{
    cr_assert(same_id("[workload]\nlr = 0.001\n", "[workload]\nlr = 1 / 1000.0\n"));
    cr_assert(same_id("[workload]\nlr = 0.001\n", ""), "the default is a value like any other");
    cr_assert(same_id("[workload]\nmodel = horovod_cnn\n",
                      "[workload]\nmodel = horovod_cnn\nbatch = 100\n"),
              "and so is a model's own");
    cr_assert(same_id("[workload]\nranks = 4\n", "[workload]\nranks = 4\nworkers = 4\n"));
    cr_assert(same_id("[workload]\nranks = 4\n", "[workload]\nranks = 4\nworkers = 0\n"));
    cr_assert(same_id("", "[workload]\nranks = 1\n"));
}

Test(identity, depends_on_everything_that_a_run_depends_on)
{
    static const char *const others[] = {
        "[workload]\nlr = 0.5\n",
        "[workload]\nmodel = horovod_cnn\n",
        "[workload]\ndata = fashion-mnist\n",
        "[workload]\nenv.A = 1\n",
        "[workload]\nenv.A = \"\"\n",
        "[workload]\nenv.B = 1\n",
        "[workload]\nmode = batch-scaled\n",
        "[workload]\nworkers = 2\n",
        "[workload]\nranks = 2\n",
        "[workload]\nseed = 2\n",
        "[workload]\ncommand = a\n",
        "[workload]\ncommand = a b\n",
        "[workload]\ncommand = \"a b\"\n",
        "[workload]\ncommand = a b\nparam.x = 1\n",
        "[workload]\ncommand = a b\nlr = 1\n",
        "[workload]\ncommand = a b\n[launch]\nwrap = perf record\n",
        "[workload]\ncommand = a b\n[launch]\noptions = perf record\n",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        cr_assert_not(same_id("", others[i]), "%s", others[i]);
        for (size_t k = 0; k < i; k++)
            cr_assert_not(same_id(others[k], others[i]), "%s%s", others[k], others[i]);
    }
}

/* The same data under the same name, but with other bytes. */
static int other_data(void *arg, const dlb_workload *workload, long long *images, uint64_t *hash,
                      dlb_error *err)
{
    int status = fake_data(arg, workload, images, hash, err);
    *hash += 1;
    return status;
}

Test(identity, depends_on_what_is_in_the_data)
{
    dlb_plan_host here = fake_host(NULL), there = here;
    planned p, q;
    there.data = other_data;
    cr_assert_eq(try_plan(&p, "", &here, NULL), 0);
    cr_assert_eq(try_plan(&q, "", &there, NULL), 0);
    cr_assert_str_neq(id_of(&p, 0), id_of(&q, 0));
    planned_release(&q);
    planned_release(&p);
}

Test(identity, a_set_tells_new_ids_from_seen_ones)
{
    dlb_identity_set set = {0};
    for (uint64_t i = 1; i <= 10000; i++)
        cr_assert(dlb_identity_set_add(&set, dlb_hash_mix(i)));
    dlb_identity_set_reserve(&set, 100000);
    for (uint64_t i = 1; i <= 10000; i++)
        cr_assert_not(dlb_identity_set_add(&set, dlb_hash_mix(i)));
    cr_assert_eq(set.used, 10000);
    dlb_identity_set_release(&set);
}
