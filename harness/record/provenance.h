/* Which program produced a result: constant texts, compiled in. */
#ifndef DLB_RECORD_PROVENANCE_H
#define DLB_RECORD_PROVENANCE_H

const char *dlb_version(void);

/* As `git describe --long` names it, which has the hash even of a tag, with "-dirty" for a changed
 * tree; "unknown" outside git. */
const char *dlb_commit(void);

/* "clang 14.0.6" */
const char *dlb_compiler(void);

/* The flags of the build type, such as "-O3 -DNDEBUG". */
const char *dlb_compiler_flags(void);

#endif
