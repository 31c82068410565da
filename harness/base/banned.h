/*
 * Functions that invite buffer overflows, hidden state or silent parse errors do not compile.
 * Every source file sees this header first (cmake/Targets.cmake); the standard headers that
 * declare these names are included here so that the macros below cannot break them.
 */
#ifndef DLB_BASE_BANNED_H
#define DLB_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DLB_BANNED(function, instead) function##_is_banned_use_##instead

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef gets
#undef strtok
#undef atoi
#undef atof
#undef rand
#undef system
#define strcpy(...)   DLB_BANNED(strcpy, dlb_str)
#define strcat(...)   DLB_BANNED(strcat, dlb_str)
#define strncpy(...)  DLB_BANNED(strncpy, snprintf)
#define strncat(...)  DLB_BANNED(strncat, dlb_str)
#define sprintf(...)  DLB_BANNED(sprintf, snprintf)
#define vsprintf(...) DLB_BANNED(vsprintf, vsnprintf)
#define gets(...)     DLB_BANNED(gets, fgets)
#define strtok(...)   DLB_BANNED(strtok, strcspn)
#define atoi(...)     DLB_BANNED(atoi, dlb_parse_int)
#define atof(...)     DLB_BANNED(atof, dlb_parse_real)
#define rand(...)     DLB_BANNED(rand, dlk_rng)
#define system(...)   DLB_BANNED(system, execvp)

#endif
