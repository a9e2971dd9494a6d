/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A legacy server as a shell script, for answers and endings that no good server has. It does the
 * handshake, reads one request, and then does what the test says.
 */
#ifndef TEST_CLI_PEER_H
#define TEST_CLI_PEER_H

/*
 * In the script: `next` reads a message into $line and its id into $id; `reply MEMBERS` answers
 * it; $1 is the test's own text.
 */
const char *peer_script(const char *then);

/* What follows "--" on the tool's command line, which has to have --era legacy. */
#define PEER(then, text) "sh", "-c", peer_script(then), "peer", text

/* Answers the request with the text as its result. */
#define PEER_RESULT(text) PEER("reply \"\\\"result\\\":$1\"", text)

#endif
