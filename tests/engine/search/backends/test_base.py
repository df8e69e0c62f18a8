"""A batch gives back the rows of each of its files."""

from __future__ import annotations

import numpy as np

from triseek.engine.search.backends import lines
from triseek.engine.search.backends.base import Batch, Nul
from triseek.engine.search.query import Query
from triseek.model.search import PatternSpec, SearchRequest
from triseek.query import stray


def searched(path, text, **fields):
    spec = PatternSpec(patterns=("needle",))
    file = lines.rows_of(text, Query.of("/", SearchRequest(pattern=spec)))
    return file._replace(path=path, **fields)


def shown(file):
    edges = zip(file.rows["begin"].tolist(), file.rows["end"].tolist(), strict=True)
    return file.path, [file.text[begin:end] for begin, end in edges], file.count


def test_each_file_has_its_own_rows():
    files = [
        searched(b"a", b"x\nneedle 1\ny\nneedle 2"),
        searched(b"b", b"none\n"),
        searched(b"c", b"needle 3\n", nul=Nul(3, True, 1, 3), first_read=stray.MAPPED),
    ]
    again = list(lines.gather(files).files())

    assert list(map(shown, again)) == list(map(shown, files))
    assert [file.nul for file in again] == [file.nul for file in files]
    assert [file.first_read for file in again] == [file.first_read for file in files]


def test_what_follows_the_last_row_is_kept_where_matches_may_see_it():
    (file,) = lines.gather([searched(b"a", b"needle\nbehind\n", ahead=6)]).files()

    assert file.ahead == 6
    assert file.text == b"needle\nbehind"


def test_a_batch_without_rows_still_has_its_files():
    files = list(Batch([b"a", b"b"], np.array([2, 0])).files())

    assert [(file.path, file.count, len(file.rows)) for file in files] == [
        (b"a", 2, 0),
        (b"b", 0, 0),
    ]
