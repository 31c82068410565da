#include <criterion/criterion.h>

#include "record/row.h"

static void assert_header(const dlb_table *table, const char *expected)
{
    dlb_row row;
    dlb_str line = DLB_STR_INIT;
    dlb_row_init(&row, table);
    dlb_row_header(&row, &line);
    cr_assert_str_eq(line.text, expected);
    dlb_str_release(&line);
    dlb_row_release(&row);
}

/* Others rely on these names and on their order. */
Test(schema, runs_have_the_documented_columns)
{
    assert_header(
        &dlb_table_runs,
        "run,point,repeat,status,reason,model,workers,ranks,nodes,threads,intra_op,"
        "inter_op,kmp_blocktime,warmup_epochs,warmup,batch,global_batch,epochs,optimizer,"
        "lr,lr_scaling,comm,kernels,isa,seed,oversubscribed,time_to_solution_s,"
        "time_to_target_s,wall_s,setup_s,eval_s,images_per_s,train_accuracy,train_loss,"
        "test_accuracy,test_loss,comm_exposed_s,wait_s,peak_rss_mb,steal_pct,host,commit,"
        "openmp,kmp_effective,data,data_checksum,shuffle,drop_last,readers,load,joules,gflops,"
        "ipc,momentum,nesterov,weight_decay,beta1,beta2,epsilon,target_accuracy,train_images,"
        "test_images,kmp_affinity,ranks_per_node,binding,schedule,schedule_factor,schedule_epochs,"
        "trust,comm_bucket_kb,comm_piece_kb,comm_radix,hang_timeout,comm_bytes,threads_per_core,"
        "grid,mode,launcher,started,sequence,notes");
}

Test(schema, epochs_have_the_documented_columns)
{
    assert_header(&dlb_table_epochs,
                  "run,epoch,lr,train_s,images_per_s,train_loss,train_accuracy,test_loss,"
                  "test_accuracy,input_s,forward_s,backward_s,update_s,comm_exposed_s,wait_s,"
                  "comm_bytes,eval_s");
}

Test(schema, ranks_have_the_documented_columns)
{
    assert_header(&dlb_table_ranks,
                  "run,rank,host,cpus,compute_s,comm_s,comm_exposed_s,wait_s,peak_rss_mb,workers,"
                  "steps,threads,input_s,eval_s,bytes_sent,bytes_received,cpus_allowed");
}

Test(schema, steps_have_the_documented_columns)
{
    assert_header(&dlb_table_steps,
                  "run,rank,epoch,step,images,train_s,compute_s,comm_exposed_s,wait_s,bytes");
}

Test(schema, columns_are_found_by_name)
{
    cr_assert_eq(dlb_table_find(&dlb_table_runs, "test_loss"), DLB_RUN_test_loss);
    cr_assert_eq(dlb_table_find(&dlb_table_epochs, "test_loss"), DLB_EPOCH_test_loss);
    cr_assert_eq(dlb_table_find(&dlb_table_ranks, "test_loss"), -1);
    cr_assert_eq(dlb_table_find(&dlb_table_runs, ""), -1);
}

Test(schema, a_column_with_a_closed_set_allows_its_members_only)
{
    const dlb_column *status = &dlb_table_runs.columns[DLB_RUN_status];
    cr_assert(dlb_column_allows(status, "ok"));
    cr_assert(dlb_column_allows(status, "timeout"));
    cr_assert(dlb_column_allows(status, "diverged"));
    const char *const wrong[] = {"", "o", "okay", "ok|failed", "|"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert_not(dlb_column_allows(status, wrong[i]), "%s", wrong[i]);
    cr_assert(dlb_column_allows(&dlb_table_runs.columns[DLB_RUN_host], "anything"));
}
