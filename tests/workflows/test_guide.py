"""The example of the guide runs, and its table has every function."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GUIDE = (Path(__file__).parents[2] / "docs/guides/workflows.md").read_text("utf-8")


@pytest.mark.long
def test_the_example_runs(workflows):
    code = re.search(r"```python\n(.*?)```", GUIDE, re.DOTALL)[1]
    finished = workflows.run_code(code, {"name": "ProcessOrder"})

    assert finished.result.result_json == {
        "defined_in": ["checkout"], "used_in": {"payments": 1},
    }, finished.markdown  # fmt: skip


def test_the_table_of_functions_is_complete(tools):
    named = set(re.findall(r"^\| `(\w+)\(", GUIDE, re.MULTILINE))

    assert named == set(tools.functions())
