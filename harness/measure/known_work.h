/*
 * Work that makes every sensible event of a thread move: arithmetic, unpredictable branches,
 * cache and TLB misses, page faults, sleeping, moving to another CPU and back. ~3 ms.
 */
#ifndef DLB_MEASURE_KNOWN_WORK_H
#define DLB_MEASURE_KNOWN_WORK_H

void dlb_known_work(void);

#endif
