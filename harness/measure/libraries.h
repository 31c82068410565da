/*
 * The shared libraries that are loaded into the process, and which of them are OpenMP runtimes or
 * linear algebra. A process must have one runtime only: two would each start their own threads.
 */
#ifndef DLB_MEASURE_LIBRARIES_H
#define DLB_MEASURE_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

enum { DLB_LIBRARY_MAX = 4, DLB_LIBRARY_PATH = 256 };

/* Paths of loaded libraries of one kind; `count` may exceed what `path` holds. */
typedef struct dlb_library_list {
    int count;
    char path[DLB_LIBRARY_MAX][DLB_LIBRARY_PATH];
} dlb_library_list;

typedef struct dlb_openmp {
    dlb_library_list runtimes; /* more than one is a fault */
    char name[64];             /* of the first: "LLVM libomp 14", "GNU libgomp"; "" if none */
    bool has_kmp;              /* KMP_BLOCKTIME and KMP_AFFINITY have an effect */
    int max_threads;           /* OMP_NUM_THREADS or the runtime's own choice; 0 unknown */
} dlb_openmp;

/* The path without symbolic links; distributions put the version behind them. */
void dlb_library_resolve(const char *path, char resolved[DLB_LIBRARY_PATH]);

/* Of this process (root ""), or those that root/libraries.txt lists, one path a line. */
void dlb_openmp_find(dlb_openmp *openmp, const char *root);
void dlb_blas_find(dlb_library_list *blas, const char *root);

/* The runtime of this process: "LLVM libomp 14"; "" without one. */
const char *dlb_openmp_runtime(void);
bool dlb_openmp_has_kmp(void);

#endif
