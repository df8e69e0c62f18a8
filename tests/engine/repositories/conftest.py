"""Repositories with indexes, and what searches them."""

from __future__ import annotations

import os

import pytest

from tests.conftest import plant
from tests.oracle.repositories import DEFINITION
from triseek.engine.repositories.local import LocalRepositories
from triseek.engine.repositories.roots import named
from triseek.engine.roots import index_dir
from triseek.engine.service import Service
from triseek.engine.symbols.symbols import FileSymbols
from triseek.index.build import build
from triseek.model.symbol import Symbol


class DefSymbols:
    """The functions of a text that are defined as in Python, at the beginning of a line."""

    def file_symbols(self, path, text):
        symbols = tuple(
            Symbol(
                match[1].decode(), "function", text.count(b"\n", 0, match.start()) + 1,
                text.count(b"\n", 0, match.start()) + 1, *match.span(1),
            )
            for match in DEFINITION.finditer(text)
        )  # fmt: skip
        return FileSymbols(symbols)


@pytest.fixture
def tree(tmp_path):
    """Make a folder of files and, unless `indexed` is False, its index; return the folder."""

    def make(name, files, *, indexed=True):
        root = tmp_path / name
        root.mkdir(parents=True, exist_ok=True)
        plant(root, files)
        folder = os.path.realpath(root)
        if indexed:
            build(folder, index_dir(folder))
        return folder

    return make


@pytest.fixture
def local():
    """Return a function that makes a source of folders."""
    with Service() as service:
        yield lambda *folders: LocalRepositories(service, named(folders), DefSymbols())
