/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/failure.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

static const struct row {
    const char *what;
    struct mp_failure_facts facts;
    const char *tail;
    const char *message;
} rows[] = {
    {"timeout",
     {.name = "files",
      .err = MCPUMP_ERR_TIMEOUT,
      .phase = MCPUMP_PHASE_REQUEST,
      .subject = "tools/call",
      .elapsed_ms = 1500},
     NULL,
     "files: request tools/call: the time is over after 1.500 s"},
    {"without a name",
     {.err = MCPUMP_ERR_SYSTEM,
      .phase = MCPUMP_PHASE_OPTIONS,
      .sys_errno = ENOENT,
      .subject = "not shown",
      .detail = "f.json: it cannot be read"},
     NULL,
     "f.json: it cannot be read: No such file or directory"},
    {"exit with last words",
     {.name = "files",
      .err = MCPUMP_ERR_CLOSED,
      .cause = MCPUMP_CAUSE_EXITED,
      .phase = MCPUMP_PHASE_HANDSHAKE,
      .exit = {true, 7, 0}},
     "one\ncannot open db\n",
     "files: handshake: the server exited with status 7; its last words: cannot open db"},
    {"signal",
     {.name = "files",
      .err = MCPUMP_ERR_CLOSED,
      .cause = MCPUMP_CAUSE_EXITED,
      .phase = MCPUMP_PHASE_REQUEST,
      .exit = {true, -1, SIGKILL}},
     NULL,
     "files: request: the server exited with signal 9 (Killed)"},
    {"unknown exit",
     {.name = "files",
      .err = MCPUMP_ERR_CLOSED,
      .cause = MCPUMP_CAUSE_EXITED,
      .phase = MCPUMP_PHASE_REQUEST},
     NULL,
     "files: request: the server exited"},
    {"another cause, and an exit",
     {.name = "files",
      .err = MCPUMP_ERR_CLOSED,
      .cause = MCPUMP_CAUSE_JUNK_OUTPUT,
      .phase = MCPUMP_PHASE_REQUEST,
      .exit = {true, 0, 0}},
     NULL,
     "files: request: the server wrote too many lines that are not messages; the server exited "
     "with status 0"},
    {"spawn",
     {.name = "npz",
      .err = MCPUMP_ERR_SPAWN,
      .phase = MCPUMP_PHASE_START,
      .stage = MCPUMP_STAGE_EXEC,
      .sys_errno = EACCES,
      .subject = "npz"},
     NULL,
     "npz: start npz: running the command failed: Permission denied"},
    {"spawn with detail",
     {.name = "npz",
      .err = MCPUMP_ERR_SPAWN,
      .phase = MCPUMP_PHASE_START,
      .stage = MCPUMP_STAGE_LOOKUP,
      .sys_errno = ENOENT,
      .subject = "npz",
      .detail = "not in PATH (/bin)"},
     NULL,
     "npz: start npz: finding the command failed: not in PATH (/bin): No such file or directory"},
    {"closed by the host",
     {.name = "files",
      .err = MCPUMP_ERR_CLOSED,
      .cause = MCPUMP_CAUSE_CLOSED_BY_HOST,
      .phase = MCPUMP_PHASE_REQUEST},
     NULL,
     "files: request: the connection ended"},
    {"foreign text is neutralised",
     {.name = "files",
      .err = MCPUMP_ERR_HANDSHAKE,
      .phase = MCPUMP_PHASE_HANDSHAKE,
      .detail = "bad \x1b[31mred\n"},
     NULL,
     "files: handshake: bad \\x1b[31mred\\x0a"},
};

Test(failure, says_it_in_one_sentence)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *tail = rows[i].tail != NULL ? strdup(rows[i].tail) : NULL;
        mcpump_failure *failure = mp_failure_new(&rows[i].facts, tail);
        cr_assert_str_eq(mcpump_failure_message(failure), rows[i].message, "%s: %s", rows[i].what,
                         mcpump_failure_message(failure));
        mcpump_failure_free(failure);
    }
}

Test(failure, keeps_the_facts_and_can_be_cloned)
{
    struct mp_failure_facts facts = {.name = "n",
                                     .err = MCPUMP_ERR_CLOSED,
                                     .cause = MCPUMP_CAUSE_EXITED,
                                     .phase = MCPUMP_PHASE_PROBE,
                                     .stage = MCPUMP_STAGE_NONE,
                                     .sys_errno = EPIPE,
                                     .exit = {true, 3, 0},
                                     .sent = MCPUMP_SENT_UNKNOWN,
                                     .elapsed_ms = 42};
    mcpump_failure *first = mp_failure_new(&facts, strdup("words\n"));
    mcpump_failure *failure = mp_failure_clone(first);
    cr_assert_str_eq(mcpump_failure_message(failure), mcpump_failure_message(first));
    mcpump_failure_free(first);
    cr_assert_eq(mcpump_failure_error(failure), MCPUMP_ERR_CLOSED);
    cr_assert_eq(mcpump_failure_cause(failure), MCPUMP_CAUSE_EXITED);
    cr_assert_eq(mcpump_failure_phase(failure), MCPUMP_PHASE_PROBE);
    cr_assert_eq(mcpump_failure_stage(failure), MCPUMP_STAGE_NONE);
    cr_assert_eq(mcpump_failure_errno(failure), EPIPE);
    cr_assert_eq(mcpump_failure_exit_status(failure), 3);
    cr_assert_eq(mcpump_failure_term_signal(failure), 0);
    cr_assert_eq(mcpump_failure_sent(failure), MCPUMP_SENT_UNKNOWN);
    cr_assert_eq(mcpump_failure_elapsed_ms(failure), 42);
    cr_assert_str_eq(mcpump_failure_stderr(failure), "words\n");
    mcpump_failure_free(failure);
    cr_assert_null(mp_failure_clone(NULL));
    cr_assert_str_eq(mcpump_failure_message(NULL), "out of memory");
    mcpump_failure_free(NULL);
}

Test(failure, a_missing_exit_is_none)
{
    struct mp_failure_facts facts = {.name = "n", .err = MCPUMP_ERR_TIMEOUT};
    mcpump_failure *failure = mp_failure_new(&facts, NULL);
    cr_assert_eq(mcpump_failure_exit_status(failure), -1);
    cr_assert_str_eq(mcpump_failure_stderr(failure), "");
    mcpump_failure_free(failure);
}
