#include <criterion/criterion.h>

#include "dlk/lines.h"
#include "kit.h"

Test(lines, claiming_changes_nothing)
{
    enum { COUNT = 100 };
    float *memory = kit_uniform(COUNT, 1), *before = kit_uniform(COUNT, 1);
    uint32_t odd[] = {0x7FC12345, 0xFF800000, 0x00000001, 0x80000000}; /* NaN, -inf, denormal, -0 */
    memcpy(memory, odd, sizeof odd);
    memcpy(before, odd, sizeof odd);
    for (size_t first = 0; first < 20; first++)
        for (size_t count = 0; first + count <= COUNT; count++)
            dlk_claim(memory + first, count);
    cr_assert_eq(memcmp(memory, before, COUNT * sizeof *memory), 0);
    free(before);
    free(memory);
}
