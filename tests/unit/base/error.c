/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpump/error.h"

#include <criterion/criterion.h>
#include <limits.h>

/* The numbers are part of the ABI: append to these tables, never change a row. */
#define CHECK_NUMBERS(name_of, ...)                                                                \
    do {                                                                                           \
        static const struct {                                                                      \
            int number;                                                                            \
            const char *name;                                                                      \
        } rows[] = {__VA_ARGS__};                                                                  \
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)                                \
            cr_expect_str_eq(name_of(rows[i].number), rows[i].name);                               \
    } while (0)

Test(error, numbers_stay)
{
    CHECK_NUMBERS(mcpump_err_name, {0, "OK"}, {-1, "INVALID_ARGUMENT"}, {-2, "NO_MEMORY"},
                  {-3, "INVALID_REQUEST"}, {-4, "NOT_OPEN"}, {-5, "ALREADY_OPEN"}, {-6, "SPAWN"},
                  {-7, "HANDSHAKE"}, {-8, "TIMEOUT"}, {-9, "INTERRUPTED"}, {-10, "CANCELLED"},
                  {-11, "CLOSED"}, {-12, "QUEUE_FULL"}, {-13, "SYSTEM"}, {-14, "INVALID_REPLY"},
                  {-15, "SERVER_ERROR"});
    CHECK_NUMBERS(mcpump_cause_name, {0, "NONE"}, {1, "CLOSED_BY_HOST"}, {2, "EXITED"},
                  {3, "STDOUT_CLOSED"}, {4, "WRITE_FAILED"}, {5, "READ_FAILED"},
                  {6, "MESSAGE_TOO_LARGE"}, {7, "JUNK_OUTPUT"}, {8, "WRITE_QUEUE_FULL"},
                  {9, "NO_MEMORY"});
    CHECK_NUMBERS(mcpump_phase_name, {0, "OPTIONS"}, {1, "START"}, {2, "PROBE"}, {3, "HANDSHAKE"},
                  {4, "REQUEST"}, {5, "NOTIFY"});
    CHECK_NUMBERS(mcpump_stage_name, {0, "NONE"}, {1, "LOOKUP"}, {2, "PIPES"}, {3, "FORK"},
                  {4, "GROUP"}, {5, "STDIO"}, {6, "DIRECTORY"}, {7, "EXEC"}, {8, "THREADS"});
    cr_expect_eq(MCPUMP_OK, 0);
}

Test(error, every_value_has_its_own_text)
{
#define CHECK_ERR(name, number, text)   cr_expect_str_eq(mcpump_err_text(number), text);
#define CHECK_CAUSE(name, number, text) cr_expect_str_eq(mcpump_cause_text(number), text);
#define CHECK_PHASE(name, number, text) cr_expect_str_eq(mcpump_phase_text(number), text);
#define CHECK_STAGE(name, number, text) cr_expect_str_eq(mcpump_stage_text(number), text);
    MCPUMP_ERRORS(CHECK_ERR)
    MCPUMP_CAUSES(CHECK_CAUSE)
    MCPUMP_PHASES(CHECK_PHASE)
    MCPUMP_STAGES(CHECK_STAGE)
}

Test(error, numbers_out_of_range)
{
    static const int numbers[] = {1, -1000, INT_MIN, INT_MAX};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        cr_expect_str_eq(mcpump_err_name((mcpump_err)numbers[i]), "UNKNOWN");
        cr_expect_str_eq(mcpump_err_text((mcpump_err)numbers[i]), "unknown");
    }
    cr_expect_str_eq(mcpump_cause_text((mcpump_cause)-1), "unknown");
    cr_expect_str_eq(mcpump_phase_name((mcpump_phase)99), "UNKNOWN");
    cr_expect_str_eq(mcpump_stage_text((mcpump_stage)99), "unknown");
}
