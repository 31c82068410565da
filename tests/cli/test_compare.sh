#!/usr/bin/env bash
# `dlbench compare`: two studies side by side.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

mkdir a b
printf 'point,repeat,status,ranks,time_to_solution_s,test_accuracy,host\n' | tee b/runs.csv >a/runs.csv
for repeat in 1 2 3; do
    for ranks in 1 2; do
        echo "p$ranks,$repeat,ok,$ranks,$((10 + repeat)),0.98,old" >>a/runs.csv
        echo "p$ranks,$repeat,ok,$ranks,$((20 + 2 * repeat)),0.97,new" >>b/runs.csv
    done
done

it 'shows which is faster, by how much, and what differs'
expect_exit 0 "$DLBENCH" compare a b
expect_stdout '^ +1 +3, 3 +12 +24 +2\.000 +1\.[0-9]+–2\.[0-9]+ +0\.100 +-1\.00$'
expect_stdout 'Overall A is 2\.000 times as fast as B'
expect_stdout 'Test accuracy, B less A: median -1\.00 %'
expect_stdout '^ host +old +new$'

it 'takes files as well as folders'
expect_exit 0 "$DLBENCH" compare b/runs.csv a/runs.csv
expect_stdout 'Overall B is 2\.000 times as fast as A'

it 'claims no difference that the noise of each point hides'
mkdir noisy other
printf 'ranks,threads,repeat,status,time_to_solution_s\n' | tee noisy/runs.csv >other/runs.csv
for ranks in 1 2; do
    printf "$ranks,1,%s,ok,%s\n" 1 10 2 12 3 8 >>noisy/runs.csv
    printf "$ranks,1,%s,ok,%s\n" 1 10.3 2 12 3 8 >>other/runs.csv
done
expect_exit 0 "$DLBENCH" compare noisy other
expect_stdout 'no difference is seen'

it 'writes no escape sequences into a file'
expect_no_match $'\033'

it 'finds nothing between a study and itself'
expect_exit 0 "$DLBENCH" compare a a
expect_stdout 'no difference is seen'

it 'refuses what is no study'
expect_exit 2 "$DLBENCH" compare a none
expect_stderr 'none'
expect_exit 2 "$DLBENCH" compare a
