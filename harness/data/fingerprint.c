#include "data/fingerprint.h"

#include <errno.h>
#include <stdio.h>
#include <zlib.h>

#include "data/checksum.h"
#include "data/files.h"

/* What gzip keeps at the end of a file: the CRC-32 and the length of what it holds. */
typedef struct content {
    uint8_t crc[4], length[4];
} content;

static void put_little_endian(uint8_t bytes[4], unsigned long value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static bool is_gzip(FILE *file)
{
    int first = getc(file), second = getc(file);
    return first == 0x1f && second == 0x8b;
}

static bool read_trailer(FILE *file, content *c)
{
    return fseek(file, -(long)sizeof *c, SEEK_END) == 0 && fread(c, sizeof *c, 1, file) == 1;
}

static bool compute_trailer(FILE *file, content *c)
{
    static uint8_t block[1 << 16];
    unsigned long crc = crc32(0, NULL, 0), length = 0;
    rewind(file);
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0; length += got)
        crc = crc32(crc, block, (unsigned)got);
    put_little_endian(c->crc, crc);
    put_little_endian(c->length, length);
    return !ferror(file);
}

static int identify(const char *path, content *c, dlb_error *err)
{
    FILE *file = fopen(path, "re");
    bool read = file && (is_gzip(file) ? read_trailer(file, c) : compute_trailer(file, c));
    if (!read)
        dlb_fail(err, DLB_BAD_INPUT, "%s: %s", path, errno ? strerror(errno) : "is cut short");
    if (file)
        fclose(file);
    return read ? 0 : DLB_BAD_INPUT;
}

/* The number of items of an IDX file: the second of the big-endian words at its start. */
static int count_items(const char *path, int *count, dlb_error *err)
{
    uint8_t start[8];
    gzFile file = gzopen(path, "rbe");
    int got = file ? gzread(file, start, sizeof start) : -1;
    if (file)
        gzclose(file);
    if (got != (int)sizeof start || start[4] > 0x7f)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: does not begin as an IDX file", path);
    *count = (start[4] << 24) | (start[5] << 16) | (start[6] << 8) | start[7];
    return 0;
}

static int take_files(dlb_fingerprint *fingerprint, const dlb_files *files, dlb_error *err)
{
    fingerprint->hash = 0;
    for (int f = 0; f < DLB_FILE_COUNT; f++) {
        content c = {0};
        if (identify(files->path[f].text, &c, err) < 0)
            return DLB_BAD_INPUT;
        fingerprint->hash = dlb_checksum(fingerprint->hash, (const uint8_t *)&c, sizeof c);
    }
    return count_items(files->path[DLB_TRAIN_IMAGES].text, &fingerprint->images, err);
}

int dlb_fingerprint_take(dlb_fingerprint *fingerprint, const char *name, dlb_error *err)
{
    dlb_files files = {0};
    if (strcmp(name, "synthetic") == 0) {
        *fingerprint = (dlb_fingerprint){0};
        return 0;
    }
    int status = dlb_files_find(&files, name, err);
    if (status == 0)
        status = take_files(fingerprint, &files, err);
    dlb_files_release(&files);
    return status;
}
