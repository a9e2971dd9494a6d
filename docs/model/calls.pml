/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a call is woken: the latch with its count, one entry of the pending table, the board of a run,
 * the reader's bell; and everybody who touches them at once. What is one step here is one step in
 * the library too: an atomic operation, or what is done under one lock.
 *
 *   caller       lib/transport/call.c: begin, wait, finish; two calls in turn, with the same entry
 *   interrupter  lib/transport/interrupt.c, base/latch.c: set, ring, clear; up to twice
 *   clearer      clears the latch at any time
 *   canceller    lib/base/run.c, board.c: flag, then a visit of the board; or nothing
 *   reader       lib/transport/reader.c, ending.c: hear, then sweep; replies; the end
 *   server       answers, or not, however late
 *   closer       lib/transport/closing.c; only with -DCLOSER
 *   observer     not in the library: looks when nobody can move any more
 *
 * With -DTIMEOUTS a wait may end at any time. The other switches (NO_SECOND_LOOK, SWEEP_FIRST,
 * NO_COUNT, LEAVE_AT_ONCE, REGISTER_LAST, TAKE_ANY_ID) each take out something that is needed.
 */

#define CALLS 2

mtype = { NONE, REPLIED, TIMED_OUT, INTERRUPTED, CANCELLED, CLOSED };

/* The latch: one word. */
byte latch_count;
bool latch_set;
#define WAS_HIT(count) (latch_set || latch_count != count)
#ifdef NO_COUNT
#define HITS(count) latch_set
#else
#define HITS(count) WAS_HIT(count)
#endif

/* The run, and its board with one place. */
bool cancelled;
bool member;
byte visits;

/* The pending table with one entry, and its waiter. */
bool accepting = true;
bool in_table;
byte entry_id;
byte entry_count;
mtype entry_err = NONE;
bool done;
bool sleeping; /* in its condition */

/* The reader's bell, and what it is told with it. */
bool bell;
bool closing;

chan to_server = [CALLS] of { byte };
chan to_reader = [CALLS] of { byte };

/* -- what only the checks look at */

bool alive;       /* what the board points to may be touched */
bool in_flight;   /* from the registration to the return */
bool hit;         /* the latch was set when the call began, or since */
byte completions; /* of this registration */
byte call_count;

#define MUST_RETURN (in_flight && (WAS_HIT(call_count) || cancelled || closing))

/* Taken out of the table: completed by who did it. */
inline remove()
{
    in_table = false;
    completions++;
    assert(completions == 1)
}

/* mp_entry_complete: the flag under the lock, the signal after it. Whoever sleeps by then wakes,
 * which may be a later call. */
inline complete()
{
    done = true;
    sleeping = false
}

/* -- the caller */

inline look(count, ret_err)
{
    if
    :: HITS(count) -> ret_err = INTERRUPTED
    :: else ->
        if
        :: cancelled -> ret_err = CANCELLED
        :: else
        fi
    fi
}

inline join()
{
    atomic { alive = true; member = true }
}

inline leave()
{
    member = false;
#ifndef LEAVE_AT_ONCE
    visits == 0;
#endif
    alive = false
}

inline enter_table(id, count, ret_err)
{
    atomic {
        if
        :: accepting ->
            assert(!in_table);
            in_table = true;
            in_flight = true;
            entry_id = id;
            entry_count = count;
            entry_err = NONE;
            done = false;
            completions = 0
        :: else -> ret_err = CLOSED
        fi
    }
}

/* Registered in vain: taken back, or another has removed it and is about to complete it. */
inline take_back()
{
    atomic {
        if
        :: in_table -> remove(); done = true
        :: else
        fi
    }
    done
}

/* Given up at the deadline, unless another has removed it. */
inline give_up(ret_err)
{
    atomic {
        if
        :: in_table -> remove(); ret_err = TIMED_OUT
        :: else
        fi
    }
    if
    :: ret_err == NONE -> done; ret_err = entry_err
    :: else
    fi
}

active proctype caller()
{
    byte id, count;
    mtype err;

    do
    :: id == CALLS -> break
    :: id < CALLS ->
        atomic {
            id++;
            err = NONE;
            count = latch_count;
            call_count = count;
            hit = latch_set
        }
        look(count, err);
        if
        :: err != NONE -> goto returned
        :: else
        fi;
        join();
#ifdef REGISTER_LAST
        look(count, err);
        if
        :: err != NONE -> goto left
        :: else
        fi;
#endif
        enter_table(id, count, err);
        if
        :: err != NONE -> goto left
        :: else
        fi;
#if !defined(NO_SECOND_LOOK) && !defined(REGISTER_LAST)
        look(count, err);
        if
        :: err != NONE -> take_back(); goto ended
        :: else
        fi;
#endif
        to_server ! id;
        do
        :: atomic { done -> err = entry_err; break }
        :: atomic { !done -> sleeping = true };
end_wait:   if
            :: !sleeping
#ifdef TIMEOUTS
            :: atomic { true -> sleeping = false };
                if
                :: done
                :: else -> give_up(err); break
                fi
#endif
            fi
        od;
ended:
        assert(completions == 1 && !in_table);
left:
        leave();
returned:
        assert(err != INTERRUPTED || hit);
        assert(err != CANCELLED || cancelled);
        assert(err != CLOSED || closing);
        atomic { in_flight = false; err = NONE }
    od
}

/* -- those who stop calls */

inline set_latch()
{
    atomic {
        latch_count++;
        latch_set = true;
        hit = true
    }
}

active proctype interrupter()
{
    byte rounds;
    do
    :: rounds < 2 ->
        rounds++;
        set_latch();
        bell = true;
        latch_set = false
    :: true -> break
    od
}

active proctype clearer()
{
    latch_set = false
}

active proctype canceller()
{
    bool found;
    if
    :: true -> goto over
    :: true -> cancelled = true
    fi;
    visits++;
    found = member;
    if
    :: found ->
        assert(alive);
        bell = true
    :: else
    fi;
    visits--;
over:
    skip
}

#ifdef CLOSER
active proctype closer()
{
    if
    :: true
    :: true -> closing = true; bell = true
    fi
}
#endif

/* -- the reader and what it reads */

inline sweep(ret_taken)
{
    atomic {
        ret_taken = false;
        if
        :: in_table && HITS(entry_count) -> remove(); entry_err = INTERRUPTED; ret_taken = true
        :: in_table && !HITS(entry_count) && cancelled ->
            remove(); entry_err = CANCELLED; ret_taken = true
        :: else
        fi
    };
    if
    :: ret_taken -> complete()
    :: else
    fi
}

inline take_reply(id, ret_taken)
{
    atomic {
        ret_taken = false;
        if
#ifdef TAKE_ANY_ID
        :: in_table ->
#else
        :: in_table && entry_id == id ->
#endif
            assert(entry_id == id);
            remove();
            entry_err = REPLIED;
            ret_taken = true
        :: else
        fi
    };
    if
    :: ret_taken -> complete()
    :: else
    fi
}

inline take_all(ret_taken)
{
    atomic {
        ret_taken = false;
        if
        :: in_table -> remove(); entry_err = CLOSED; ret_taken = true
        :: else
        fi
    };
    if
    :: ret_taken -> complete()
    :: else
    fi
}

active proctype reader()
{
    byte id;
    bool taken;

end_poll:
    do
    :: bell ->
#ifdef SWEEP_FIRST
        sweep(taken);
        bell = false;
#else
        bell = false;
        sweep(taken);
#endif
        if
        :: closing -> break
        :: else
        fi
    :: to_reader ? id -> take_reply(id, taken)
    od;
    accepting = false;
    take_all(taken)
}

active proctype server()
{
    byte id;

end_read:
    do
    :: to_server ? id ->
        if
        :: to_reader ! id
        :: true /* no answer */
        fi
    od
}

#ifdef LIVENESS
ltl wakes { [] (MUST_RETURN -> <> !in_flight) }
#else
/* Nobody can move: then no call may be waiting that had to return. */
active proctype observer()
{
    timeout -> assert(!MUST_RETURN)
}
#endif
