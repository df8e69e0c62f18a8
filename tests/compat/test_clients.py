"""The runtime functions of zoekt-mcp get from our server what they get from the real Zoekt.

They are run as they are, from a checkout of the public repository CRPR-CSCI7000/zoekt-mcp that
`TRISEEK_TEST_ZOEKT_MCP` names; nothing of it is in this repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.compat import client_calls
from tests.compat.client_calls import CALLS

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.long

CHECKOUT = "TRISEEK_TEST_ZOEKT_MCP"
FUNCTIONS = "src/runtime/zoekt_tools.py"


@pytest.fixture
def functions() -> Path:
    checkout = os.environ.get(CHECKOUT)
    if not checkout:
        pytest.skip(f"{CHECKOUT} names no checkout of CRPR-CSCI7000/zoekt-mcp")
    pytest.importorskip("requests", reason="zoekt-mcp's functions need the package requests")
    return Path(checkout, FUNCTIONS)


def test_the_functions_of_zoekt_mcp_work_unmodified(
    functions: Path, theirs: str, ours: str
) -> None:
    expected, results = _called(functions, theirs), _called(functions, ours)

    for (name, arguments), theirs_, ours_ in zip(CALLS, expected, results, strict=True):
        call = f"{name}({arguments})"
        assert _comparable(ours_, ours) == _comparable(theirs_, theirs), call


def _called(functions: Path, url: str) -> Sequence[Any]:
    argv = [sys.executable, client_calls.__file__, str(functions)]
    done = subprocess.run(
        argv,
        env={**os.environ, "ZOEKT_API_URL": url},
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    results: Sequence[Any] = json.loads(done.stdout)
    return results


def _comparable(result: Any, url: str) -> Any:
    """Put files in the order of their names: ranking is each engine's own."""
    if isinstance(result, list) and result and isinstance(result[0], dict):
        return sorted(result, key=lambda hit: (hit["repository"], hit["filename"]))
    if isinstance(result, list):
        # Python and Go do not agree on how the phrase of status 418 is written.
        return [str(part).replace(url, "URL").lower() for part in result]
    return result
