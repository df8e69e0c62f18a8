"""Recall's loops over lists, as plain dictionaries."""

from itertools import pairwise


def windows_of(session):
    """Pairs of a window's middle and its messages; session: the messages' numbers."""
    return [(one, [other for other in session if abs(other - one) <= 1]) for one in session]


def counted(postings, sessions):
    """Windows, sessions and messages that have the term."""
    windows = sum(
        any(one in postings for one in window)
        for session in sessions
        for _, window in windows_of(session)
    )
    return (
        windows,
        sum(any(one in postings for one in session) for session in sessions),
        sum(one in postings for session in sessions for one in session),
    )


def saturated(count, length, mean, k1, b):
    return count * (k1 + 1) / (count + k1 * (1 - b + b * length / mean)) if count else 0.0


def scores(postings, sessions, lengths, idf, means, k1, b):
    """Scores of the windows by message, and of the sessions in order."""
    windows, whole = {}, []
    for session in sessions:
        for middle, window in windows_of(session):
            count = sum(postings.get(one, 0.0) for one in window)
            length = sum(lengths[one] for one in window)
            windows[middle] = idf[0] * saturated(count, length, means[0], k1, b)
        count = sum(postings.get(one, 0.0) for one in session)
        length = sum(lengths[one] for one in session)
        whole.append(idf[1] * saturated(count, length, means[1], 1.0, b))
    return windows, whole


def proximity(spoken, idf, factor, reach):
    """What a message's terms near one another add; spoken: query's term or -1, in order."""
    kept = [(at, term) for at, term in enumerate(spoken) if term >= 0]
    nearest = {}
    for (before, left), (after, right) in pairwise(kept):
        if left != right and after - before <= reach:
            pair = frozenset((left, right))
            value = factor * min(idf[left], idf[right]) / (after - before)
            nearest[pair] = max(nearest.get(pair, 0.0), value)
    return sum(nearest.values())


def inverted(messages):
    """Term to pairs of message and count; messages: lists of term numbers."""
    lists = {}
    for number, terms in enumerate(messages):
        for term in sorted(set(terms)):
            lists.setdefault(term, []).append((number, min(terms.count(term), 255)))
    return lists
