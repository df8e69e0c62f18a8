import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.oracle import recall as oracle
from triseek.recall import segment_writer
from triseek.recall.segment import Segment
from triseek.recall.segment_writer import SegmentWriter

SAID = st.lists(st.lists(st.integers(0, 5), max_size=8), min_size=1, max_size=6)


@pytest.fixture
def lists_of(tmp_path):
    """Write messages of term numbers as a segment, and read its posting lists."""

    def written(said):
        writer = SegmentWriter()
        rows = [(n, 0, " ".join(f"x{term}" for term in one)) for n, one in enumerate(said)]
        writer.add(1, 0, rows)
        read = Segment.open(tmp_path, writer.write(tmp_path))
        numbers = {term: read.number(f"x{term}") for term in range(6)}
        places = {term: read.place(at) for term, at in numbers.items() if at is not None}
        messages, counts = (column.tolist() for column in read.postings)
        return {
            term: list(zip(messages[begin:end], counts[begin:end], strict=True))
            for term, (begin, end) in places.items()
        }

    return written


@given(said=SAID, at_once=st.integers(1, 20))
@settings(
    deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_posting_lists_are_the_oracles(lists_of, said, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_writer, "POSTINGS_AT_ONCE", at_once)
        assert lists_of(said) == oracle.inverted(said)


def test_a_count_stops_at_255(lists_of):
    assert lists_of([[1] * 300, [2, 1]]) == {1: [(0, 255), (1, 1)], 2: [(1, 1)]}
