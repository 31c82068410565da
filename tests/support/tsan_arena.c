/*
 * Criterion runs each test in a sandbox whose memory arena it maps at a random address, most of
 * which ThreadSanitizer reserves for itself. It draws the address with rand_r(); this one keeps
 * the draw within 0x550000000000 … 0x560000000000, which both accept. Built into tsan tests only.
 */
__attribute__((visibility("default"))) int rand_r(unsigned *seed);

int rand_r(unsigned *seed)
{
    *seed = *seed * 1103515245U + 12345U;
    return (int)(0x350000U + (*seed >> 8 & 0xffffU));
}
