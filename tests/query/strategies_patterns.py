"""Random patterns, written out, and random lines that have a chance to match them."""

from hypothesis import strategies as st

_PLAIN = ["a", "b", "k", "s", "1", " ", "_", "ab", "foo", "."]
_CLASSES = [r"\w", r"\W", r"\d", r"\s", r"\S", "[ab]", "[^a]", r"[^\w]", "[a-z]", "[[:alpha:]]"]
_LOOKS = ["^", "$", r"\b", r"\B", r"\<", r"\>", r"\b{start-half}", r"\b{end-half}"]
_BEYOND = ["é", "σ", "日", r"\pL", r"\p{Lu}", "[a-zé]", "(?i:k)", "(?i:ß)", r"\x{1F600}"]
_BYTES = [r"(?-u:\xFF)", "(?-u:[^a])", "(?-u:.)", r"(?-u:\w)", r"(?-u:\b)", r"(?-u:\B)"]
_REPEATS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}"]

PORTABLE = [*_PLAIN, "[ab]", "[^a]", "[a-z]", "[0-9]", r"\d", "^", "$", r"\b", r"\B"]
"""What Python's `re` reads in the same way, on bytes of ASCII."""


def patterns(atoms=(*_PLAIN, *_CLASSES, *_LOOKS, *_BEYOND, *_BYTES), repeats=tuple(_REPEATS)):
    def wider(inner):
        row = st.lists(inner, min_size=2, max_size=3).map("".join)
        choice = st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})")
        repeat = st.tuples(inner, st.sampled_from(repeats)).map(lambda two: f"(?:{two[0]}){two[1]}")
        return st.one_of(row, choice, repeat)

    return st.recursive(st.sampled_from(atoms), wider, max_leaves=6)


_PIECES = [b"a", b"a", b"b", b"k", b"s", b"1", b" ", b"_", b"-", b"foo"]
_FOREIGN = [c.encode() for c in "éσςΣſßẞ\u212a日\u0301\U0001f600"]
_BROKEN = [b"\x80", b"\xa9", b"\xc3", b"\xe2\x84", b"\xf0\x9f", b"\xff", b"\r"]

ascii_lines = st.lists(st.sampled_from(_PIECES), max_size=8).map(b"".join)
# A line starts with ASCII: what stands before stray continuation bytes belongs to them.
lines = st.lists(st.sampled_from(_PIECES * 3 + _FOREIGN * 2 + _BROKEN), max_size=8).map(
    lambda pieces: b"".join([b"", *pieces]) if not pieces or pieces[0] < b"\x80" else b""
)
