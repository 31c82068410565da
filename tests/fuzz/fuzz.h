/* What a fuzz target defines; libFuzzer or driver.c calls it. Returns 0. */
#ifndef DLB_TESTS_FUZZ_H
#define DLB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

__attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t *bytes,
                                                                  size_t count);

#endif
