"""Which files of an index may match a query: a superset, from trigrams and names alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from triseek.engine.repositories.atoms import atom
from triseek.engine.repositories.language_masks import may_have
from triseek.query.zoekt import syntax

if TYPE_CHECKING:
    from triseek.engine.repositories.atoms import Atom
    from triseek.index.reader import View
    from triseek.query.zoekt.syntax import Node

Mask: TypeAlias = np.ndarray[Any, Any]


def may_match(node: Node, view: View) -> Mask:
    """Return bool[files]: the files of a segment that may match; never fewer than do.

    Raises:
        IndexCorrupt: A posting list is damaged.
    """
    match node:
        case syntax.Const():
            return np.full(len(view.names), node.value)
        case syntax.Substring() | syntax.Regexp():
            wanted = atom(node)
            return _by_name(wanted, view) if node.where == "file" else _by_content(wanted, view)
        case syntax.Symbol():
            return _by_content(atom(node.name), view)
        case syntax.And():
            kept = np.ones(len(view.names), np.bool_)
            for child in node.children:
                kept &= may_match(child, view)
                if not kept.any():
                    break
            return kept
        case syntax.Or():
            either: Mask = np.logical_or.reduce([may_match(part, view) for part in node.children])
            return either
        case syntax.Type():
            return may_match(node.child, view)
        case syntax.Language():
            return may_have(node.name, view) if node.name else np.zeros(len(view.names), np.bool_)
        case _:
            return np.ones(len(view.names), np.bool_)


def _by_content(wanted: Atom, view: View) -> Mask:
    if wanted.matches_all:
        return np.ones(len(view.names), np.bool_)
    formula = wanted.pattern.formula
    if wanted.spec.multiline:
        return view.candidate_files(formula)
    files = np.zeros(len(view.names), np.bool_)
    files[view.block_file[view.candidates(formula)]] = True
    return files


def _by_name(wanted: Atom, view: View) -> Mask:
    needles = wanted.name_needles
    if not needles or any(b"\0" in needle for needle in needles):
        return np.ones(len(view.names), np.bool_)
    files: Mask = np.logical_or.reduce([view.paths.containing(needle) for needle in needles])
    if wanted.pattern.folded_literal and not wanted.is_ascii:
        files |= _not_ascii(view)  # two other characters fold to these
    return files


def _not_ascii(view: View) -> Mask:
    """Return bool[files]: those with a name that is not ASCII."""
    mask = _not_ascii_masks.get(view)
    if mask is None:
        names = (not path.isascii() for path in view.paths.paths)
        mask = _not_ascii_masks.setdefault(view, np.fromiter(names, np.bool_))
    return mask


_not_ascii_masks: WeakKeyDictionary[View, Mask] = WeakKeyDictionary()
