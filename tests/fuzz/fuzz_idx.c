/* Any bytes are an array that agrees with its header, or an error with a message. */
#include <sys/mman.h>
#include <unistd.h>

#include "data/idx.h"
#include "fuzz.h"

/* The reader takes a descriptor, so that zlib's side of it is exercised as well. */
static int open_bytes(const uint8_t *bytes, size_t count)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, count) != (ssize_t)count || lseek(fd, 0, SEEK_SET) < 0)
        abort();
    return fd;
}

static void check_array(const dlb_idx *idx)
{
    size_t product = 1;
    for (int axis = 0; axis < DLB_IDX_MAX_RANK; axis++)
        product *= (size_t)idx->dim[axis];
    if (idx->rank < 1 || idx->rank > DLB_IDX_MAX_RANK || product != idx->count_bytes)
        abort();
    volatile uint8_t last = idx->bytes[idx->count_bytes - 1];
    (void)last;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    dlb_idx idx;
    dlb_error err = {0};
    int status = dlb_idx_read_fd(&idx, open_bytes(bytes, count), "input", &err);
    if (status == 0)
        check_array(&idx);
    else if (status != err.code || !strstr(err.message, "input: ") || idx.bytes)
        abort();
    dlb_idx_release(&idx);
    return 0;
}
