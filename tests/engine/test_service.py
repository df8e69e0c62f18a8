"""Engines by root."""

from __future__ import annotations

import os

import pytest

from triseek.engine.roots import index_dir, root_for, upwards
from triseek.engine.service import Service
from triseek.errors import RepoNotDetected


def test_one_root_has_one_engine_however_it_is_spelled(repo):
    root = repo({"a/b": ""})
    with Service() as service:
        assert service.engine(root) is service.engine(f"{root}/a/../")
        assert service.engine(root).root == os.path.realpath(root)


def test_what_is_no_folder_has_no_engine(repo):
    root = repo({"a/b": ""})
    with Service() as service:
        for path in (f"{root}/a/b", f"{root}/nope"):
            with pytest.raises(RepoNotDetected):
                service.engine(path)


def test_the_nearest_folder_with_an_index_answers(repo):
    root = os.path.realpath(repo({"a/b/c": ""}))
    assert root_for(f"{root}/a/b") == f"{root}/a/b"

    os.makedirs(index_dir(root))
    with open(os.path.join(index_dir(root), "CURRENT"), "wb"):
        pass

    assert root_for(f"{root}/a/b") == root


def test_upwards_ends_at_the_top():
    assert upwards("/a/b") == ["/a/b", "/a", "/"]
