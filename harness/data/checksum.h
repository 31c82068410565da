/* A fast 64-bit checksum that tells data sets apart; it does not resist forgery. */
#ifndef DLB_DATA_CHECKSUM_H
#define DLB_DATA_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Start with 0 and hand the result on to chain blocks. The same on every machine. */
uint64_t dlb_checksum(uint64_t sum, const uint8_t *bytes, size_t count);

#endif
