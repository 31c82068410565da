#include "record/frame_cells.h"

#include <math.h>
#include <stdbool.h>

#include "base/mem.h"

void dlb_cells_release(dlb_cells *cells)
{
    for (size_t i = 0; i < cells->piece_count; i++)
        free(cells->pieces[i].cells);
    free(cells->pieces);
    free(cells->numbers);
    free(cells->codes);
    *cells = (dlb_cells){0};
}

/* The least value of a signed type stands for NaN. */
static size_t number_width(const double *numbers, size_t count)
{
    double least = 0, greatest = 0;
    for (size_t i = 0; i < count; i++) {
        double number = numbers[i];
        if (isnan(number))
            continue;
        if (!(number > INT32_MIN && number <= INT32_MAX) || number != (double)(int32_t)number)
            return sizeof(double);
        least = number < least ? number : least;
        greatest = number > greatest ? number : greatest;
    }
    if (least > INT8_MIN && greatest <= INT8_MAX)
        return sizeof(int8_t);
    return least > INT16_MIN && greatest <= INT16_MAX ? sizeof(int16_t) : sizeof(int32_t);
}

static void pack_numbers(const dlb_piece *piece, const double *numbers, size_t count)
{
    int8_t *small = piece->cells;
    int16_t *medium = piece->cells;
    int32_t *large = piece->cells;
    switch (piece->width) {
    case sizeof *small:
        for (size_t i = 0; i < count; i++)
            small[i] = isnan(numbers[i]) ? INT8_MIN : (int8_t)numbers[i];
        break;
    case sizeof *medium:
        for (size_t i = 0; i < count; i++)
            medium[i] = isnan(numbers[i]) ? INT16_MIN : (int16_t)numbers[i];
        break;
    case sizeof *large:
        for (size_t i = 0; i < count; i++)
            large[i] = isnan(numbers[i]) ? INT32_MIN : (int32_t)numbers[i];
        break;
    default:
        memcpy(piece->cells, numbers, count * sizeof *numbers);
    }
}

static double unpack_number(const dlb_piece *piece, size_t row)
{
    double number, missing;
    switch (piece->width) {
    case sizeof(int8_t):
        number = ((const int8_t *)piece->cells)[row];
        missing = INT8_MIN;
        break;
    case sizeof(int16_t):
        number = ((const int16_t *)piece->cells)[row];
        missing = INT16_MIN;
        break;
    case sizeof(int32_t):
        number = ((const int32_t *)piece->cells)[row];
        missing = INT32_MIN;
        break;
    default:
        return ((const double *)piece->cells)[row];
    }
    return number == missing ? NAN : number;
}

static size_t code_width(const uint32_t *codes, size_t count)
{
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= codes[i];
    return all <= UINT8_MAX ? sizeof(uint8_t) : all <= UINT16_MAX ? sizeof(uint16_t) : sizeof all;
}

static void pack_codes(const dlb_piece *piece, const uint32_t *codes, size_t count)
{
    uint8_t *small = piece->cells;
    uint16_t *medium = piece->cells;
    switch (piece->width) {
    case sizeof *small:
        for (size_t i = 0; i < count; i++)
            small[i] = (uint8_t)codes[i];
        break;
    case sizeof *medium:
        for (size_t i = 0; i < count; i++)
            medium[i] = (uint16_t)codes[i];
        break;
    default:
        memcpy(piece->cells, codes, count * sizeof *codes);
    }
}

static uint32_t unpack_code(const dlb_piece *piece, size_t row)
{
    switch (piece->width) {
    case sizeof(uint8_t):
        return ((const uint8_t *)piece->cells)[row];
    case sizeof(uint16_t):
        return ((const uint16_t *)piece->cells)[row];
    default:
        return ((const uint32_t *)piece->cells)[row];
    }
}

static dlb_piece *add_piece(dlb_cells *cells, size_t width, size_t count)
{
    cells->pieces = dlb_grow(cells->pieces, &cells->piece_capacity, cells->piece_count + 1,
                             sizeof *cells->pieces);
    dlb_piece *piece = &cells->pieces[cells->piece_count++];
    *piece = (dlb_piece){.cells = dlb_alloc(count, width),
                         .width = width,
                         .mask = count == cells->filled ? SIZE_MAX : 0};
    return piece;
}

/* How many of the cells tell all of them: one, if each equals the next. */
static size_t count_telling(const void *cells, size_t count, size_t size)
{
    return memcmp(cells, (const char *)cells + size, (count - 1) * size) == 0 ? 1 : count;
}

static void pack(dlb_cells *cells)
{
    if (cells->numbers) {
        size_t count = count_telling(cells->numbers, cells->filled, sizeof *cells->numbers);
        size_t width = number_width(cells->numbers, count);
        pack_numbers(add_piece(cells, width, count), cells->numbers, count);
    } else {
        size_t count = count_telling(cells->codes, cells->filled, sizeof *cells->codes);
        size_t width = code_width(cells->codes, count);
        pack_codes(add_piece(cells, width, count), cells->codes, count);
    }
    cells->filled = 0;
}

void dlb_cells_add_number(dlb_cells *cells, double number)
{
    if (!cells->numbers)
        cells->numbers = dlb_alloc(DLB_PIECE_ROWS, sizeof *cells->numbers);
    cells->numbers[cells->filled++] = number;
    if (cells->filled == DLB_PIECE_ROWS)
        pack(cells);
}

void dlb_cells_add_code(dlb_cells *cells, uint32_t code)
{
    if (!cells->codes)
        cells->codes = dlb_alloc(DLB_PIECE_ROWS, sizeof *cells->codes);
    cells->codes[cells->filled++] = code;
    if (cells->filled == DLB_PIECE_ROWS)
        pack(cells);
}

void dlb_cells_seal(dlb_cells *cells)
{
    if (cells->filled > 0)
        pack(cells);
    free(cells->numbers);
    free(cells->codes);
    cells->numbers = NULL;
    cells->codes = NULL;
}

double dlb_cells_number(const dlb_cells *cells, size_t row)
{
    const dlb_piece *piece = &cells->pieces[row / DLB_PIECE_ROWS];
    return unpack_number(piece, row % DLB_PIECE_ROWS & piece->mask);
}

uint32_t dlb_cells_code(const dlb_cells *cells, size_t row)
{
    const dlb_piece *piece = &cells->pieces[row / DLB_PIECE_ROWS];
    return unpack_code(piece, row % DLB_PIECE_ROWS & piece->mask);
}
