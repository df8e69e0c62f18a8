"""Parts of a payload share its room, and what does not fit is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from triseek.sessions import payload_room
from triseek.sessions.payload_room import Block, PayloadPart, size_of


def part(name, count, rank, sure, *, owed=False, size=20):
    blocks = [Block([f"{name}{n}".ljust(size - 1)]) for n in range(count)]
    return PayloadPart([f"# {name}"], blocks, rank, sure, is_owed=owed, noun=name)


def test_a_long_part_leaves_the_others_their_share():
    parts = [part("a", 100, 0, 0.5), part("b", 100, 1, 0.2), part("c", 2, 2, 0.2)]
    a, b, c = payload_room.chosen(parts, 1_000)
    assert len(a) > len(b) > 8
    assert len(c) == 2


def test_a_part_that_is_owed_its_share_has_it_before_others():
    parts = [part("a", 100, 0, 0.9), part("b", 100, 1, 0.9), part("c", 10, 2, 0.3, owed=True)]
    a, b, c = payload_room.chosen(parts, 1_000)
    assert len(c) == 10
    assert a
    assert b


def test_what_is_left_out_is_counted():
    parts = [part("branch", 3, 0, 1.0), part("line of text", 9, 1, 1.0), part("pin", 1, 2, 0.0)]
    blocks = [parts[0].blocks[:1], parts[1].blocks[:8], parts[2].blocks]
    assert payload_room.left_out(parts, blocks) == "2 branches, 1 line of text"
    assert payload_room.left_out(parts, [each.blocks for each in parts]) == ""
    assert payload_room.left_out(parts, [[], [], []]) == "3 branches, 9 lines of text, 1 pin"


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 5), st.floats(0, 1), st.booleans()),
        min_size=1, max_size=8,
    ),
    st.integers(-100, 2_000),
)  # fmt: skip
def test_the_room_is_kept(wanted, room):
    parts = [
        part(f"p{number}", count, rank, sure, owed=owed)
        for number, (count, rank, sure, owed) in enumerate(wanted)
    ]
    blocks = payload_room.chosen(parts, room)
    assert size_of(payload_room.lines(parts, blocks)) <= max(0, room)
