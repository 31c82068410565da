#include "train/identity.h"

#include <dlfcn.h>
#include <inttypes.h>

#include "base/file.h"
#include "data/checksum.h"

enum { PROGRAM_BYTES_MAX = 1 << 30 };

typedef struct identity {
    uint64_t program, data; /* checksums */
    size_t keys_length;
} identity;

/* The file that this code was loaded from: the program, or the library. */
static int program_checksum(uint64_t *checksum, dlb_error *err)
{
    Dl_info info;
    dlb_str bytes = DLB_STR_INIT;
    static const char here;
    if (!dladdr(&here, &info) || !info.dli_fname)
        return dlb_fail(err, DLB_FAIL, "cannot find the file of the running program");
    bool is_library = strstr(info.dli_fname, ".so") != NULL;
    int status = dlb_file_read(is_library ? info.dli_fname : "/proc/self/exe", PROGRAM_BYTES_MAX,
                               &bytes, err);
    if (status == 0)
        *checksum = dlb_checksum(0, (const uint8_t *)bytes.text, bytes.length);
    dlb_str_release(&bytes);
    return status;
}

/* A line a key: its value. */
static void format_keys(const dlb_workload *workload, dlb_str *text)
{
    for (enum dlb_key key = 0; key < DLB_KEY_COUNT; key++) {
        dlb_workload_get(workload, key, text);
        dlb_str_add(text, "\n");
    }
}

static int compare_keys(const char *mine, const char *first, dlb_error *err)
{
    for (enum dlb_key key = 0; key < DLB_KEY_COUNT; key++) {
        int mine_length = (int)strcspn(mine, "\n"), first_length = (int)strcspn(first, "\n");
        if (mine_length != first_length || memcmp(mine, first, (size_t)mine_length) != 0)
            return dlb_fail(err, DLB_BAD_INPUT,
                            "%s = '%.*s', but rank 0 has '%.*s'; give all ranks the same",
                            dlb_key_info(key)->name, mine_length, mine, first_length, first);
        mine += mine_length + 1;
        first += first_length + 1;
    }
    return 0;
}

static int compare(const identity *mine, const identity *first, dlb_error *err)
{
    if (mine->program != first->program)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "another program than rank 0: checksum %016" PRIx64 ", not %016" PRIx64
                        "; start the same file everywhere",
                        mine->program, first->program);
    if (mine->data != first->data)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "other data than rank 0: checksum %016" PRIx64 ", not %016" PRIx64
                        "; give all ranks the same files",
                        mine->data, first->data);
    return 0;
}

static int broadcast_keys(dlb_comm *comm, const identity *first, const char *mine, dlb_str *keys,
                          dlb_error *err)
{
    bool is_first = dlb_comm_rank(comm) == 0;
    for (size_t i = 0; !is_first && i < first->keys_length; i++)
        dlb_str_add(keys, " ");
    if (is_first)
        dlb_str_add(keys, mine);
    return dlb_comm_broadcast(comm, keys->text, first->keys_length, err);
}

static int check(dlb_comm *comm, identity *mine, const char *keys, dlb_error *err)
{
    identity first = *mine;
    dlb_str first_keys = DLB_STR_INIT;
    int status = dlb_comm_broadcast(comm, &first, sizeof first, err);
    if (status == 0)
        status = broadcast_keys(comm, &first, keys, &first_keys, err);
    if (status == 0) {
        status = compare_keys(keys, first_keys.text, err);
        if (status == 0)
            status = compare(mine, &first, err);
        status = dlb_comm_agree(comm, status, err);
    }
    dlb_str_release(&first_keys);
    return status;
}

int dlb_identity_check(dlb_comm *comm, const dlb_workload *workload, uint64_t data_checksum,
                       dlb_error *err)
{
    if (dlb_comm_size(comm) == 1)
        return 0;
    dlb_str keys = DLB_STR_INIT;
    identity mine = {.data = data_checksum};
    format_keys(workload, &keys);
    mine.keys_length = keys.length;
    int status = dlb_comm_agree(comm, program_checksum(&mine.program, err), err);
    if (status == 0)
        status = check(comm, &mine, keys.text, err);
    dlb_str_release(&keys);
    return status;
}
