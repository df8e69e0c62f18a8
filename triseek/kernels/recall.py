"""Loops over the recall index: merging posting lists, and scores of windows and sessions.

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
    kernel,
)

if TYPE_CHECKING:
    import numpy as np


@kernel(I64, U32S, F32S, U32S, BYTES, F64, U32S_OUT, F32S_OUT)
def merge_postings(
    messages: np.ndarray,
    weights: np.ndarray,
    others: np.ndarray,
    counts: np.ndarray,
    factor: float,
    out_messages: np.ndarray,
    out_weights: np.ndarray,
) -> int:
    """Merge two ascending lists of messages; return the length of the result.

    messages, others: uint32, ascending. weights: float32, of `messages`. counts: uint8, of
    `others`; each counts `factor`. The results have room for both lists.
    """
    i = j = count = 0
    while i < messages.size or j < others.size:
        if j >= others.size or (i < messages.size and messages[i] < others[j]):
            out_messages[count] = messages[i]
            out_weights[count] = weights[i]
            i += 1
        elif i >= messages.size or others[j] < messages[i]:
            out_messages[count] = others[j]
            out_weights[count] = counts[j] * factor
            j += 1
        else:
            out_messages[count] = messages[i]
            out_weights[count] = weights[i] + counts[j] * factor
            i += 1
            j += 1
        count += 1
    return count


@kernel(I64, U32S, U32S, U32S, BYTES, I64S_OUT)
def count_documents(
    messages: np.ndarray,
    session_of: np.ndarray,
    first: np.ndarray,
    live: np.ndarray,
    counts: np.ndarray,
) -> int:
    """Count the windows and the sessions that have a term; return the number of its messages.

    messages: uint32, ascending. session_of: uint32, by message. first: uint32[sessions + 1], the
    first message of each. live: uint8, by session, 0 for one that is not counted. counts:
    int64[2], windows and sessions, added to.
    """
    next_window = numba.int64(0)
    last_session = numba.int64(-1)
    total = 0
    for i in range(messages.size):
        at = numba.int64(messages[i])
        session = numba.int64(session_of[at])
        if live[session] == 0:
            continue
        total += 1
        if session != last_session:
            last_session = session
            counts[1] += 1
        begin = max(next_window, at - 1, numba.int64(first[session]))
        next_window = min(at + 2, numba.int64(first[session + 1]))
        counts[0] += next_window - begin
    return total


@kernel(
    I64, U32S, F32S, U32S, U32S, U32S, BYTES, F64, F64, F64, F64, F64, F64,
    F32S_OUT, F32S_OUT, BYTES_OUT,
)  # fmt: skip
def add_scores(
    messages: np.ndarray,
    weights: np.ndarray,
    session_of: np.ndarray,
    first: np.ndarray,
    token_at: np.ndarray,
    live: np.ndarray,
    window_idf: float,
    session_idf: float,
    window_mean: float,
    session_mean: float,
    k1: float,
    b: float,
    windows: np.ndarray,
    sessions: np.ndarray,
    terms_in: np.ndarray,
) -> int:
    """Add a term's BM25 scores to the windows and sessions that have it.

    As `count_documents`, and: weights: float32, of `messages`. token_at: uint32[messages + 1],
    where each message's terms begin. The means are lengths in terms. k1, b: BM25's, of windows;
    sessions take k1 = 1. windows: float32, by message; sessions: float32, by session; terms_in:
    uint8, by message, the number of query terms in it; all three are added to. Returns the number
    of windows.
    """
    base = k1 * (1.0 - b)
    slope = k1 * b / window_mean
    gain = window_idf * (k1 + 1.0)
    done = 0
    i = numba.uint64(0)
    n = numba.uint64(messages.size)
    while i < n:
        session = numba.uint64(session_of[messages[i]])
        begin = numba.int64(first[session])
        end = numba.int64(first[session + 1])
        if live[session] == 0:
            while i < n and messages[i] < end:
                i += numba.uint64(1)
            continue
        total = 0.0
        before = numba.int64(-9)
        weight_before = 0.0
        at = numba.int64(messages[i])
        while at < end:
            weight = numba.float64(weights[i])
            i += numba.uint64(1)
            after = numba.int64(messages[i]) if i < n else end
            total += weight
            terms_in[numba.uint64(at)] += terms_in[numba.uint64(at)] < 255
            if at > begin and before < at - 2:  # else the posting before has done it
                length = token_at[numba.uint64(at + 1)] - token_at[numba.uint64(max(at - 2, begin))]
                windows[numba.uint64(at - 1)] += gain * weight / (weight + base + slope * length)
                done += 1
            count = weight
            if before == at - 1:
                count += weight_before
            if after == at + 1 and after < end:
                count += weights[i]
            length = (
                token_at[numba.uint64(min(at + 2, end))]
                - token_at[numba.uint64(max(at - 1, begin))]
            )
            windows[numba.uint64(at)] += gain * count / (count + base + slope * length)
            done += 1
            if at + 1 < end and after != at + 1:
                count = weight
                if after == at + 2 and after < end:
                    count += weights[i]
                length = token_at[numba.uint64(min(at + 3, end))] - token_at[numba.uint64(at)]
                windows[numba.uint64(at + 1)] += gain * count / (count + base + slope * length)
                done += 1
            before = at
            weight_before = weight
            at = after
        length = token_at[numba.uint64(end)] - token_at[numba.uint64(begin)]
        norm = 1.0 - b + b * length / session_mean
        sessions[session] += session_idf * total * 2.0 / (total + norm)
    return done


@kernel(I64, U32S, U32S, BYTES, U32S, I64S, I8S, F32S, F64, I64, F32S_OUT, F32S_OUT)
def add_proximity(
    tokens: np.ndarray,
    token_at: np.ndarray,
    terms_in: np.ndarray,
    first: np.ndarray,
    sessions: np.ndarray,
    term_of: np.ndarray,
    idf: np.ndarray,
    factor: float,
    reach: int,
    pairs: np.ndarray,
    windows: np.ndarray,
) -> int:
    """Add to the windows of some sessions for terms of the query near one another.

    Of the query's terms that follow one another in a message, `reach` terms apart or less, each
    pair of different ones counts once, where it is nearest: `factor` × the smaller IDF / distance.

    tokens: uint32, the numbers of the terms in order. token_at, terms_in, first: as `add_scores`.
    sessions: int64, their numbers. term_of: int8, by term number, the query's term or
    -1. idf: float32, by query term. pairs:
    float32[terms²], scratch. windows: float32, added to. Returns the number of pairs.
    """
    n = idf.size
    found = 0
    for session in sessions:
        for message in range(first[session], first[session + 1]):
            if terms_in[message] < 2:
                continue
            last = numba.int64(-1)
            last_at = numba.int64(0)
            pairs[:] = 0
            for at in range(numba.int64(token_at[message]), numba.int64(token_at[message + 1])):
                term = numba.int64(term_of[tokens[at]])
                if term < 0:
                    continue
                if last >= 0 and last != term and at - last_at <= reach:
                    value = factor * min(idf[term], idf[last]) / (at - last_at)
                    slot = min(term, last) * n + max(term, last)
                    if value > pairs[slot]:
                        pairs[slot] = value
                last = term
                last_at = at
            for slot in range(n * n):
                if pairs[slot] > 0:
                    windows[message] += pairs[slot]
                    found += 1
    return found


@kernel(I64, U32S, U32S, I64, I64, I64S_OUT, U32S_OUT, BYTES_OUT)
def invert(
    tokens: np.ndarray,
    token_at: np.ndarray,
    low: int,
    high: int,
    place: np.ndarray,
    messages: np.ndarray,
    counts: np.ndarray,
) -> int:
    """Turn the messages' terms low..high-1 into posting lists; return the number of postings.

    tokens: uint32, term numbers in order. token_at: uint32[messages + 1]. place: int64[2 × (high -
    low)]: the first half holds where each list has room for every occurrence, and afterwards where
    it begins; the second half gets where it ends. messages: uint32 and counts: uint8 are the lists,
    one after another.
    """
    terms = high - low
    for term in range(terms):
        place[terms + term] = place[term]
    for message in range(token_at.size - 1):
        for at in range(numba.int64(token_at[message]), numba.int64(token_at[message + 1])):
            term = numba.int64(tokens[at]) - low
            if term < 0 or term >= terms:
                continue
            end = place[terms + term]
            if end > place[term] and messages[end - 1] == message:
                if counts[end - 1] < 255:
                    counts[end - 1] += 1
            else:
                messages[end] = message
                counts[end] = 1
                place[terms + term] = end + 1
    total = 0
    for term in range(terms):
        begin = place[term]
        end = place[terms + term]
        place[term] = total
        for at in range(begin, end):
            messages[total] = messages[at]
            counts[total] = counts[at]
            total += 1
        place[terms + term] = total
    return total
