/*
 * The cells of a column, in pieces of DLB_PIECE_ROWS rows, each as narrow as its values allow:
 * numbers that are whole as integers of 1, 2 or 4 bytes, others as doubles; codes likewise. One
 * cell stands for a piece whose rows are all the same, as most parameters of a study are.
 */
#ifndef DLB_RECORD_FRAME_CELLS_H
#define DLB_RECORD_FRAME_CELLS_H

#include <stddef.h>
#include <stdint.h>

enum { DLB_PIECE_ROWS = 16384 };

typedef struct dlb_piece {
    void *cells;
    size_t width; /* bytes a cell; a number of 8 is a double, others are integers */
    size_t mask;  /* of a row's number in the piece: 0 if all are the same, else all ones */
} dlb_piece;

/* Of numbers or of codes, never both. Valid when zeroed. */
typedef struct dlb_cells {
    dlb_piece *pieces;
    size_t piece_count, piece_capacity;
    double *numbers; /* of the piece that is being filled */
    uint32_t *codes;
    size_t filled;
} dlb_cells;

void dlb_cells_release(dlb_cells *cells);

void dlb_cells_add_number(dlb_cells *cells, double number);
void dlb_cells_add_code(dlb_cells *cells, uint32_t code);

/* After the last cell and before the first is read. */
void dlb_cells_seal(dlb_cells *cells);

double dlb_cells_number(const dlb_cells *cells, size_t row);
uint32_t dlb_cells_code(const dlb_cells *cells, size_t row);

#endif
