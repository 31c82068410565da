/*
 * The temporary folder of a test, and IDX files to put into it. scratch_make and scratch_remove
 * are meant as .init and .fini.
 */
#ifndef DLB_TESTS_DATA_SCRATCH_H
#define DLB_TESTS_DATA_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

enum { BLOB_MAX = 1 << 16 };

typedef struct blob {
    uint8_t bytes[BLOB_MAX];
    size_t count;
} blob;

void scratch_make(void);
void scratch_remove(void);

/* The path of a file in the folder, or of the folder itself for ""; valid until the next call. */
const char *scratch_path(const char *name);

void scratch_write(const char *name, const blob *contents);
void scratch_write_gz(const char *name, const blob *contents);

/* Cut a file to its first `count` bytes. */
void scratch_truncate(const char *name, size_t count);

/* An IDX header for unsigned bytes, and the same followed by elements 0, 1, 2 … modulo `modulus`.
 */
blob idx_header(int rank, const uint32_t *dims);
blob idx_array(int rank, const uint32_t *dims, int modulus);

#endif
