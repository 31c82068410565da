#include "measure/value.h"

#include <math.h>
#include <stdarg.h>

dlb_value dlb_value_of(double number)
{
    return (dlb_value){.known = true, .number = number};
}

dlb_value dlb_value_missing(const char *format, ...)
{
    dlb_value value = {.known = false, .number = NAN};
    va_list args;
    va_start(args, format);
    vsnprintf(value.why, sizeof value.why, format, args);
    va_end(args);
    return value;
}
