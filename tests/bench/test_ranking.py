"""bench rank: names found by Python's parser, and where the first file that defines one stands."""

from __future__ import annotations

from pathlib import Path

from bench import ranking


def test_a_tree_is_measured_in_both_orders(repo, tmp_path):
    files = {f"a{n}.py": "foo()\n" for n in range(12)} | {"z.py": "def foo():\n    pass\n"}
    said = ranking.report(Path(repo(files)), tmp_path / "index").splitlines()

    assert said[2:6] == [
        "| any: 1 | ranked | 100 % | 100 % |",
        "| any: 1 | by path | 0 % | 0 % |",
        "| in 10 files or more: 1 | ranked | 100 % | 100 % |",
        "| in 10 files or more: 1 | by path | 0 % | 0 % |",
    ]
    assert [line.split(" | ")[1] for line in said[9:]] == ["0", "0", "0"]
