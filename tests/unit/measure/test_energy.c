#include <criterion/criterion.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "machines.h"
#include "measure/energy.h"

/* A machine with one package that a test can write to. */
static char root[] = "/tmp/dlb_energy_XXXXXX";

static const char ZONE[] = "/sys/class/powercap/intel-rapl:0";
static const char *const FILES[] = {"name", "energy_uj", "max_energy_range_uj"};

static void set_file(const char *file, const char *text)
{
    dlb_str path = DLB_STR_INIT;
    dlb_error err;
    dlb_str_addf(&path, "%s%s/%s", root, ZONE, file);
    cr_assert_eq(dlb_file_write_atomic(path.text, text, strlen(text), &err), 0, "%s", err.message);
    dlb_str_release(&path);
}

/* Call `act` for each folder on the way to the zone, deepest last or first. */
static void each_folder(bool create)
{
    size_t whole = strlen(ZONE);
    for (size_t i = 1; i <= whole; i++) {
        size_t length = create ? i : whole + 1 - i;
        if (ZONE[length] != '/' && ZONE[length] != '\0')
            continue;
        dlb_str path = DLB_STR_INIT;
        dlb_str_addf(&path, "%s%.*s", root, (int)length, ZONE);
        cr_assert_eq(create ? mkdir(path.text, 0777) : rmdir(path.text), 0, "%s", path.text);
        dlb_str_release(&path);
    }
}

static void make_machine(void)
{
    cr_assert_not_null(mkdtemp(root));
    each_folder(true);
    set_file("name", "package-0\n");
    set_file("max_energy_range_uj", "100000000000\n");
    set_file("energy_uj", "99999000000\n");
}

static void remove_machine(void)
{
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        dlb_str path = DLB_STR_INIT;
        dlb_str_addf(&path, "%s%s/%s", root, ZONE, FILES[i]);
        unlink(path.text);
        dlb_str_release(&path);
    }
    each_folder(false);
    rmdir(root);
}

TestSuite(energy_window, .init = make_machine, .fini = remove_machine);

Test(energy_window, joules_are_the_difference_of_two_readings)
{
    dlb_energy *e = dlb_energy_create(root);
    cr_expect_str_eq(dlb_energy_meters(e), "package-0");
    dlb_energy_start(e);
    set_file("energy_uj", "99999750000\n");
    dlb_value joules = dlb_energy_stop(e);
    cr_assert(joules.known, "%s", joules.why);
    cr_expect_float_eq(joules.number, 0.75, 1e-9);
    dlb_energy_free(e);
}

Test(energy_window, a_meter_that_starts_again_is_followed)
{
    dlb_energy *e = dlb_energy_create(root);
    dlb_energy_start(e);
    set_file("energy_uj", "500000\n");
    dlb_energy_poll(e);
    set_file("energy_uj", "700000\n");
    dlb_value joules = dlb_energy_stop(e);
    cr_assert(joules.known, "%s", joules.why);
    cr_expect_float_eq(joules.number, 1.7, 1e-9);
    dlb_energy_free(e);
}

Test(energy_window, a_window_begins_anew_with_each_start)
{
    dlb_energy *e = dlb_energy_create(root);
    dlb_energy_start(e);
    set_file("energy_uj", "99999900000\n");
    dlb_energy_stop(e);
    dlb_energy_start(e);
    dlb_value joules = dlb_energy_stop(e);
    cr_assert(joules.known);
    cr_expect_eq(joules.number, 0);
    dlb_energy_free(e);
}

Test(energy_window, so_long_without_a_reading_that_two_turns_are_possible_is_missing)
{
    set_file("max_energy_range_uj", "10\n");
    dlb_energy *e = dlb_energy_create(root);
    dlb_energy_start(e);
    usleep(1000);
    cr_expect_not(dlb_energy_stop(e).known);
    dlb_energy_free(e);
}

Test(energy_window, a_meter_that_can_no_longer_be_read_makes_the_window_missing)
{
    dlb_energy *e = dlb_energy_create(root);
    dlb_energy_start(e);
    set_file("energy_uj", "not a number\n");
    dlb_value joules = dlb_energy_stop(e);
    cr_expect_not(joules.known);
    cr_expect_not_null(strstr(joules.why, "energy_uj"), "%s", joules.why);
    dlb_energy_free(e);
}

Test(energy_window, one_meter_that_may_not_be_read_leaves_no_half_sum)
{
    set_file("energy_uj", "\n");
    dlb_energy *e = dlb_energy_create(root);
    dlb_energy_start(e);
    cr_expect_not(dlb_energy_stop(e).known);
    dlb_energy_free(e);
}

Test(energy, packages_and_memory_are_added_and_their_parts_are_not)
{
    dlb_energy *e = dlb_energy_create(MACHINE("two-socket-smt"));
    cr_expect_str_eq(dlb_energy_meters(e), "package-0 dram package-1 dram");
    dlb_energy_free(e);
}

Test(energy, without_meters_the_joules_are_missing_with_a_reason)
{
    dlb_energy *e = dlb_energy_create(MACHINE("container"));
    dlb_energy_start(e);
    dlb_value joules = dlb_energy_stop(e);
    cr_expect_not(joules.known);
    cr_expect_not_null(strstr(joules.why, "powercap"));
    cr_expect_str_eq(dlb_energy_meters(e), "");
    dlb_energy_free(e);
}
