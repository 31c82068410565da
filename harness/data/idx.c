#include "data/idx.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <unistd.h>

#include <zlib.h>

enum {
    UNSIGNED_BYTE = 0x08,
    INFLATE_BUFFER = 1 << 15, /* bytes; larger ones are not faster */
    FIRST_BLOCK = 1 << 16,    /* bytes of the first allocation for elements */
    MAX_READ = 1 << 30,       /* gzread counts in int */
};

typedef struct input {
    gzFile file;
    const char *name;
    dlb_error *err;
} input;

/* Reads `count` bytes or, at the end of the file or on an error, fewer. */
static size_t read_bytes(const input *in, uint8_t *bytes, size_t count)
{
    size_t have = 0;
    while (have < count) {
        size_t wanted = count - have < MAX_READ ? count - have : MAX_READ;
        int got = gzread(in->file, bytes + have, (unsigned)wanted);
        if (got <= 0)
            break;
        have += (size_t)got;
    }
    return have;
}

/* After a short read: 0 at a proper end of the file, else fills the error. */
static int check_stream(const input *in)
{
    int code;
    const char *text = gzerror(in->file, &code);
    switch (code) {
    case Z_OK:
    case Z_STREAM_END:
        return 0;
    case Z_BUF_ERROR:
        return dlb_fail(in->err, DLB_BAD_INPUT,
                        "%s: truncated gzip file: the copy is incomplete, fetch it again",
                        in->name);
    case Z_DATA_ERROR:
        return dlb_fail(in->err, DLB_BAD_INPUT, "%s: damaged gzip file (%s): fetch it again",
                        in->name, text);
    case Z_ERRNO:
        return dlb_fail(in->err, DLB_BAD_INPUT, "%s: cannot read: %s", in->name, strerror(errno));
    default:
        return dlb_fail(in->err, DLB_FAIL, "%s: cannot read: %s", in->name, text);
    }
}

static int read_header_bytes(const input *in, uint8_t bytes[4])
{
    if (read_bytes(in, bytes, 4) == 4)
        return 0;
    if (check_stream(in) < 0)
        return in->err->code;
    return dlb_fail(in->err, DLB_BAD_INPUT, "%s: the file ends within its IDX header", in->name);
}

static const char *type_name(uint8_t type)
{
    switch (type) {
    case 0x09:
        return "signed bytes";
    case 0x0b:
        return "16-bit integers";
    case 0x0c:
        return "32-bit integers";
    case 0x0d:
        return "32-bit floats";
    case 0x0e:
        return "64-bit floats";
    default:
        return "of an unknown type";
    }
}

static int read_magic(dlb_idx *idx, const input *in)
{
    uint8_t magic[4];
    if (read_header_bytes(in, magic) < 0)
        return in->err->code;
    if (magic[0] != 0 || magic[1] != 0)
        return dlb_fail(in->err, DLB_BAD_INPUT,
                        "%s: not an IDX file: wrong magic number %02x%02x%02x%02x, expected 0000 "
                        "and then 08 and the number of dimensions",
                        in->name, magic[0], magic[1], magic[2], magic[3]);
    if (magic[2] != UNSIGNED_BYTE)
        return dlb_fail(in->err, DLB_BAD_INPUT,
                        "%s: its elements are %s (IDX type %02x); only unsigned bytes (08) are "
                        "supported",
                        in->name, type_name(magic[2]), magic[2]);
    if (magic[3] == 0 || magic[3] > DLB_IDX_MAX_RANK)
        return dlb_fail(in->err, DLB_BAD_INPUT, "%s: %d dimensions; 1 to %d are supported",
                        in->name, magic[3], DLB_IDX_MAX_RANK);
    idx->rank = magic[3];
    return 0;
}

static int read_dimension(const input *in, int axis, int *dim)
{
    uint8_t bytes[4];
    if (read_header_bytes(in, bytes) < 0)
        return in->err->code;
    uint32_t value = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
                     (uint32_t)bytes[3];
    if (value == 0 || value > INT_MAX)
        return dlb_fail(in->err, DLB_BAD_INPUT, "%s: dimension %d is %u; 1 to %d are supported",
                        in->name, axis + 1, value, INT_MAX);
    *dim = (int)value;
    return 0;
}

typedef struct shape_text {
    char text[64];
} shape_text;

static shape_text describe_shape(const dlb_idx *idx)
{
    shape_text shape;
    int used = snprintf(shape.text, sizeof shape.text, "%d", idx->dim[0]);
    for (int axis = 1; axis < idx->rank; axis++)
        used +=
            snprintf(shape.text + used, sizeof shape.text - (size_t)used, " x %d", idx->dim[axis]);
    return shape;
}

static int read_header(dlb_idx *idx, const input *in)
{
    if (read_magic(idx, in) < 0)
        return in->err->code;
    bool overflow = false;
    idx->count_bytes = 1;
    for (int axis = 0; axis < DLB_IDX_MAX_RANK; axis++) {
        idx->dim[axis] = 1;
        if (axis < idx->rank && read_dimension(in, axis, &idx->dim[axis]) < 0)
            return in->err->code;
        overflow |=
            __builtin_mul_overflow(idx->count_bytes, (size_t)idx->dim[axis], &idx->count_bytes);
    }
    if (overflow)
        return dlb_fail(in->err, DLB_BAD_INPUT,
                        "%s: dimensions of %s are more than can be addressed", in->name,
                        describe_shape(idx).text);
    return 0;
}

static int fail_short(const dlb_idx *idx, const input *in, size_t have)
{
    if (check_stream(in) < 0)
        return in->err->code;
    return dlb_fail(in->err, DLB_BAD_INPUT,
                    "%s: truncated, or its dimensions are wrong: of %s bytes only %zu follow",
                    in->name, describe_shape(idx).text, have);
}

static int read_elements(dlb_idx *idx, const input *in)
{
    size_t capacity = 0;
    while (capacity < idx->count_bytes) {
        size_t have = capacity;
        size_t larger = have ? have : FIRST_BLOCK / 2;
        capacity = larger > idx->count_bytes / 2 ? idx->count_bytes : larger * 2;
        uint8_t *grown = realloc(idx->bytes, capacity);
        if (!grown)
            return dlb_fail(in->err, DLB_FAIL, "%s: not enough memory for %zu bytes", in->name,
                            capacity);
        idx->bytes = grown;
        have += read_bytes(in, idx->bytes + have, capacity - have);
        if (have < capacity)
            return fail_short(idx, in, have);
    }
    return 0;
}

/* Nothing may follow; reaching the end also makes zlib verify the checksum of a gzip file. */
static int expect_end(const dlb_idx *idx, const input *in)
{
    uint8_t extra;
    if (read_bytes(in, &extra, 1) == 0)
        return check_stream(in);
    return dlb_fail(in->err, DLB_BAD_INPUT,
                    "%s: trailing bytes after the %zu that its dimensions %s announce", in->name,
                    idx->count_bytes, describe_shape(idx).text);
}

static int read_array(dlb_idx *idx, int items, const input *in)
{
    if (read_header(idx, in) < 0)
        return in->err->code;
    bool whole = items >= idx->dim[0];
    if (!whole)
        idx->count_bytes = idx->count_bytes / (size_t)idx->dim[0] * (size_t)items;
    if (read_elements(idx, in) < 0 || (whole && expect_end(idx, in) < 0))
        return in->err->code;
    return 0;
}

static int read_items(dlb_idx *idx, int fd, const char *name, int items, dlb_error *err)
{
    dlb_error ignored = {0};
    input in = {.file = gzdopen(fd, "rb"), .name = name, .err = err ? err : &ignored};
    if (!in.file) {
        close(fd);
        return dlb_fail(err, DLB_FAIL, "%s: not enough memory to read it", name);
    }
    gzbuffer(in.file, INFLATE_BUFFER);
    int status = read_array(idx, items, &in);
    gzclose(in.file);
    if (status < 0)
        dlb_idx_release(idx);
    return status;
}

int dlb_idx_read_first(dlb_idx *idx, const char *path, int items, dlb_error *err)
{
    *idx = (dlb_idx){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: %s", path, strerror(errno));
    return read_items(idx, fd, path, items, err);
}

int dlb_idx_read(dlb_idx *idx, const char *path, dlb_error *err)
{
    return dlb_idx_read_first(idx, path, INT_MAX, err);
}

int dlb_idx_read_fd(dlb_idx *idx, int fd, const char *name, dlb_error *err)
{
    *idx = (dlb_idx){0};
    return read_items(idx, fd, name, INT_MAX, err);
}

void dlb_idx_release(dlb_idx *idx)
{
    free(idx->bytes);
    *idx = (dlb_idx){0};
}
