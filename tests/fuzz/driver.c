/*
 * Stands in for libFuzzer: runs a target on every file of a folder, then on RUNS mutations of
 * them, the same ones each time.
 *
 *     fuzz_NAME FOLDER RUNS
 */
#include <dirent.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "fuzz.h"

enum { MAX_SEED = 1 << 20, MAX_EDITS = 4 };

typedef struct corpus {
    dlb_str *inputs;
    size_t count, capacity;
} corpus;

static int read_seed(corpus *seeds, const char *folder, const char *name)
{
    dlb_str path = DLB_STR_INIT, input = DLB_STR_INIT;
    dlb_error err;
    dlb_str_addf(&path, "%s/%s", folder, name);
    int status = dlb_file_read(path.text, MAX_SEED, &input, &err);
    dlb_str_release(&path);
    if (status < 0) {
        fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    seeds->inputs = dlb_grow(seeds->inputs, &seeds->capacity, seeds->count + 1, sizeof input);
    seeds->inputs[seeds->count++] = input;
    return 0;
}

static int by_length_and_bytes(const void *a, const void *b)
{
    const dlb_str *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return x->length ? memcmp(x->text, y->text, x->length) : 0;
}

static int read_seeds(corpus *seeds, const char *folder)
{
    DIR *listing = opendir(folder);
    if (!listing) {
        fprintf(stderr, "%s: no such folder\n", folder);
        return -1;
    }
    int status = 0;
    for (struct dirent *entry; status == 0 && (entry = readdir(listing));)
        if (entry->d_name[0] != '.')
            status = read_seed(seeds, folder, entry->d_name);
    closedir(listing);
    if (status == 0 && seeds->count == 0) {
        fprintf(stderr, "%s: no seeds\n", folder);
        status = -1;
    }
    if (status == 0)
        qsort(seeds->inputs, seeds->count, sizeof *seeds->inputs, by_length_and_bytes);
    return status;
}

/* xorshift64, of which the upper half is used. */
static uint32_t draw(uint64_t *state, size_t bound)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 32) % bound);
}

/* One edit in place; the input may become shorter, never longer. */
static void edit(dlb_str *input, uint64_t *state)
{
    static const uint8_t extremes[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    if (input->length == 0)
        return;
    size_t at = draw(state, input->length);
    switch (draw(state, 4)) {
    case 0:
        input->text[at] = (char)(input->text[at] ^ 1 << draw(state, 8));
        break;
    case 1:
        input->text[at] = (char)extremes[draw(state, sizeof extremes)];
        break;
    case 2:
        input->length = at;
        break;
    default:
        memmove(input->text + at, input->text + at / 2, input->length - at);
    }
}

/* On a copy of exactly its length, so that AddressSanitizer sees any read past the end. */
static void run(const dlb_str *input)
{
    uint8_t *copy = malloc(input->length ? input->length : 1);
    if (!copy)
        abort();
    if (input->length)
        memcpy(copy, input->text, input->length);
    LLVMFuzzerTestOneInput(copy, input->length);
    free(copy);
}

static void run_mutation(const corpus *seeds, uint64_t *state)
{
    const dlb_str *seed = &seeds->inputs[draw(state, seeds->count)];
    dlb_str input = DLB_STR_INIT;
    dlb_str_add_bytes(&input, seed->text ? seed->text : "", seed->length);
    for (uint32_t edits = 1 + draw(state, MAX_EDITS); edits; edits--)
        edit(&input, state);
    run(&input);
    dlb_str_release(&input);
}

static void release(corpus *seeds)
{
    for (size_t i = 0; i < seeds->count; i++)
        dlb_str_release(&seeds->inputs[i]);
    free(seeds->inputs);
}

int main(int argc, char **argv)
{
    long long runs;
    if (argc != 3 || !dlb_parse_int(argv[2], &runs)) {
        fprintf(stderr, "usage: %s FOLDER RUNS\n", argv[0]);
        return 2;
    }
    corpus seeds = {0};
    int status = read_seeds(&seeds, argv[1]);
    if (status == 0) {
        for (size_t i = 0; i < seeds.count; i++)
            run(&seeds.inputs[i]);
        uint64_t state = 1;
        for (long long i = 0; i < runs; i++)
            run_mutation(&seeds, &state);
        printf("%zu seeds and %lld mutations\n", seeds.count, runs);
    }
    release(&seeds);
    return status < 0 ? 1 : 0;
}
