#include "figures_kit.h"

TestSuite(scoreboard, .init = figures_kit_init, .fini = figures_kit_release);

#define PEERS "point,repeat,status,model,isa,param.peer,time_to_solution_s,images_per_s\n"
#define TARGET                                                                                     \
    "point,repeat,status,param.peer,target_accuracy,time_to_solution_s,time_to_target_s\n"

static const char rate[] = "scoreboard_peer_images_per_s.dat";
static const char rate_script[] = "scoreboard_peer_images_per_s.gp";
static const char target[] = "scoreboard_peer_time_to_target_s.dat";

/* A study of two peers, three times each, on a machine that grows slower all the time. */
static const char two_peers[] =
    PEERS "a,1,ok,m,avx2,ours,1,900\nb,1,ok,m,avx2,theirs,3,300\na,2,ok,m,avx2,ours,2,600\n"
          "b,2,ok,m,avx2,theirs,6,150\na,3,ok,m,avx2,ours,3,300\nb,3,ok,m,avx2,theirs,9,100\n";

Test(scoreboard, words_compete_in_images_a_second_and_the_best_is_first)
{
    reduce(two_peers);
    assert_has(rate, "\n1\t600\t300\t900\t3\t1\t3\t900\t600  3.00×\n");
    assert_has(rate_script, "set ytics ('ours' 1, 'theirs' 2)");
    assert_has(rate_script, "title = 'Training speed by peer'");
}

Test(scoreboard, a_ratio_is_to_the_best_of_the_others_within_blocks_so_that_drift_cancels)
{
    reduce(PEERS "a,1,ok,m,x,ours,1,900\nb,1,ok,m,x,old,3,300\nc,1,ok,m,x,new,2,450\n"
                 "a,2,ok,m,x,ours,2,300\nb,2,ok,m,x,old,6,100\nc,2,ok,m,x,new,4,150\n");
    assert_has(rate, "\t2\t1\t2\t900\t600  2.00×\n");
    assert_has(rate, "\t2\t0\t0.5\t450\t300  0.50×\n");
    assert_has(rate, "\t200  0.33×\n");
}

Test(scoreboard, settings_of_the_rest_have_panels_with_axes_of_their_own)
{
    reduce(PEERS "a,1,ok,large,avx2,ours,1,40\nb,1,ok,large,avx2,theirs,1,10\n"
                 "c,1,ok,small,avx2,ours,1,9000\nd,1,ok,small,avx2,theirs,1,1000\n"
                 "e,1,ok,large,auto,ours,1,60\nf,1,ok,large,auto,theirs,1,15\n");
    assert_has(rate_script,
               "array panel_title[3] = ['large, isa auto', 'large, avx2', 'small, avx2']");
    assert_has(rate_script, "array high[3] = [60, 60, 9000]");
    assert_has(rate, "# panel 3\n1\t9000\t");
}

Test(scoreboard, a_value_that_failed_has_a_row_that_says_so)
{
    reduce(PEERS "a,1,ok,m,x,ours,1,40\nb,1,ok,m,x,theirs,1,10\nc,1,failed,m,x,broken,,\n"
                 "d,1,timeout,m,x,slow,,\nd,2,timeout,m,x,slow,,\na,2,failed,m,x,ours,,\n");
    assert_has(rate, "\t?\t?\t?\t0\t0\t?\t?\tfailed\n");
    assert_has(rate, "\t?\t?\t?\t0\t0\t?\t?\ttimeout\n");
    assert_has(rate, "\t40.0  4.00×  1 of 2\n");
    assert_has(rate_script, "“k of n”: runs that ended well.");
    assert_has(rate_script, "2 runs failed. 2 runs timed out.");
}

Test(scoreboard, rates_of_nothing_have_rows_of_their_own_as_well)
{
    reduce(PEERS "a,1,ok,m,x,ours,1,0\nb,1,ok,m,x,theirs,1,0\nc,1,ok,m,x,third,1,0\n");
    assert_has(rate_script, "set ytics ('ours' 1, 'theirs' 2, 'third' 3)");
}

Test(scoreboard, a_value_that_was_not_run_in_a_panel_has_no_row_there)
{
    reduce(PEERS "a,1,ok,m,x,ours,1,40\nb,1,ok,m,x,theirs,1,10\nc,1,ok,m,y,ours,1,50\n"
                 "d,1,ok,m,y,theirs,1,11\ne,1,ok,m,y,third,1,12\n");
    assert_has(rate, "# panel 1\n1\t40\t?\t?\t1\t1\t4\t40\t40.0  4.00×\n"
                     "3\t10\t?\t?\t1\t0\t0.25\t10\t10.0  0.25×\n\n\n");
}

Test(scoreboard, runs_that_never_reached_the_target_count_as_longer)
{
    reduce(TARGET "a,1,ok,ours,0.99,10,4\na,2,ok,ours,0.99,10,\na,3,ok,ours,0.99,10,6\n"
                  "b,1,ok,theirs,0.99,50,\nb,2,ok,theirs,0.99,50,\nb,3,ok,theirs,0.99,50,20\n");
    assert_has(target, "\n1\t6\t");
    assert_has(target, "\t6.00 s  2 of 3\n");
    assert_has(target, "\n2\t?\t");
    assert_has(target, "\t1 of 3\n");
    assert_has("scoreboard_peer_time_to_target_s.gp",
               "title = 'Time to 99 % test accuracy by peer'");
}

Test(scoreboard, a_time_to_target_has_a_ratio_where_all_runs_reached_it)
{
    reduce(TARGET "a,1,ok,ours,0.99,10,4\nb,1,ok,theirs,0.99,50,20\n");
    assert_has(target, "\t4.00 s  5.00×\n");
}

Test(scoreboard, a_target_that_nothing_reached_has_no_figure)
{
    reduce(TARGET "a,1,ok,ours,0.99,10,\nb,1,ok,theirs,0.99,50,\n");
    cr_assert(!made(target));
    cr_assert(made("scoreboard_peer_time_to_solution_s.dat"), "and there are no images a second");
}

Test(scoreboard, accuracies_are_in_percent_and_have_no_ratio)
{
    reduce("point,repeat,status,optimizer,time_to_solution_s,test_accuracy\n"
           "a,1,ok,adam,1,0.99\na,2,ok,adam,1,0.98\nb,1,ok,sgd,1,0.97\nc,1,diverged,larc,,0.1\n");
    assert_has("scoreboard_optimizer_test_accuracy.dat",
               "\n1\t98.5\t98\t99\t2\t1\t?\t99\t98.50\n2\t97\t");
    assert_has("scoreboard_optimizer_test_accuracy.dat", "\tdiverged\n");
    assert_has("scoreboard_optimizer_test_accuracy.gp", "\nbars = 0\n");
}

Test(scoreboard, what_it_tells_has_no_other_figure)
{
    reduce(PEERS "a,1,ok,large,avx2,ours,1,40\nb,1,ok,large,avx2,theirs,1,10\n"
                 "c,1,ok,small,avx2,ours,1,9000\nd,1,ok,small,avx2,theirs,1,1000\n");
    cr_assert_eq(count, 1);
}

Test(scoreboard, metrics_of_a_foreign_program_keep_their_figures)
{
    reduce("point,status,param.peer,images_per_s,wall_s,joules_per_image\n"
           "a,ok,ours,10,1,5\nb,ok,theirs,20,1,6\n");
    cr_assert_eq(count, 2);
    cr_assert(made(rate) && made("effect_param_peer.dat"));
}

Test(scoreboard, points_that_one_contest_lacks_have_another)
{
    reduce("point,status,kernels,isa,images_per_s\n"
           "a,ok,blas,avx512,50\nb,ok,blas,avx2,40\nc,ok,blas,sse,20\nd,ok,ref,avx512,1\n");
    assert_has("scoreboard_isa_images_per_s.dat", "\n3\t20\t");
    assert_has("scoreboard_kernels_images_per_s.dat", "\n2\t1\t");
}

Test(scoreboard, numbers_and_different_models_are_no_contest)
{
    reduce("point,status,model,param.size,kmp_blocktime,images_per_s,wall_s\n"
           "a,ok,large,1,0,50,1\nb,ok,small,1,0,40,1\nc,ok,large,2,0,20,1\nd,ok,large,1,infinite,9,"
           "1\n");
    cr_assert(!made("scoreboard_model_images_per_s.dat"));
    cr_assert(!made("scoreboard_block_time_images_per_s.dat"));
    cr_assert(made("effect_kmp_blocktime.dat"));
}

Test(scoreboard, what_numbers_tell_apart_stays_lines)
{
    reduce("point,status,kernels,batch,images_per_s,time_to_solution_s\n"
           "a,ok,blas,32,50,1\nb,ok,ref,32,40,1\nc,ok,blas,64,60,1\nd,ok,ref,64,41,1\n");
    cr_assert(!made("scoreboard_kernels_images_per_s.dat"));
    cr_assert(made("effect_kernels.dat"));
}

Test(scoreboard, what_no_page_has_room_for_stays_lines)
{
    dlb_str runs = DLB_STR_INIT;
    dlb_str_add(&runs, PEERS);
    for (int model = 0; model < 7; model++)
        dlb_str_addf(&runs, "a%d,1,ok,m%d,x,ours,1,9\nb%d,1,ok,m%d,x,theirs,2,8\n", model, model,
                     model, model);
    reduce(runs.text);
    dlb_str_release(&runs);
    cr_assert(!made(rate) && made("effect_param_peer.dat"));
}

Test(scoreboard, a_word_that_ranks_follow_is_no_contest)
{
    reduce("point,status,ranks,threads,comm,images_per_s,time_to_solution_s\n"
           "a,ok,1,1,single,8,1\nb,ok,2,1,shm,4,2\n");
    cr_assert(!made("scoreboard_comm_images_per_s.dat"));
}

Test(scoreboard, is_drawn_as_pictures_and_in_a_terminal)
{
    dlb_str drawn = DLB_STR_INIT;
    put("runs.csv", two_peers);
    cr_assert_eq(draw(true, &drawn), 0, "%s", err.message);
    cr_assert(strstr(drawn.text, "600  3.00×"), "%s", drawn.text);
    dlb_str_release(&drawn);
    cr_assert_eq(draw(false, NULL), 0, "%s", err.message);
    cr_assert(made("scoreboard_peer_images_per_s.png"));
    assert_has("scoreboard_peer_images_per_s.svg", "theirs");
}

Test(scoreboard, a_panel_without_any_value_and_hostile_words_are_drawn_and_run_nothing)
{
    put("runs.csv",
        PEERS "a,1,ok,m,x,`touch pwned`,1,40\nb,1,ok,m,x,'; system('touch pwned'),1,10\n"
              "c,1,failed,m,y,`touch pwned`,,\nd,1,failed,m,y,{/=99 x},,\n");
    cr_assert_eq(draw(false, NULL), 0, "%s", err.message);
    assert_has("scoreboard_peer_images_per_s.svg", "failed");
    cr_assert(!made("pwned"));
}
