/*
 * Work buffers of OpenBLAS, one a thread.
 *
 * sgemm copies its operands into a work buffer, which it takes from a table with
 * blas_memory_alloc and returns with blas_memory_free. The serial build as Debian compiles it
 * (without USE_LOCKING) takes it without a lock: two threads now and then get the same buffer, and
 * both products are wrong. The library calls the two functions through its table of procedure
 * links, as every shared library calls what it exports; two entries of that table are redirected
 * here. A thread then takes a buffer from the library once, under a lock, and keeps it until the
 * thread ends: safe, and faster than a table that all threads write to.
 */
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dlfcn.h>

#include "blas/blas.h"

typedef void *alloc_fn(int where);
typedef void free_fn(void *buffer);

/* The library's own functions, and what makes them safe. */
static struct {
    alloc_fn *alloc;
    free_fn *free;
    pthread_mutex_t lock;
    pthread_key_t at_thread_end;
} original = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    void *buffer;
    bool taken;
} own;

static void *alloc_locked(int where)
{
    pthread_mutex_lock(&original.lock);
    void *buffer = original.alloc(where);
    pthread_mutex_unlock(&original.lock);
    return buffer;
}

static void free_locked(void *buffer)
{
    pthread_mutex_lock(&original.lock);
    original.free(buffer);
    pthread_mutex_unlock(&original.lock);
}

/* In place of blas_memory_alloc. A routine that wants a second buffer gets a passing one. */
static void *take_buffer(int where)
{
    if (own.taken)
        return alloc_locked(where);
    if (!own.buffer) {
        own.buffer = alloc_locked(where);
        pthread_setspecific(original.at_thread_end, own.buffer);
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
        free_locked(buffer);
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
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)((uintptr_t)entry & ~(page - 1));
    return mprotect(start, page, PROT_READ | PROT_WRITE) == 0;
}

static bool redirect(void *alloc_entry, void *free_entry)
{
    alloc_fn *take = take_buffer;
    free_fn *give = return_buffer;
    if (!make_writable(alloc_entry) || !make_writable(free_entry))
        return false;
    memcpy(&original.alloc, alloc_entry, sizeof original.alloc);
    memcpy(&original.free, free_entry, sizeof original.free);
    memcpy(alloc_entry, &take, sizeof take);
    memcpy(free_entry, &give, sizeof give);
    return true;
}

bool dlk_openblas_private_buffers(void *library)
{
    struct link_map *map;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    void *alloc_entry = find_entry(map, "blas_memory_alloc");
    void *free_entry = find_entry(map, "blas_memory_free");
    if (!alloc_entry || !free_entry)
        return false;
    if (pthread_key_create(&original.at_thread_end, free_locked) != 0)
        return false;
    return redirect(alloc_entry, free_entry);
}
