#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "cli/progress.h"
#include "cli/text.h"

/* A display on a terminal of our own, which keeps what it is sent. */
static dlb_display display;
static int keeper;
static char shown[4096];

static void open_terminal(int columns)
{
    keeper = posix_openpt(O_RDWR | O_NOCTTY);
    cr_assert(keeper >= 0 && grantpt(keeper) == 0 && unlockpt(keeper) == 0);
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = 24};
    FILE *out = fopen(ptsname(keeper), "w");
    cr_assert_not_null(out);
    cr_assert_eq(ioctl(keeper, TIOCSWINSZ, &size), 0);
    setenv("TERM", "xterm", 1);
    dlb_display_init(&display, out, false, 12);
}

static void close_terminal(void)
{
    fclose(display.out);
    close(keeper);
}

static const char *take_shown(void)
{
    ssize_t got = read(keeper, shown, sizeof shown - 1);
    cr_assert_gt(got, 0);
    shown[got] = '\0';
    return shown;
}

static const dlb_progress halfway = {.epoch = 6,
                                     .step = 50,
                                     .steps = 100,
                                     .images = 6400,
                                     .train_s = 0.5,
                                     .train = {.loss = 0.25, .accuracy = 0.9, .images = 6400}};

static const dlb_epoch ended = {.number = 9,
                                .train_s = 30,
                                .train = {.loss = 0.044, .accuracy = 0.9863, .images = 60000},
                                .test = {.loss = 0.0296, .accuracy = 0.991, .images = 10000}};

/* What a step shows, without the sequences that begin and end the line. */
static char *step_shown(int columns)
{
    open_terminal(columns);
    display.last_drawn = 0;
    dlb_display_step(&display, &halfway);
    char *line = (char *)take_shown();
    close_terminal();
    cr_assert_eq(line[0], '\r');
    char *end = strstr(line, "\033[K");
    cr_assert_not_null(end);
    *end = '\0';
    return line + 1;
}

Test(progress, a_wide_terminal_shows_everything)
{
    cr_assert_str_eq(step_shown(120), "Epoch 6/12 [===============>..............]  50 %  "
                                      "12,800 images/s  loss 0.2500  acc 0.9000  ETA 6.5 s");
}

Test(progress, a_usual_terminal_shows_a_bar_instead_of_the_accuracy)
{
    cr_assert_str_eq(step_shown(80), "Epoch 6/12 [=========>.........]  50 %  12,800 images/s  "
                                     "loss 0.2500  ETA 6.5 s");
}

Test(progress, a_narrow_terminal_shows_what_matters)
{
    cr_assert_str_eq(step_shown(40), "Epoch 6/12 [===>...]  50 %  loss 0.2500");
}

Test(progress, no_width_makes_the_line_wrap)
{
    for (int columns = 1; columns <= 200; columns++) {
        const char *line = step_shown(columns);
        cr_assert_lt(dlb_text_columns(line), columns, "%d columns: %s", columns, line);
    }
}

Test(progress, an_epoch_fits_a_usual_terminal_with_all_there_is_to_say)
{
    open_terminal(80);
    dlb_display_epoch(&display, &ended);
    cr_assert_str_eq(take_shown(), "\r\033[KEpoch 9/12   30.0 s   2,000 images/s  loss 0.0440 acc "
                                   "0.9863  test 0.0296 0.9910\r\n");
    close_terminal();
}

Test(progress, a_display_that_is_no_terminal_gets_plain_lines_at_once)
{
    FILE *out = tmpfile();
    dlb_display_init(&display, out, false, 12);
    display.last_drawn = 0;
    dlb_display_step(&display, &halfway);
    ssize_t got = pread(fileno(out), shown, sizeof shown - 1, 0);
    cr_assert_gt(got, 0, "nothing was flushed");
    shown[got] = '\0';
    cr_assert_str_eq(shown, "Epoch 6/12   50 %  12,800 images/s  loss 0.2500  acc 0.9000  "
                            "ETA 6.5 s\n");
    fclose(out);
}

Test(progress, a_dumb_terminal_gets_plain_lines)
{
    open_terminal(80);
    setenv("TERM", "dumb", 1);
    dlb_display_init(&display, display.out, false, 12);
    dlb_display_epoch(&display, &ended);
    cr_assert_null(strpbrk(take_shown(), "\033"));
    unsetenv("TERM");
    dlb_display_init(&display, display.out, false, 12);
    cr_assert_not(display.terminal);
    close_terminal();
}
