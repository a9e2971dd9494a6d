/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include "place.h"
#include "request.h"

/* The largest reply that is measured and what stands around it. */
#define MAX_MESSAGE_BYTES (64 * 1024 * 1024)

void bench_client_check(mcpump_err err, mcpump_failure *failure)
{
    if (err == MCPUMP_OK)
        return;
    bench_die("%s", failure != NULL ? mcpump_failure_message(failure) : mcpump_err_text(err));
}

mcpump_transport_options bench_client_options(const struct bench_plan *plan)
{
    mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
    options.command = plan->server;
    options.max_message_bytes = MAX_MESSAGE_BYTES;
    return options;
}

mcpump_transport *bench_client_open(const struct bench_plan *plan)
{
    mcpump_transport_options options = bench_client_options(plan);
    mcpump_transport *transport = NULL;
    mcpump_failure *failure = NULL;
    bench_client_check(mcpump_transport_new(&options, &transport, &failure), failure);
    bench_client_check(mcpump_transport_open(transport, &failure), failure);
    bench_place_server(plan->place, mcpump_transport_pid(transport));
    return transport;
}

void bench_client_call(mcpump_transport *transport, const struct bench_text *request)
{
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_transport_send_request(transport, request->bytes, request->size, NULL,
                                                   &reply, &failure);
    bench_client_check(err, failure);
    if (mcpump_reply_is_error(reply))
        bench_die("the server does not answer: %.200s", mcpump_reply_text(reply, NULL));
    mcpump_reply_free(reply);
}

void bench_client_prepare(mcpump_transport *transport, const struct bench_text *request)
{
    mcpump_failure *failure = NULL;
    bench_client_call(transport, &bench_initialize);
    mcpump_err err = mcpump_transport_notify(transport, bench_initialized.bytes,
                                             bench_initialized.size, &failure);
    bench_client_check(err, failure);
    bench_client_call(transport, request);
}
