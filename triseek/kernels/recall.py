"""Loops over the recall index: terms, merging posting lists, scores of windows and sessions.

Messages of a segment are numbered so that those of a session follow one another, in order. A
window is a message with the one before and the one after it, if they belong to the same session;
its number is that of the message in its middle. A posting is a message and the weighted number of
times that a term is in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from triseek.kernels.jit import (
    BYTES,
    BYTES_OUT,
    F32S,
    F32S_OUT,
    F64,
    I8S,
    I64,
    I64S,
    I64S_OUT,
    U32S,
    U32S_OUT,
    inlined,
    kernel,
)

if TYPE_CHECKING:
    import numpy as np


@kernel(I64, BYTES, U32S, BYTES, I64)
def find_term(terms: np.ndarray, term_at: np.ndarray, wanted: np.ndarray, behind: int) -> int:
    """Return the number of the first term that is not less than `wanted`.

    terms: uint8, the terms in order, one after another. term_at: uint32, where each begins, and
    the end. wanted: uint8. behind: 1 to pass all terms that begin with `wanted` too.
    """
    low = numba.int64(0)
    high = numba.int64(term_at.size - 1)
    while low < high:
        middle = (low + high) // 2
        begin = numba.int64(term_at[middle])
        size = numba.int64(term_at[middle + 1]) - begin
        at = numba.int64(0)
        while at < size and at < wanted.size and terms[begin + at] == wanted[at]:
            at += 1
        is_same = at == wanted.size
        if (is_same and behind == 1) or (
            not is_same and (at == size or terms[begin + at] < wanted[at])
        ):
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _skip(messages: np.ndarray, at: int, stop: int, bound: int) -> int:
    """Return the first place from `at` on whose message is `bound` or greater; `stop` if none."""
    step = numba.int64(1)
    while at + step < stop and messages[at + step] < bound:
        at += step
        step *= 2
    while step > 0:
        if at + step < stop and messages[at + step] < bound:
            at += step
        step //= 2
    return at + 1 if at < stop and messages[at] < bound else at


@kernel(
    I64, U32S, BYTES, I64S_OUT, I64S, F32S, BYTES, U32S, U32S, I64,
    U32S_OUT, F32S_OUT, U32S_OUT, F32S_OUT, I64S_OUT,
)  # fmt: skip
def merge_lists(
    messages: np.ndarray,
    counts: np.ndarray,
    cursors: np.ndarray,
    ends: np.ndarray,
    factors: np.ndarray,
    counted: np.ndarray,
    session_of: np.ndarray,
    first: np.ndarray,
    base: int,
    out_messages: np.ndarray,
    out_weights: np.ndarray,
    out_sessions: np.ndarray,
    out_totals: np.ndarray,
    documents: np.ndarray,
) -> int:
    """Merge posting lists and count what has any; return the length of the result.

    messages, counts: uint32 and uint8, the lists, each ascending. cursors, ends: int64, where each
    list begins (consumed) and ends. factors: float32, what a count of each weighs. counted: uint8
    by session, 0 for one whose messages are left out. session_of: uint32, by message. first:
    uint32[sessions + 1], the first message of each. out_messages, out_weights: room for all lists.
    out_sessions, out_totals: the sessions, `base` added to their numbers, and the weight in each;
    room for all sessions. documents: int64[2], windows and sessions that have a posting, added to.
    """
    size = numba.int64(0)
    slot = numba.int64(-1)
    windows = numba.int64(0)
    none = numba.int64(session_of.size)
    session = begin = end = next_window = numba.int64(0)
    total = 0.0
    while True:
        at = limit = none
        least = numba.int64(0)
        for i in range(cursors.size):
            if cursors[i] < ends[i]:
                message = numba.int64(messages[cursors[i]])
                if message < at:
                    limit = at
                    at = message
                    least = i
                elif message < limit:
                    limit = message
        if at == none:
            break
        cursor = numba.uint64(cursors[least])
        stop = numba.uint64(ends[least])
        factor = numba.float64(factors[least])
        while True:  # one list alone up to the next of another
            if at >= end:
                session = numba.int64(session_of[at])
                begin = numba.int64(first[session])
                end = numba.int64(first[session + 1])
                if counted[session] != 0:
                    slot += 1
                    out_sessions[slot] = base + session
                    total = 0.0
            if counted[session] == 0:
                cursor = numba.uint64(_skip(messages, numba.int64(cursor), numba.int64(stop), end))
            else:
                weight = counts[cursor] * factor
                cursor += numba.uint64(1)
                if at == limit:
                    for i in range(cursors.size):
                        other = cursors[i]
                        if i != least and other < ends[i] and messages[other] == at:
                            weight += counts[other] * factors[i]
                            cursors[i] = other + 1
                out_messages[size] = at
                out_weights[size] = weight
                size += 1
                total += weight
                out_totals[slot] = total
                window = max(next_window, at - 1, begin)
                next_window = min(at + 2, end)
                windows += next_window - window
            if at >= limit or cursor >= stop:
                break
            at = numba.int64(messages[cursor])
            if at > limit:
                break
        cursors[least] = cursor
    documents[0] += windows
    documents[1] += slot + 1
    return size


@kernel(I64, U32S, F32S, F32S, F64, F64, I64, F32S_OUT, BYTES_OUT)
def add_session_scores(
    sessions: np.ndarray,
    totals: np.ndarray,
    norms: np.ndarray,
    idf: float,
    least: float,
    rank: int,
    scores: np.ndarray,
    scored: np.ndarray,
) -> int:
    """Add a term's BM25 scores (k1 = 1) to the sessions that score `least` so far; return 0.

    sessions, totals: uint32 and float32, as `merge_lists` makes them. norms: float32 by session, of
    its length. scores: float32 by session. scored: uint8 by session, gets `rank`.
    """
    for i in range(sessions.size):
        session = numba.uint64(sessions[i])
        if scores[session] >= least:
            total = numba.float64(totals[i])
            scores[session] += idf * total * 2.0 / (total + norms[session])
            scored[session] = rank
    return 0


@inlined
def _add_windows(
    messages: np.ndarray,
    weights: np.ndarray,
    at: int,
    stop: int,
    begin: int,
    end: int,
    token_at: np.ndarray,
    gain: float,
    base: float,
    slope: float,
    windows: np.ndarray,
    terms_in: np.ndarray,
    out: int,
) -> int:
    """Add a term's BM25 scores to the windows of a session, messages begin..end-1.

    at, stop: Where its postings begin, and where those of all sessions end. out: Where the
    session's place in `windows` and `terms_in` begins. Returns where its postings end.
    """
    i = numba.uint64(at)
    n = numba.uint64(stop)
    shift = numba.int64(out) - begin
    before = numba.int64(-9)
    weight_before = 0.0
    message = numba.int64(messages[i])
    while message < end:
        weight = numba.float64(weights[i])
        i += numba.uint64(1)
        after = numba.int64(messages[i]) if i < n else end
        place = numba.uint64(message + shift)
        terms_in[place] += terms_in[place] < 255
        if message > begin and before < message - 2:  # else the posting before has done it
            length = (
                token_at[numba.uint64(message + 1)]
                - token_at[numba.uint64(max(message - 2, begin))]
            )
            windows[place - numba.uint64(1)] += gain * weight / (weight + base + slope * length)
        count = weight
        if before == message - 1:
            count += weight_before
        if after == message + 1 and after < end:
            count += weights[i]
        length = (
            token_at[numba.uint64(min(message + 2, end))]
            - token_at[numba.uint64(max(message - 1, begin))]
        )
        windows[place] += gain * count / (count + base + slope * length)
        if message + 1 < end and after != message + 1:
            count = weight
            if after == message + 2 and after < end:
                count += weights[i]
            length = token_at[numba.uint64(min(message + 3, end))] - token_at[numba.uint64(message)]
            windows[place + numba.uint64(1)] += gain * count / (count + base + slope * length)
        before = message
        weight_before = weight
        message = after
    return numba.int64(i)


@kernel(
    I64, U32S, F32S, I64S_OUT, I64S, F32S, U32S, U32S, BYTES, F64, F64, F64,
    I64S, I64, F32S_OUT, BYTES_OUT, F32S_OUT,
)  # fmt: skip
def best_windows(
    messages: np.ndarray,
    weights: np.ndarray,
    cursors: np.ndarray,
    ends: np.ndarray,
    idf: np.ndarray,
    first: np.ndarray,
    token_at: np.ndarray,
    scored: np.ndarray,
    mean: float,
    k1: float,
    b: float,
    message_ms: np.ndarray,
    since_ms: int,
    windows: np.ndarray,
    terms_in: np.ndarray,
    best: np.ndarray,
) -> int:
    """Compute the BM25 score of each session's best window; return the messages that have a term.

    messages, weights: uint32 and float32, the postings of all terms. cursors, ends: int64, where
    those of each term begin (consumed) and end. idf: float32, by term. first: uint32[sessions + 1],
    the first message of each. token_at: uint32[messages + 1], where each message's terms begin.
    scored: uint8 by session, of how many terms, from the first. mean: The mean length of windows in
    terms. k1, b: BM25's. message_ms: int64; messages before `since_ms` are not counted. windows,
    terms_in: float32 and uint8, scratch for the longest session. best: float32 by session.
    """
    base = k1 * (1.0 - b)
    slope = k1 * b / mean
    total = numba.int64(0)
    for session in range(first.size - 1):
        if scored[session] == 0:
            continue
        begin = numba.int64(first[session])
        end = numba.int64(first[session + 1])
        windows[: end - begin] = 0
        terms_in[: end - begin] = 0
        for term in range(numba.int64(scored[session])):
            at = _skip(messages, cursors[term], ends[term], begin)
            if at < ends[term] and messages[at] < end:
                at = _add_windows(
                    messages, weights, at, ends[term], begin, end, token_at,
                    idf[term] * (k1 + 1.0), base, slope, windows, terms_in, 0,
                )  # fmt: skip
            cursors[term] = at
        top = numba.float32(0.0)
        for at in range(end - begin):
            top = max(top, windows[at])
            if terms_in[at] > 0 and (since_ms <= 0 or message_ms[begin + at] >= since_ms):
                total += 1
        best[session] = top
    return total


@inlined
def _add_proximity(
    tokens: np.ndarray,
    begin: int,
    end: int,
    term_of: np.ndarray,
    idf: np.ndarray,
    factor: float,
    reach: int,
    pairs: np.ndarray,
) -> float:
    """Return what terms of the query near one another add to a message, tokens begin..end-1."""
    n = idf.size
    last = numba.int64(-1)
    last_at = numba.int64(0)
    pairs[:] = 0
    total = numba.float32(0.0)
    for at in range(begin, end):
        term = numba.int64(term_of[tokens[at]])
        if term < 0:
            continue
        if last >= 0 and last != term and at - last_at <= reach:
            value = factor * min(idf[term], idf[last]) / (at - last_at)
            slot = min(term, last) * n + max(term, last)
            if value > pairs[slot]:
                total += numba.float32(value) - pairs[slot]
                pairs[slot] = value
        last = term
        last_at = at
    return total


@kernel(
    I64, I64S, U32S, F32S, I64S_OUT, I64S, F32S, U32S, U32S, BYTES, F64, F64, F64,
    U32S, I8S, F64, I64, F32S_OUT, F32S_OUT, BYTES_OUT, I64S_OUT,
)  # fmt: skip
def refine(
    sessions: np.ndarray,
    messages: np.ndarray,
    weights: np.ndarray,
    cursors: np.ndarray,
    ends: np.ndarray,
    idf: np.ndarray,
    first: np.ndarray,
    token_at: np.ndarray,
    scored: np.ndarray,
    mean: float,
    k1: float,
    b: float,
    tokens: np.ndarray,
    term_of: np.ndarray,
    factor: float,
    reach: int,
    pairs: np.ndarray,
    windows: np.ndarray,
    terms_in: np.ndarray,
    middles: np.ndarray,
) -> int:
    """Score all windows of some sessions, with the proximity of terms; return their number.

    As `best_windows`, and: sessions: int64, ascending. tokens: uint32, the numbers of the terms in
    order. term_of: int8, by term number, the place of the query's term in `idf`, or -1. Of the
    query's terms that follow one another in a message, `reach` terms apart or less, each pair of
    different ones counts once, where it is nearest: `factor` × the smaller IDF / distance. pairs:
    float32[terms²], scratch. windows, terms_in: float32 and uint8, zeros, for the messages of these
    sessions one after another: the score of the window around each, and how many terms it has.
    middles: int64, the place in `windows` of the best of each session.
    """
    base = k1 * (1.0 - b)
    slope = k1 * b / mean
    out = numba.int64(0)
    for i in range(sessions.size):
        begin = numba.int64(first[sessions[i]])
        end = numba.int64(first[sessions[i] + 1])
        for term in range(numba.int64(scored[sessions[i]])):
            at = _skip(messages, cursors[term], ends[term], begin)
            if at < ends[term] and messages[at] < end:
                at = _add_windows(
                    messages, weights, at, ends[term], begin, end, token_at,
                    idf[term] * (k1 + 1.0), base, slope, windows, terms_in, out,
                )  # fmt: skip
            cursors[term] = at
        middles[i] = out
        for message in range(begin, end):
            if terms_in[out] > 1:
                windows[out] += _add_proximity(
                    tokens, numba.int64(token_at[message]), numba.int64(token_at[message + 1]),
                    term_of, idf, factor, reach, pairs,
                )  # fmt: skip
            if windows[out] > windows[middles[i]]:
                middles[i] = out
            out += 1
    return out
