/*
 * DLB_EACH(X, context, a, b, ...) expands to X(context, a) X(context, b) ... for one to eight
 * items: what turns the choices of a key in keys.def into an enum and into a table of names.
 */
#ifndef DLB_CONFIG_EACH_H
#define DLB_CONFIG_EACH_H

#define DLB_EACH(X, c, ...)                                                                        \
    DLB_EACH_PICK(__VA_ARGS__, DLB_EACH_8, DLB_EACH_7, DLB_EACH_6, DLB_EACH_5, DLB_EACH_4,         \
                  DLB_EACH_3, DLB_EACH_2, DLB_EACH_1, 0)                                           \
    (X, c, __VA_ARGS__)

#define DLB_EACH_PICK(a, b, c, d, e, f, g, h, each, ...) each

#define DLB_EACH_1(X, c, item)      X(c, item)
#define DLB_EACH_2(X, c, item, ...) X(c, item) DLB_EACH_1(X, c, __VA_ARGS__)
#define DLB_EACH_3(X, c, item, ...) X(c, item) DLB_EACH_2(X, c, __VA_ARGS__)
#define DLB_EACH_4(X, c, item, ...) X(c, item) DLB_EACH_3(X, c, __VA_ARGS__)
#define DLB_EACH_5(X, c, item, ...) X(c, item) DLB_EACH_4(X, c, __VA_ARGS__)
#define DLB_EACH_6(X, c, item, ...) X(c, item) DLB_EACH_5(X, c, __VA_ARGS__)
#define DLB_EACH_7(X, c, item, ...) X(c, item) DLB_EACH_6(X, c, __VA_ARGS__)
#define DLB_EACH_8(X, c, item, ...) X(c, item) DLB_EACH_7(X, c, __VA_ARGS__)

#endif
