#include "manager/events.h"
#include "manager/server.h"
bool mp_turns_take(struct mp_turns *t, struct mp_turn *u)
{
    (void)t;
    (void)u;
    return true;
}
void mp_turns_give_back(struct mp_turns *t, struct mp_turn *u)
{
    (void)t;
    (void)u;
}
void mp_asks_init(struct mp_asks *a, mcpump_transport *t)
{
    (void)a;
    (void)t;
}
void mp_asks_done(struct mp_asks *a)
{
    (void)a;
}
struct mp_ask *mp_asks_add(struct mp_asks *a, struct mp_span id, mp_deadline d)
{
    (void)a;
    (void)id;
    (void)d;
    return NULL;
}
void mp_asks_release(struct mp_asks *a, struct mp_ask *k)
{
    (void)a;
    (void)k;
}
mp_deadline mp_asks_expire(struct mp_asks *a)
{
    (void)a;
    return MP_NEVER;
}
void mp_asks_close(struct mp_asks *a)
{
    (void)a;
}
void mp_events_post_state(struct mp_events *e, const struct mp_event_source *s,
                          mcpump_server_state a, mcpump_server_state b, const mcpump_failure *f)
{
    (void)e;
    (void)s;
    (void)a;
    (void)b;
    (void)f;
}
void mp_events_post_notification(struct mp_events *e, const struct mp_event_source *s,
                                 struct mp_span l, const struct mp_envelope *v)
{
    (void)e;
    (void)s;
    (void)l;
    (void)v;
}
void mp_events_post_stderr(struct mp_events *e, const struct mp_event_source *s, struct mp_span l)
{
    (void)e;
    (void)s;
    (void)l;
}
bool mp_events_post_request(struct mp_events *e, const struct mp_event_source *s, struct mp_ask *a,
                            struct mp_span l, const struct mp_envelope *v)
{
    (void)e;
    (void)s;
    (void)a;
    (void)l;
    (void)v;
    return false;
}
