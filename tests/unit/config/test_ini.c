#include <stdint.h>

#include "base/file.h"
#include "base/str.h"
#include "config/ini.h"
#include "support/tempdir.h"

static dlb_ini *ini;
static dlb_error err;
static tempdir dir;

static void setup(void)
{
    tempdir_make(&dir);
    ini = NULL;
}

static void teardown(void)
{
    dlb_ini_free(ini);
    tempdir_remove(&dir);
}

TestSuite(ini, .init = setup, .fini = teardown);

static void parse(const char *text)
{
    dlb_ini_free(ini);
    ini = NULL;
    cr_assert_eq(dlb_ini_parse(&ini, "s.ini", text, strlen(text), &err), 0, "%s", err.message);
}

static void refuse_bytes(const char *bytes, size_t count, const char *message)
{
    dlb_ini *none = NULL;
    cr_assert_eq(dlb_ini_parse(&none, "s.ini", bytes, count, &err), DLB_BAD_INPUT);
    cr_assert_str_eq(err.message, message);
    cr_assert_null(none);
}

static void refuse(const char *text, const char *message)
{
    refuse_bytes(text, strlen(text), message);
}

static const dlb_ini_entry *entry_at(size_t section, size_t entry)
{
    cr_assert_lt(section, dlb_ini_count(ini));
    cr_assert_lt(entry, dlb_ini_section_at(ini, section)->count);
    return &dlb_ini_section_at(ini, section)->entries[entry];
}

static void assert_entry(size_t section, size_t entry, const char *key, const char *value)
{
    cr_assert_str_eq(entry_at(section, entry)->key, key);
    cr_assert_str_eq(entry_at(section, entry)->value, value);
}

static void assert_section(size_t section, const char *kind, const char *name, size_t entries)
{
    cr_assert_lt(section, dlb_ini_count(ini));
    cr_assert_str_eq(dlb_ini_section_at(ini, section)->kind, kind);
    cr_assert_str_eq(dlb_ini_section_at(ini, section)->name, name);
    cr_assert_eq(dlb_ini_section_at(ini, section)->count, entries);
}

/* The value of an entry's only value, of which `what` is at fault. */
static void assert_fault(const char *what, const char *message)
{
    const dlb_ini_entry *entry = entry_at(0, 0);
    const char *at = strstr(entry->value, what);
    cr_assert_not_null(at);
    cr_assert_eq(dlb_place_fail(&err, &entry->value_place, (size_t)(at - entry->value), "wrong"),
                 DLB_BAD_INPUT);
    cr_assert_str_eq(err.message, message);
}

static void write_file(const char *name, const char *text)
{
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, name), text, strlen(text), &err), 0);
}

static int read_file(const char *name)
{
    return dlb_ini_read(&ini, tempdir_file(&dir, name), &err);
}

/* The message with a place in the test's folder, after "/tmp/…/". */
static void assert_refused(const char *name, const char *message)
{
    cr_assert_eq(read_file(name), DLB_BAD_INPUT);
    const char *slash = strstr(err.message, dir.path);
    cr_assert_not_null(slash);
    cr_assert_str_eq(slash + strlen(dir.path) + 1, message);
}

Test(ini, sections_and_entries_keep_the_order_of_the_file)
{
    parse("[study]\n"
          "name = quick\n"
          "\n"
          "[grid scaling]\n"
          "ranks=1 2\n"
          "env.OMP_PLACES =\n");
    cr_assert_eq(dlb_ini_count(ini), 2);
    assert_section(0, "study", "", 1);
    assert_section(1, "grid", "scaling", 2);
    assert_entry(0, 0, "name", "quick");
    assert_entry(1, 0, "ranks", "1 2");
    assert_entry(1, 1, "env.OMP_PLACES", "");
}

Test(ini, a_file_of_nothing_but_comments_has_no_section)
{
    parse("");
    cr_assert_eq(dlb_ini_count(ini), 0);
    parse("; nothing\n  # at all\n\t\n");
    cr_assert_eq(dlb_ini_count(ini), 0);
}

Test(ini, comments_begin_at_the_start_of_a_line_or_after_a_blank)
{
    parse("[a] ; first\n"
          "b = 1 ; c\n"
          "d = x;y#z\t# e\n"
          ";f = 2\n"
          "g = ; empty\n");
    assert_entry(0, 0, "b", "1");
    assert_entry(0, 1, "d", "x;y#z");
    assert_entry(0, 2, "g", "");
}

Test(ini, quotes_keep_what_would_be_a_comment)
{
    parse("[a]\n"
          "b = \"1 ; 2\" 3 # 4\n"
          "c = a 5\" disk ; a quote that is not closed\n");
    assert_entry(0, 0, "b", "\"1 ; 2\" 3");
    assert_entry(0, 1, "c", "a 5\" disk");
}

Test(ini, lines_that_end_with_a_backslash_go_on)
{
    parse("[a]\n"
          "b = 1 \\\n"
          "    2 \\  \n"
          "3 ; end\n"
          "c = \\\n"
          "  4\n"
          "d = granularity=fine,\\\n"
          "compact\n");
    assert_entry(0, 0, "b", "1     2 3");
    assert_entry(0, 1, "c", "4");
    assert_entry(0, 2, "d", "granularity=fine,compact");
}

Test(ini, a_comment_does_not_go_on_in_the_next_line)
{
    parse("[a]\n"
          "; old \\\n"
          "b = 1\n");
    assert_entry(0, 0, "b", "1");
    refuse("[a]\nb = 1 \\ ; one\n  2\n",
           "s.ini:2: a line that goes on must end with \\, not with a comment\n"
           "    b = 1 \\ ; one\n"
           "          ^");
}

Test(ini, the_last_line_needs_no_newline_and_may_pretend_to_go_on)
{
    parse("[a]\nb = 1");
    assert_entry(0, 0, "b", "1");
    parse("[a]\nb = 1 \\");
    assert_entry(0, 0, "b", "1");
}

Test(ini, files_of_other_systems_read_the_same)
{
    parse("\xef\xbb\xbf[a]\r\nb = 1 \\\r\n  2\r\nc = 3\r\n");
    assert_entry(0, 0, "b", "1   2");
    assert_entry(0, 1, "c", "3");
    cr_assert_eq(entry_at(0, 1)->key_place.line, 4);
    cr_assert_str_eq(entry_at(0, 1)->key_place.text, "c = 3");
    refuse("\xef\xbb\xbfoops\r\n", "s.ini:1: this is neither a [section] nor key = value\n"
                                   "    oops\n"
                                   "    ^");
}

Test(ini, where_may_stand_several_times_other_keys_not)
{
    parse("[grid]\nwhere = a\nwhere = b\n[grid b]\nwhere = c\n");
    assert_section(0, "grid", "", 2);
    assert_entry(0, 1, "where", "b");
    refuse("[grid]\nranks = 1\nthreads = 2\n  ranks = 3\nranks = 4\nthreads = 5\n",
           "s.ini:4: ranks is already set in line 2 of this section\n"
           "      ranks = 3\n"
           "      ^");
}

Test(ini, a_section_stands_once)
{
    refuse("[grid a]\n[grid]\n[study]\n [grid a]\n[grid]\n",
           "s.ini:4: [grid a] already stands in line 1\n"
           "     [grid a]\n"
           "     ^");
}

Test(ini, what_is_no_line_of_a_sweep_file_is_refused_at_its_place)
{
    refuse("[a]\n  word\n", "s.ini:2: this is neither a [section] nor key = value\n"
                            "      word\n"
                            "      ^");
    refuse("[a]\nmy key = 1\n", "s.ini:2: a key is one word of letters, digits, _, - and .\n"
                                "    my key = 1\n"
                                "       ^");
    refuse("[a]\n = 1\n", "s.ini:2: a key is missing before =\n"
                          "     = 1\n"
                          "     ^");
    refuse("b = 1\n[a]\n", "s.ini:1: b stands before the first [section], where only include may\n"
                           "    b = 1\n"
                           "    ^");
    refuse("[grid a", "s.ini:1: a ] is missing here\n"
                      "    [grid a\n"
                      "           ^");
    refuse("[ ]", "s.ini:1: the section's name is missing after [\n"
                  "    [ ]\n"
                  "      ^");
    refuse("[grid my scaling]",
           "s.ini:1: a section is [word] or [word name], of letters, digits, _, - and .\n"
           "    [grid my scaling]\n"
           "             ^");
    refuse("[grid a] ranks = 1", "s.ini:1: nothing may follow ] in its line\n"
                                 "    [grid a] ranks = 1\n"
                                 "             ^");
}

Test(ini, bytes_that_are_no_text_are_refused)
{
    refuse_bytes("[a]\nb = \0\n", 10,
                 "s.ini:2: a NUL byte: is this a text file?\n"
                 "    b = \n"
                 "        ^");
    refuse("[a]\nb = \xc3\xa4\xe4\n",
           "s.ini:2: this byte is no UTF-8; save the file in that encoding\n"
           "    b = \xc3\xa4?\n"
           "         ^");
    const char *const invalid[] = {
        "\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8", "\xe2\x82"};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        cr_assert_eq(dlb_ini_parse(&ini, "s.ini", invalid[i], strlen(invalid[i]), &err),
                     DLB_BAD_INPUT);
}

Test(ini, the_caret_stands_below_the_fault)
{
    parse("[a]\nb = 1 wrong 2");
    assert_fault("wrong", "s.ini:2: wrong\n"
                          "    b = 1 wrong 2\n"
                          "          ^");
    parse("[a]\n\tb =\t1\twrong\t2");
    assert_fault("wrong", "s.ini:2: wrong\n"
                          "     b = 1 wrong 2\n"
                          "           ^");
    parse("[a]\nb = \"gr\xc3\xb6\xc3\x9f"
          "er\" wrong");
    assert_fault("wrong", "s.ini:2: wrong\n"
                          "    b = \"gr\xc3\xb6\xc3\x9f"
                          "er\" wrong\n"
                          "                 ^");
    parse("[a]\nb = \xe6\xbc\xa2\xe5\xad\x97 e\xcc\x81 wrong"); /* two wide, one combined */
    assert_fault("wrong", "s.ini:2: wrong\n"
                          "    b = \xe6\xbc\xa2\xe5\xad\x97 e\xcc\x81 wrong\n"
                          "               ^");
}

Test(ini, the_caret_finds_the_line_of_a_continued_value)
{
    parse("[a]\n"
          "b = 1 \\\n"
          "    2 wrong\\\n"
          "  \\\n"
          "  bad\n");
    assert_fault("wrong", "s.ini:3: wrong\n"
                          "        2 wrong\\\n"
                          "          ^");
    assert_fault("bad", "s.ini:5: wrong\n"
                        "      bad\n"
                        "      ^");
    assert_fault("1", "s.ini:2: wrong\n"
                      "    b = 1 \\\n"
                      "        ^");
    parse("[a]\nb = \\\n  wrong");
    assert_fault("wrong", "s.ini:3: wrong\n"
                          "      wrong\n"
                          "      ^");
}

Test(ini, long_lines_are_cut_around_the_caret)
{
    dlb_str text = DLB_STR_INIT;
    dlb_str_add(&text, "[a]\nb = ");
    for (int i = 0; i < 5000; i++)
        dlb_str_addf(&text, "%d ", i);
    parse(text.text);
    assert_fault("2500", "s.ini:2: wrong\n"
                         "    ...2492 2493 2494 2495 2496 2497 2498 2499 2500 2501 2502 2503 2504 "
                         "2505 25...\n"
                         "                                               ^");
    dlb_str_release(&text);
}

Test(ini, escape_sequences_of_a_file_do_not_reach_the_terminal)
{
    parse("[a]\nb = \x1b[31m wrong");
    assert_fault("wrong", "s.ini:2: wrong\n"
                          "    b = ?[31m wrong\n"
                          "              ^");
}

Test(ini, a_message_always_has_its_line_and_caret)
{
    char path[5000], message[5000];
    memset(path, 'p', sizeof path - 1);
    memset(message, 'm', sizeof message - 1);
    path[sizeof path - 1] = message[sizeof message - 1] = '\0';
    dlb_place place = {path, 7, 1, "b = 1", 0, NULL};
    dlb_place_fail(&err, &place, 4, "%s", message);
    cr_assert_not_null(strstr(err.message, "p:7: mmm"));
    const char *end = "m\n    b = 1\n        ^";
    cr_assert_str_eq(err.message + strlen(err.message) - strlen(end), end);
    cr_assert_eq(dlb_place_fail(NULL, &place, 0, "wrong"), DLB_BAD_INPUT);
}

Test(ini, what_a_file_sets_replaces_what_it_includes)
{
    write_file("base.ini", "[study]\nname = base\nrepeats = 3\n"
                           "[grid a]\nranks = 1\nthreads = 2\n"
                           "[grid b]\nranks = 4\n");
    write_file("top.ini", "include = base.ini\n"
                          "[grid a]\nworkers = 8\n"
                          "[study]\nname = top\n"
                          "[grid c]\nranks = 2\n");
    cr_assert_eq(read_file("top.ini"), 0, "%s", err.message);
    cr_assert_eq(dlb_ini_count(ini), 4);
    assert_section(0, "study", "", 2);
    assert_entry(0, 0, "repeats", "3");
    assert_entry(0, 1, "name", "top");
    assert_section(1, "grid", "a", 1);
    assert_entry(1, 0, "workers", "8");
    assert_section(2, "grid", "b", 1);
    assert_section(3, "grid", "c", 1);
}

Test(ini, entries_know_the_file_that_they_come_from)
{
    write_file("base.ini", "[study]\nrepeats = 3\n");
    write_file("top.ini", "include = \"base.ini\" ; quoted\n[study]\nname = top\n");
    cr_assert_eq(read_file("top.ini"), 0, "%s", err.message);
    cr_assert_str_eq(strrchr(entry_at(0, 0)->value_place.file, '/'), "/base.ini");
    cr_assert_str_eq(strrchr(entry_at(0, 1)->value_place.file, '/'), "/top.ini");
    cr_assert_eq(entry_at(0, 0)->value_place.line, 2);
    cr_assert_eq(entry_at(0, 1)->value_place.line, 3);
}

Test(ini, of_several_includes_the_later_replaces_the_earlier)
{
    write_file("one.ini", "[study]\nname = one\ntitle = t\n");
    write_file("two.ini", "include = one.ini\n[study]\nname = two\n");
    write_file("top.ini", "include = one.ini\ninclude = two.ini\n");
    cr_assert_eq(read_file("top.ini"), 0, "%s", err.message);
    assert_section(0, "study", "", 2);
    for (size_t i = 0; i < 2; i++)
        if (strcmp(entry_at(0, i)->key, "name") == 0)
            cr_assert_str_eq(entry_at(0, i)->value, "two");
}

Test(ini, includes_that_cannot_be_followed_point_at_the_include)
{
    write_file("top.ini", "; base\ninclude = base.ini\n");
    cr_assert_eq(read_file("top.ini"), DLB_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "top.ini:2: cannot be included: "));
    cr_assert_not_null(strstr(err.message, "base.ini: No such file or directory\n"
                                           "    include = base.ini\n"
                                           "              ^"));
    write_file("top.ini", "include = .\n");
    cr_assert_eq(read_file("top.ini"), DLB_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, " is not a file\n"));
    write_file("top.ini", "include =\n");
    assert_refused("top.ini", "top.ini:1: the file to include is missing\n"
                              "    include =\n"
                              "             ^");
    write_file("top.ini", "[study]\ninclude = base.ini\n");
    assert_refused("top.ini", "top.ini:2: include must stand before the first section\n"
                              "    include = base.ini\n"
                              "    ^");
}

Test(ini, errors_of_an_included_file_are_shown_there)
{
    write_file("base.ini", "[study]\noops\n");
    write_file("top.ini", "include = base.ini\n");
    assert_refused("top.ini", "base.ini:2: this is neither a [section] nor key = value\n"
                              "    oops\n"
                              "    ^");
}

Test(ini, includes_do_not_form_a_circle)
{
    write_file("self.ini", "include = ./self.ini\n");
    cr_assert_eq(read_file("self.ini"), DLB_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "self.ini includes itself\n"
                                           "    include = ./self.ini\n"
                                           "              ^"));
    write_file("a.ini", "include = b.ini\n");
    write_file("b.ini", "\ninclude = a.ini\n");
    cr_assert_eq(read_file("a.ini"), DLB_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "b.ini:2: the includes form a circle: "));
}

Test(ini, the_number_of_includes_is_limited)
{
    char name[16], text[64];
    for (int i = 0; i < 9; i++) { /* each reads the next one twice: 511 files */
        snprintf(name, sizeof name, "%d.ini", i);
        snprintf(text, sizeof text, "include = %d.ini\ninclude = %d.ini\n", i + 1, i + 1);
        write_file(name, text);
    }
    write_file("9.ini", "");
    cr_assert_eq(read_file("0.ini"), DLB_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "more than 63 files are included\n"));
}

Test(ini, a_file_that_is_not_there_is_named)
{
    cr_assert_eq(read_file("none.ini"), DLB_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "none.ini: No such file or directory"));
}

/* A megabyte of each kind, which only a reader in linear time gets through. */
Test(ini, a_large_file_is_read_whole, .timeout = 60)
{
    dlb_str text = DLB_STR_INIT;
    dlb_str_add(&text, "[grid]\n");
    for (int i = 0; i < 60000; i++)
        dlb_str_addf(&text, "key%06d = %d\n", i, i);
    for (int i = 0; i < 60000; i++)
        dlb_str_addf(&text, "[s%d]\n", i);
    dlb_str_add(&text, "list = \"\n");
    dlb_str_add(&text, "more = ");
    for (int i = 0; i < 60000; i++)
        dlb_str_addf(&text, "%d \\\n", i);
    dlb_str_add(&text, "end\n");
    parse(text.text);
    cr_assert_eq(dlb_ini_count(ini), 60001);
    assert_section(0, "grid", "", 60000);
    assert_entry(0, 59999, "key059999", "59999");
    const dlb_ini_entry *more = entry_at(60000, 1);
    size_t length = strlen(more->value);
    cr_assert_str_eq(more->value + length - 9, "59999 end");
    dlb_place_fail(&err, &more->value_place, length - 9, "wrong");
    cr_assert_str_eq(err.message, "s.ini:180002: wrong\n"
                                  "    59999 \\\n"
                                  "    ^");
    dlb_str_release(&text);
}

Test(ini, files_beyond_all_measure_are_refused)
{
    dlb_str text = DLB_STR_INIT;
    for (int i = 0; i < 17; i++)
        for (int k = 0; k < 1 << 10; k++)
            dlb_str_addf(&text, "%1024s", "\n");
    cr_assert_eq(dlb_ini_parse(&ini, "s.ini", text.text, text.length, &err), DLB_BAD_INPUT);
    dlb_str_release(&text);
}
