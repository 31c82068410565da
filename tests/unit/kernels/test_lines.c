/* Asking for lines of memory is about time: no value may change. */
#include <criterion/criterion.h>
#include <string.h>

#include "dlk/lines.h"
#include "kit.h"

enum { COUNT = 1000 };

Test(lines, owning_fetching_and_taking_over_change_no_bit)
{
    float *memory = kit_uniform(COUNT, 3), before[COUNT];
    const uint32_t odd[] = {0x7FC00001, 0x80000000, 0x00000001,
                            0xFF800000}; /* NaN, -0, tiny, -inf */
    memcpy(memory + 16, odd, sizeof odd);
    memcpy(before, memory, sizeof before);
    for (size_t first = 0; first < 40; first++) {
        dlk_own(memory + first, COUNT - first);
        dlk_fetch(memory + first, COUNT - first);
        dlk_take_over(memory + first, COUNT - first);
        cr_assert_arr_eq(memory, before, sizeof before, "from float %zu on", first);
    }
    free(memory);
}
