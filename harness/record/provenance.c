#include "record/provenance.h"

#include "commit.h"

const char *dlb_version(void)
{
    return DLB_VERSION;
}

const char *dlb_commit(void)
{
    return DLB_COMMIT;
}

#ifdef __clang__
#define COMPILER "clang"
#define MAJOR    __clang_major__
#define MINOR    __clang_minor__
#define PATCH    __clang_patchlevel__
#else
#define COMPILER "gcc"
#define MAJOR    __GNUC__
#define MINOR    __GNUC_MINOR__
#define PATCH    __GNUC_PATCHLEVEL__
#endif
#define TEXT(number)          TEXT_OF_VALUE(number)
#define TEXT_OF_VALUE(number) #number

const char *dlb_compiler(void)
{
    return COMPILER " " TEXT(MAJOR) "." TEXT(MINOR) "." TEXT(PATCH);
}

const char *dlb_compiler_flags(void)
{
    return DLB_C_FLAGS;
}
