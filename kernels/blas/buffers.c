/*
 * Work buffers of OpenBLAS, one a thread.
 *
 * sgemm copies its operands into a work buffer, which it takes from a table with
 * blas_memory_alloc and returns with blas_memory_free. The serial build as Debian compiles it
 * (without USE_LOCKING) takes it without a lock: two threads now and then get the same buffer, and
 * both products are wrong. The table is short, too: from the 129th thread on it complains, and
 * past its second part there is no buffer at all. The library calls the two functions through its
 * table of procedure links, as every shared library calls what it exports; two entries of that
 * table are redirected here. A thread then maps a buffer of its own once and keeps it until the
 * thread ends: safe for any number of threads, and faster than a table that all of them write to.
 *
 * How large a buffer is depends on how the library was built, and kernels rely on it. It is seen
 * from what the library itself maps for its first one, again by way of the procedure links.
 */
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dlfcn.h>

#include "blas/blas.h"

typedef void *alloc_fn(int where);
typedef void free_fn(void *buffer);
typedef __typeof__(mmap) mmap_fn;

static size_t buffer_bytes; /* of every work buffer */
static pthread_key_t at_thread_end;

static _Thread_local struct {
    void *buffer;
    bool taken;
} own;

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * A page that nobody may touch follows each buffer: threads' buffers lie side by side. sgemm cannot
 * fail, so running out of address space ends the process, as in dlb_alloc.
 */
static void *map_buffer(void)
{
    void *buffer = mmap(NULL, buffer_bytes + page_bytes(), PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (buffer == MAP_FAILED || mprotect(buffer, buffer_bytes, PROT_READ | PROT_WRITE) != 0) {
        fprintf(stderr, "dlbench: no room for a work buffer of OpenBLAS (%zu bytes a thread)\n",
                buffer_bytes);
        abort();
    }
    return buffer;
}

static void unmap_buffer(void *buffer)
{
    munmap(buffer, buffer_bytes + page_bytes());
}

static void unmap_own(void *buffer)
{
    own.buffer = NULL;
    unmap_buffer(buffer);
}

/* In place of blas_memory_alloc. A routine that wants a second buffer gets a passing one. */
static void *take_buffer(int where)
{
    (void)where;
    if (own.taken)
        return map_buffer();
    if (!own.buffer) {
        own.buffer = map_buffer();
        pthread_setspecific(at_thread_end, own.buffer);
    }
    own.taken = true;
    return own.buffer;
}

/* In place of blas_memory_free. */
static void return_buffer(void *buffer)
{
    if (buffer == own.buffer)
        own.taken = false;
    else
        unmap_buffer(buffer);
}

/* In place of mmap, while the library maps a buffer. */
static void *note_size(void *address, size_t length, int protection, int flags, int file,
                       off_t offset)
{
    if (length > buffer_bytes)
        buffer_bytes = length;
    return mmap(address, length, protection, flags, file, offset);
}

/* What the dynamic section says about a library's calls through its table of procedure links. */
typedef struct calls {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * links;
    size_t count;
} calls;

static calls read_calls(const struct link_map *map)
{
    calls c = {0};
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            c.symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
        else if (d->d_tag == DT_STRTAB)
            c.names = (const char *)d->d_un.d_ptr;
        else if (d->d_tag == DT_JMPREL)
            c.links = (const ElfW(Rela) *)d->d_un.d_ptr;
        else if (d->d_tag == DT_PLTRELSZ)
            c.count = d->d_un.d_val / sizeof *c.links;
    }
    return c;
}

/* The entry through which the library calls `function`; NULL if it calls it otherwise. */
static void *find_entry(const struct link_map *map, const char *function)
{
    calls c = read_calls(map);
    if (!c.symbols || !c.names || !c.links)
        return NULL;
    for (size_t i = 0; i < c.count; i++) {
        const ElfW(Sym) *symbol = &c.symbols[ELF64_R_SYM(c.links[i].r_info)];
        if (!strcmp(c.names + symbol->st_name, function))
            return (void *)(map->l_addr + c.links[i].r_offset);
    }
    return NULL;
}

/* The linker may have made the table read-only after it filled it. */
static bool make_writable(void *entry)
{
    uintptr_t page = page_bytes();
    void *start = (void *)((uintptr_t)entry & ~(page - 1));
    return mprotect(start, page, PROT_READ | PROT_WRITE) == 0;
}

/* Exchange the function that an entry leads to with *function, a pointer to any function. */
static void exchange(void *entry, void *function)
{
    void *before;
    memcpy(&before, entry, sizeof before);
    memcpy(entry, function, sizeof before);
    memcpy(function, &before, sizeof before);
}

/* The entries through which the library maps memory, and takes and returns work buffers. */
typedef struct entries {
    void *map, *alloc, *free;
} entries;

static bool find_entries(const struct link_map *map, entries *e)
{
    *e = (entries){find_entry(map, "mmap"), find_entry(map, "blas_memory_alloc"),
                   find_entry(map, "blas_memory_free")};
    return e->map && e->alloc && e->free && make_writable(e->map) && make_writable(e->alloc) &&
           make_writable(e->free);
}

/*
 * Let the library take a buffer and give it back: it maps it, and completes what it puts off until
 * the first one. False if it maps none.
 */
static bool learn_size(const entries *e)
{
    alloc_fn *alloc;
    free_fn *give;
    mmap_fn *map = note_size;
    memcpy(&alloc, e->alloc, sizeof alloc);
    memcpy(&give, e->free, sizeof give);
    exchange(e->map, &map);
    void *buffer = alloc(0);
    exchange(e->map, &map);
    if (buffer)
        give(buffer);
    return buffer && buffer_bytes > 0;
}

bool dlk_openblas_private_buffers(void *library)
{
    struct link_map *map;
    entries e;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !find_entries(map, &e) || !learn_size(&e))
        return false;
    if (pthread_key_create(&at_thread_end, unmap_own) != 0)
        return false;
    alloc_fn *take = take_buffer;
    free_fn *give = return_buffer;
    exchange(e.alloc, &take);
    exchange(e.free, &give);
    return true;
}
