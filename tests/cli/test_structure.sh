#!/usr/bin/env bash
# The rules of the tree find what they are there to find.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

mkdir -p tree/cmake tree/kernels/{ref,include/dlk} tree/harness/{base,data,plan}
cp "$SOURCE/cmake/lint" tree/cmake/
echo 'dlb_library(kernels DEPS base LINK m)' >tree/kernels/CMakeLists.txt
echo 'dlb_library(base)' >tree/harness/base/CMakeLists.txt
printf 'dlb_library(data\n  DEPS kernels\n  LINK z)\n' >tree/harness/data/CMakeLists.txt
echo 'dlb_library(plan DEPS base)' >tree/harness/plan/CMakeLists.txt

includes=$SOURCE/tests/cli/includes
standalone=$SOURCE/tests/cli/standalone
sizes=$SOURCE/tests/cli/sizes

it 'accepts includes of itself, of DEPS, and of what DEPS depend on'
printf '#include "data/idx.h"\n#include "dlk/pool.h"\n#include "base/mem.h"\n#include <zlib.h>\n' \
    >tree/harness/data/idx.c
expect_exit 0 "$includes" tree

it 'rejects an include that DEPS does not cover, and says where'
printf '#include "base/mem.h"\n#include "data/idx.h"\n' >tree/harness/plan/plan.h
expect_exit 1 "$includes" tree
expect_stdout '^harness/plan/plan\.h:2: plan includes data/'
rm tree/harness/plan/plan.h

it 'keeps the kernels apart from the harness'
echo '#include "data/idx.h"' >tree/kernels/ref/pool.c
expect_exit 1 "$includes" tree
expect_stdout '^kernels/ref/pool\.c:1: kernels includes data/'
rm tree/kernels/ref/pool.c

it 'rejects the kernels in a folder that does not depend on them'
echo '#include "dlk/pool.h"' >tree/harness/plan/plan.c
expect_exit 1 "$includes" tree
expect_stdout 'plan includes dlk/'

it 'counts a public header to the folder that holds it'
mkdir -p tree/harness/data/include/dlset
echo '#include <dlset/set.h>' >tree/harness/plan/plan.c
expect_exit 1 "$includes" tree
expect_stdout 'plan includes dlset/'

it 'rejects a way around the rule'
echo '#include "../data/idx.h"' >tree/harness/plan/plan.c
expect_exit 1 "$includes" tree
rm tree/harness/plan/plan.c

it 'rejects a circle of dependencies'
echo 'dlb_library(base DEPS data)' >tree/harness/base/CMakeLists.txt
expect_exit 1 "$includes" tree
expect_stdout '^data: depends on itself'
echo 'dlb_library(base)' >tree/harness/base/CMakeLists.txt

it 'rejects a folder with sources and without a rule'
mkdir tree/harness/stray
touch tree/harness/stray/CMakeLists.txt tree/harness/stray/stray.c
expect_exit 1 "$includes" tree
expect_stdout '^harness/stray/CMakeLists\.txt: no dlb_library'

it 'finds unfinished work, and leaves templates of temporary names alone'
stem=XX
echo "mkdtemp(\"/tmp/dlb$stem$stem$stem\");" >tree/harness/data/idx.c
expect_exit 0 "$standalone" tree
echo "/* ""TO""DO */" >>tree/harness/data/idx.c
expect_exit 1 "$standalone" tree
expect_stdout '^harness/data/idx\.c:2:'

it 'finds paths of one machine, in the documentation too'
echo >tree/harness/data/idx.c
echo "look into /ho""me/ada/dlbench" >tree/README.md
expect_exit 1 "$standalone" tree
expect_stdout '^README\.md:1:'

it 'finds long functions and long files'
{ printf 'void f(void)\n{\n' && printf '    g();\n%.0s' {1..79} && echo '}'; } >tree/harness/data/idx.c
expect_exit 0 "$sizes" tree
sed -i '3i\    g();' tree/harness/data/idx.c
expect_exit 1 "$sizes" tree
expect_stdout '^harness/data/idx\.c:2: a function of 81 lines'
printf '/* */\n%.0s' {1..601} >tree/harness/data/idx.c
expect_exit 1 "$sizes" tree
expect_stdout '^harness/data/idx\.c: more than 600 lines'
