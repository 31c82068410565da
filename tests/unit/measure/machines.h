/* The recorded machines of this folder. */
#ifndef TESTS_MEASURE_MACHINES_H
#define TESTS_MEASURE_MACHINES_H

#define MACHINE(name) DLB_SOURCE_DIR "/tests/unit/measure/machines/" name

#endif
