#include "base/error.h"

int dlb_fail(dlb_error *err, int code, const char *format, ...)
{
    if (!err)
        return code;
    err->code = code;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return code;
}

int dlb_error_prefix(dlb_error *err, const char *format, ...)
{
    if (!err)
        return DLB_FAIL;
    char context[sizeof err->message / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);

    char old[sizeof err->message];
    memcpy(old, err->message, sizeof old);
    int used = snprintf(err->message, sizeof err->message, "%s: ", context);
    snprintf(err->message + used, sizeof err->message - (size_t)used, "%s", old);
    return err->code;
}
