"""What a process provides to the tools: engines, and the services that only the daemon has."""

from __future__ import annotations

import pytest

from triseek.engine.service import Service
from triseek.engine.tool_host import ToolHost
from triseek.errors import BackendFailure, RepoNotDetected


def test_a_service_is_found_by_its_toolset():
    memo = object()
    host = ToolHost(service=Service(), root="/r", services={"memo": memo})

    assert host.daemon_service("memo") is memo
    with pytest.raises(BackendFailure, match="session tools require `triseek daemon start`"):
        host.daemon_service("session")


def test_a_root_that_does_not_exist_has_no_engine(tmp_path):
    with pytest.raises(RepoNotDetected):
        ToolHost(service=Service(), root=str(tmp_path / "gone")).engine  # noqa: B018
