"""An index as tables."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from triseek.engine.engine import Engine
from triseek.engine.roots import index_dir
from triseek.errors import IndexUnavailable, InvalidRequest
from triseek.index.build import build
from triseek.index.update import update
from triseek.stats.export import export_tables


@pytest.fixture
def engine(repo) -> Engine:
    root = repo({"a.py": "needle\n", "b.py": "two\nlines\n", "c.rs": "fn\n", "d": b"\0bin"})
    build(root, index_dir(root))
    return Engine(root, index_dir=index_dir(root))


def test_as_json_the_tables_are_rows(engine: Engine, tmp_path: Path) -> None:
    files, trigrams, languages = (
        json.loads(path.read_bytes()) for path in export_tables(engine, tmp_path / "out", "json")
    )

    assert [row["path"] for row in files] == ["a.py", "b.py", "c.rs", "d"]
    assert [row["lines"] for row in files[:3]] == [1, 2, 1]
    assert {row["text"]: row["blocks"] for row in trigrams}["nee"] == 1
    assert {row["language"]: row["files"] for row in languages} == {"python": 2, "rust": 1, "": 1}
    assert languages[0]["bytes"] == 17


def test_arrow_and_parquet_hold_the_same(engine: Engine, tmp_path: Path) -> None:
    arrow, parquet = (export_tables(engine, tmp_path, kind)[0] for kind in ("arrow", "parquet"))

    assert arrow.name == "files.arrow"
    table = pq.read_table(parquet)
    assert pa.ipc.open_file(arrow).read_all().equals(table)
    assert table["path_bytes"].to_pylist()[0] == b"a.py"


def test_a_segment_whose_files_are_all_dead_has_no_rows(engine: Engine, tmp_path: Path) -> None:
    for path in ("a.py", "b.py", "c.rs", "d"):
        Path(engine.root, path).write_text("new\n")
    update(engine.root, index_dir(engine.root))
    assert len(engine.reader().views) == 2

    [files, _, _] = export_tables(engine, tmp_path / "out", "arrow")

    table = pa.ipc.open_file(files).read_all()
    assert table["path"].to_pylist() == ["a.py", "b.py", "c.rs", "d"]
    assert table["skipped"].to_pylist() == [""] * 4


def test_a_folder_that_cannot_be_made_is_said(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidRequest, match=r"cannot write to .*file/x: Not a directory"):
        export_tables(engine, tmp_path / "file" / "x", "json")


def test_without_an_index_there_is_nothing_to_export(repo, tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable):
        export_tables(Engine(repo({"a": "b\n"})), tmp_path / "out", "json")
    assert not (tmp_path / "out").exists()
