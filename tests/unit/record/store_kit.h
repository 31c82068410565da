/* What tests of the store share. */
#ifndef DLB_TESTS_RECORD_STORE_KIT_H
#define DLB_TESTS_RECORD_STORE_KIT_H

#include <criterion/criterion.h>

#include "record/store.h"
#include "support/tempdir.h"

enum { EPOCHS = 3, RANKS = 2 }; /* of each run */

extern tempdir dir;     /* the folder of the store */
extern dlb_row columns; /* that it is opened with */
extern dlb_error err;

void store_kit_init(void);
void store_kit_release(void);

dlb_store *store_open(void);
void store_close(dlb_store *store);

/* A run of point p<number / 10>, whose name and reason tell its number. */
void result_make(dlb_result *result, int number, const char *status);
int try_add(dlb_store *store, int number, const char *status);
void add(dlb_store *store, int number, const char *status);

/* Record runs 0 .. count - 1, of which every third failed. */
void record(int count);
bool has_failed(const dlb_stored_run *run, void *arg);

/* Files of the folder, by name. */
dlb_str content(const char *name);
void append_bytes(const char *name, const char *bytes);

/* How many rows are whole and, unless `run` is NULL, begin with that field. */
int rows_of(const char *name, const char *run);

/* Each recorded run is once and whole in all files, and nothing else is. */
void assert_whole(const dlb_store *store);

#endif
