import contextlib
import json
import random

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
    with builder.stream(layout.POSTINGS, np.uint8) as stream:
        stream.append(np.array(postings, np.uint8))
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


@pytest.mark.parametrize("columns", [{"offsets": (0, 1)}, {"frequency": (1,)}], ids=repr)
def test_columns_of_lengths_that_do_not_fit_each_other_do_not_open(tmp_path, columns):
    with pytest.raises(errors.IndexCorrupt, match="not in order"):
        made(tmp_path, **columns)


@pytest.mark.parametrize(
    "columns",
    [
        {"trigrams": (7, 1)},
        {"trigrams": (7, 7)},
        {"trigrams": (1, 1 << 24)},
        {"offsets": (0, 2, 1)},
        {"offsets": (0, 1, 4)},
        {"offsets": (0, 1, 2)},
    ],
    ids=repr,
)
def test_columns_that_do_not_fit_each_other_are_corrupt_though_their_checksums_are_right(
    tmp_path, columns
):
    segment = made(tmp_path, **columns)
    with pytest.raises(errors.IndexCorrupt, match="not in order"):
        segment.verify()


@pytest.mark.parametrize("offsets", [(0, 2, 1), (0, 1, 4), (0, 1, 1 << 40), (0, 9, 3)], ids=repr)
def test_no_list_outside_the_postings_is_handed_to_a_kernel(tmp_path, offsets):
    segment = made(tmp_path, offsets=offsets)
    with pytest.raises(errors.IndexCorrupt, match="not in order"):
        _ = [segment.postings_of(gram) for gram in (1, 7)]


def test_damage_anywhere_in_the_trigrams_is_never_a_wrong_place(tmp_path):
    """The bisection goes over pages nobody verified; where it ends has to prove itself."""
    chance = random.Random(5)
    trigrams = sorted(chance.sample(range(1 << 24), 100_000))
    segment = made(
        tmp_path,
        trigrams=trigrams,
        offsets=np.arange(100_001),
        frequency=np.arange(100_000) % 50 + 1,
        postings=np.zeros(100_000),
    )
    asked = [*chance.sample(trigrams, 40), *chance.sample(range(1 << 24), 40), 0, (1 << 24) - 1]
    right = [segment.postings_of(gram) for gram in asked]
    path = segment.folder / "trigrams.npy"
    sound = path.read_bytes()
    corrupt = 0
    for _ in range(60):
        data = bytearray(sound)
        page = 128 + 65_536 * chance.randrange(7)
        stretch = range(page, min(page + 65_536, len(data)))
        for at in chance.sample(stretch, 1) if chance.random() < 0.5 else stretch:
            data[at] = chance.randrange(256)
        replace(path, data)
        again = Segment(tmp_path, segment.id, digest_of(segment))
        for gram, wanted in zip(asked, right, strict=True):
            try:
                assert again.postings_of(gram) == wanted
            except errors.IndexCorrupt:
                corrupt += 1
    assert 0 < corrupt < 60 * len(asked)


@pytest.mark.parametrize("place", [16_383, 16_384])
@pytest.mark.parametrize("step", [-1, 1])
def test_a_trigram_at_the_edge_of_a_damaged_page_is_not_called_absent(tmp_path, place, step):
    """The last of a page made smaller: the bisection ends on the sound page after it."""
    trigrams = np.arange(40_000) * 16 + 8
    segment = made(
        tmp_path,
        trigrams=trigrams,
        offsets=np.arange(40_001),
        frequency=np.ones(40_000),
        postings=np.zeros(40_000),
    )
    path = segment.folder / "trigrams.npy"
    data = bytearray(path.read_bytes())
    data[128 + 4 * place] += step
    replace(path, data)
    again = Segment(tmp_path, segment.id, digest_of(segment))
    with pytest.raises(errors.IndexCorrupt, match="trigrams"):
        again.frequency_of(int(trigrams[place]))
    for neighbour in (place - 2, place + 2):
        with contextlib.suppress(errors.IndexCorrupt):
            assert again.frequency_of(int(trigrams[neighbour])) == 1


@pytest.mark.parametrize("name", ["trigrams", "offsets", "frequency", "postings"])
def test_each_column_a_lookup_reads_is_verified_by_it(tmp_path, name):
    segment = made(tmp_path)
    flip(segment.folder / f"{name}.npy", 128)
    again = Segment(tmp_path, segment.id, digest_of(segment))
    for _ in range(2):
        with pytest.raises(errors.IndexCorrupt, match=name):
            _ = [again.postings_of(gram) for gram in (1, 7)]
    walk = again.postings.verify_all if name == "postings" else again.verify
    with pytest.raises(errors.IndexCorrupt, match=name):
        walk()


def test_what_opening_believes_is_verified_by_it(tmp_path):
    segment = made(tmp_path)
    flip(segment.folder / "pages.npy", 128)
    with pytest.raises(errors.IndexCorrupt, match="pages"):
        Segment(tmp_path, segment.id, digest_of(segment))


def test_a_segment_of_a_format_never_released_is_corrupt(tmp_path):
    """Page checksums once stood in the entries themselves."""
    segment = made(tmp_path)
    path = segment.folder / layout.SEGMENT_JSON
    body = json.loads(path.read_text())
    del body["columns"][layout.PAGES]
    body["columns"][layout.POSTINGS] = {"dtype": "|u1", "length": 3, "pages": ["0" * 16]}
    path.write_text(json.dumps(body))
    with pytest.raises(errors.IndexCorrupt, match="described wrongly"):
        Segment(tmp_path, segment.id, digest_of(segment))


def digest_of(segment):
    return xxhash.xxh3_64_hexdigest((segment.folder / layout.SEGMENT_JSON).read_bytes())


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    replace(path, data)


def replace(path, data):
    """What is mapped is never rewritten."""
    aside = path.with_suffix(".aside")
    aside.write_bytes(data)
    aside.replace(path)


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
