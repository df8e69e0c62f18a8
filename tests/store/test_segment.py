import json

import numpy as np
import pytest
import xxhash

from triseek import errors
from triseek.store import layout
from triseek.store.segment import Segment, SegmentBuilder

EMPTY = {
    "files": (layout.FILES, {name: [] for name, _ in layout.FILES}),
    "blocks": (layout.BLOCKS, {name: [] for name, _ in layout.BLOCKS}),
}


def fill(builder, trigrams=(1, 7), offsets=(0, 1, 3), frequency=(1, 2), postings=(0, 0, 1)):
    builder.column(layout.TRIGRAMS, np.array(trigrams), np.uint32)
    builder.column(layout.OFFSETS, np.array(offsets), np.uint64)
    builder.column(layout.FREQUENCY, np.array(frequency), np.uint32)
    stream = builder.stream(layout.POSTINGS, np.uint8)
    stream.append(np.array(postings, np.uint8))
    builder.add(layout.POSTINGS, stream.close())
    for name, (schema, columns) in EMPTY.items():
        builder.table(name, schema, columns)


def made(folder, **columns):
    with SegmentBuilder(folder) as builder:
        fill(builder, **columns)
        digest = builder.publish({"files": 0})
    return Segment(folder, builder.id, digest)


def test_what_was_built_is_read(tmp_path):
    segment = made(tmp_path)
    assert segment.trigrams.tolist() == [1, 7]
    assert [segment.postings_of(gram) for gram in (0, 1, 7, 9)] == [
        (0, 0, 0), (0, 1, 1), (1, 3, 2), (0, 0, 0)
    ]  # fmt: skip
    assert segment.facts["feature"] == layout.FEATURE
    assert segment.size_bytes() > 500


def test_leaving_without_publishing_leaves_nothing(tmp_path):
    with SegmentBuilder(tmp_path) as builder:
        fill(builder)
        assert builder.folder.exists()
    assert list((tmp_path / layout.SEGMENTS).iterdir()) == []


@pytest.mark.parametrize(
    "columns",
    [
        {"trigrams": (7, 1)},
        {"trigrams": (7, 7)},
        {"trigrams": (1, 1 << 24)},
        {"offsets": (0, 2, 1)},
        {"offsets": (0, 1, 4)},
        {"offsets": (0, 1)},
        {"frequency": (1,)},
    ],
    ids=repr,
)
def test_columns_that_do_not_fit_each_other_are_corrupt_though_their_checksums_are_right(
    tmp_path, columns
):
    with pytest.raises(errors.IndexCorrupt, match="not in order"):
        made(tmp_path, **columns)


def test_a_description_that_lacks_something_is_corrupt(tmp_path):
    segment = made(tmp_path)
    path = segment.folder / layout.SEGMENT_JSON
    body = json.loads(path.read_text())
    del body["columns"][layout.OFFSETS]
    path.write_text(json.dumps(body))
    with pytest.raises(errors.IndexCorrupt, match="checksum"):
        Segment(tmp_path, segment.id, "0" * 16)
    with pytest.raises(errors.IndexCorrupt, match="described wrongly"):
        Segment(tmp_path, segment.id, xxhash.xxh3_64_hexdigest(path.read_bytes()))


def test_a_folder_that_cannot_be_made_is_said_in_one_line(tmp_path):
    (tmp_path / layout.SEGMENTS).write_text("a file")
    with pytest.raises(errors.StateUnwritable, match="cannot write"):
        SegmentBuilder(tmp_path)
