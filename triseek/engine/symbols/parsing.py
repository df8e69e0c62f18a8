"""Definitions and uses of names in one text, by a tree-sitter parser and our query for its grammar.

Captures of a query (`queries/<language>.scm`) mean:

- `@name`: the name. `@declarator` instead: the name is the innermost part of a C declarator.
- a kind (`@class`, `@function` …): the node of the definition, which encloses others.
- `@parent.<kind>`: the name and kind of the parent, where the definition stands outside of it.
- `@scope.<kind>`: a node that encloses definitions of the named parent, and defines nothing.
- `@local`: a node without a name whose variables are local.
- names with a leading `_` serve the query's own conditions.

Where two patterns capture the same name, the first in the file counts. Variables of functions are
no symbols. A function in a type is a method, and a variable in a type a field.

This module runs in a process of its own (`parse_process`), because parsers are native code that
hostile text may crash or keep busy for hours. Its callers must not use the progress callback of
tree-sitter's `QueryCursor`: it crashes in version 0.26.1 of the binding.
"""

from __future__ import annotations

import importlib
import re
import time
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import tree_sitter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.symbols.grammars import Grammar
    from triseek.model.symbol import Symbol

SYMBOLS_MAX = 50_000
"""Most symbols of one text."""
USES_MAX = 20_000
"""Most uses of a name in one text."""
MATCHES_MAX = 1 << 16
"""Partial matches that a query may keep at a time."""
_TYPES = frozenset((
    "class", "struct", "union", "interface", "trait", "protocol", "enum", "object", "annotation",
))  # fmt: skip
_CALLABLE = frozenset(("function", "method", "singletonMethod"))
_VARIABLES = frozenset(("variable", "constant"))
_FLAT = frozenset(("c",))
_DATA = _VARIABLES | {"field", "enumerator"}
_RETYPED = {"function": "method", "variable": "field"}
_IDENTIFIERS = frozenset(("constant", "name", "variable_name", "preproc_arg"))
_DECLARATOR_NAMES = frozenset((
    "identifier", "field_identifier", "type_identifier", "destructor_name", "operator_name",
    "operator_cast", "template_function",
))  # fmt: skip


class ParsingStopped(Exception):
    """The time for a text was over before it was parsed."""


class _Item(NamedTuple):
    """A definition or a scope, before its parent is known."""

    begin: int
    end: int
    kind: str
    """`local` for a scope without a name."""
    name: tuple[int, int]
    is_scope: bool
    line: int
    end_line: int
    parent: tuple[str, str]


def symbols(text: bytes, grammar: Grammar, seconds: float) -> tuple[list[Symbol], bool]:
    """Return the definitions of a text by position, and whether there are no more.

    Raises:
        ParsingStopped: It took longer than `seconds` to parse.
    """
    tree = _parsed(text, grammar, seconds)
    items = _items(text, tree, grammar)
    nested = _nested(text, items, grammar)
    return nested[:SYMBOLS_MAX], len(nested) <= SYMBOLS_MAX


def uses(
    text: bytes, grammar: Grammar, name: bytes, seconds: float
) -> tuple[list[int], list[Symbol], bool]:
    """Return offsets at which a name is used, the definitions, and whether there are no more.

    A use is an identifier of that name that is not the name of a definition; texts in comments and
    strings are none. In the body of a C macro, which no grammar parses, every word is a use.

    Raises:
        ParsingStopped: It took longer than `seconds` to parse.
    """
    tree = _parsed(text, grammar, seconds)
    definitions = _nested(text, _items(text, tree, grammar), grammar)
    defined = {symbol.begin for symbol in definitions}
    offsets = [begin for begin in _identifiers(text, tree.root_node, name) if begin not in defined]
    return offsets[:USES_MAX], definitions[:SYMBOLS_MAX], len(offsets) <= USES_MAX


@cache
def _language(grammar: Grammar) -> tree_sitter.Language:
    module = importlib.import_module(grammar.module)
    return tree_sitter.Language(getattr(module, grammar.function)())


@cache
def _query(grammar: Grammar) -> tree_sitter.Query:
    return tree_sitter.Query(_language(grammar), grammar.query)


def _parsed(text: bytes, grammar: Grammar, seconds: float) -> tree_sitter.Tree:
    end = time.monotonic() + seconds
    parser = tree_sitter.Parser(_language(grammar))
    try:
        return parser.parse(
            lambda offset, _: text[offset:],  # a memoryview crashes the conditions of queries
            progress_callback=lambda _, __: time.monotonic() > end,
        )
    except ValueError:
        raise ParsingStopped from None


def _items(text: bytes, tree: tree_sitter.Tree, grammar: Grammar) -> list[_Item]:
    """Return what the query captures: one item for each name, those of the first pattern."""
    cursor = tree_sitter.QueryCursor(_query(grammar), match_limit=MATCHES_MAX)
    items: dict[tuple[int, int, bool], tuple[int, _Item]] = {}
    for pattern, captures in cursor.matches(tree.root_node):
        for item in _captured(text, captures):
            key = (*item.name, item.is_scope)
            if key not in items or pattern < items[key][0]:
                items[key] = (pattern, item)
    return [item for _, item in items.values()]


def _captured(text: bytes, captures: dict[str, list[tree_sitter.Node]]) -> Iterator[_Item]:
    parent, names, kind, extent = ("", ""), captures.get("name", []), "", None
    for label, nodes in captures.items():
        if label.startswith("parent."):
            parent = (_text(text, nodes[0]), label[7:])
        elif label == "local":
            names, kind, extent = nodes, label, nodes[0]
        elif label not in ("name", "declarator") and label[0] != "_":
            kind, extent = label, nodes[0]
    if extent is None:
        return
    for declarator in captures.get("declarator", ()):
        name, parent = _declared(text, declarator, kind)
        is_elsewhere = (
            kind == "variable"
            and declarator.type != "init_declarator"
            and (text.startswith(b"extern ", extent.start_byte))
        )
        names = [name] if name is not None and not is_elsewhere else []
    is_scope = kind == "local" or kind.startswith("scope.")
    for name in names:
        span = (name.start_byte, name.end_byte)
        if name.type == "simple_symbol":  # Ruby's `:name`
            span = (span[0] + 1, span[1])
        if name.type == "operator_cast" and (to := name.child_by_field_name("type")) is not None:
            span = (span[0], to.end_byte)
        yield _Item(
            extent.start_byte, extent.end_byte, kind.removeprefix("scope."), span, is_scope,
            name.start_point.row + 1, _last_line(extent), parent,
        )  # fmt: skip


def _last_line(node: tree_sitter.Node) -> int:
    end = node.end_point
    return max(end.row + (end.column > 0), node.start_point.row + 1)


def _declared(
    text: bytes, declarator: tree_sitter.Node, kind: str
) -> tuple[tree_sitter.Node | None, tuple[str, str]]:
    """Return the name in a declarator of C or C++, and the parent that qualifies it.

    No name if it declares a function that is defined elsewhere.
    """
    node: tree_sitter.Node | None = declarator
    parent = ("", "")
    function = pointer = None
    while node is not None and node.type not in _DECLARATOR_NAMES:
        if node.type == "function_declarator":
            function, pointer = node, None
        elif node.type in ("pointer_declarator", "parenthesized_declarator"):
            pointer = node
        if node.type == "qualified_identifier":
            scope = node.child_by_field_name("scope")
            if scope is not None:
                parent = (_text(text, scope).partition("<")[0], "class")
            node = node.child_by_field_name("name")
        elif node.type == "template_type":
            node = node.child_by_field_name("name")
        else:
            node = node.child_by_field_name("declarator") or _inner(node)
    if node is not None and node.type == "template_function":
        node = node.child_by_field_name("name")
    is_prototype = function is not None and pointer is None and kind in ("field", "variable")
    return (None if is_prototype else node), parent


def _inner(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the declarator in one whose grammar gives it no field."""
    for child in node.named_children:
        if child.type.endswith("declarator") or child.type in _DECLARATOR_NAMES:
            return child
    return None


def _nested(text: bytes, items: list[_Item], grammar: Grammar) -> list[Symbol]:
    """Return the symbols of the items with their parents, ordered by name's position."""
    from triseek.model.symbol import Symbol

    symbols = []
    seen: set[tuple[str, str, str]] = set()
    stack: list[_Item] = []
    for item in sorted(items, key=lambda item: (item.begin, -item.end, item.name)):
        while stack and not _encloses(stack[-1], item):
            stack.pop()
        if not item.is_scope:
            parent, parent_kind = item.parent if item.parent[0] else _parent(text, stack, item)
            kind = _RETYPED.get(item.kind, item.kind) if parent_kind in _TYPES else item.kind
            name = text[slice(*item.name)].decode(errors="replace")
            is_again = kind == "variable" and (name, parent, kind) in seen
            # In C a macro with a block looks like a function in a function.
            is_local = _is_local(stack) and (
                item.kind in _VARIABLES or (item.kind == "function" and grammar.name in _FLAT)
            )
            if name not in ("", "_") and not is_again and not is_local:
                seen.add((name, parent, kind))
                symbols.append(Symbol(
                    name, kind, item.line, item.end_line, *item.name, parent, parent_kind
                ))  # fmt: skip
        stack.append(item)
    return sorted(symbols, key=lambda symbol: (symbol.begin, symbol.end))


def _encloses(outer: _Item, inner: _Item) -> bool:
    """Return whether a definition lies in another's node, and is not just its second name."""
    same = (outer.begin, outer.end) == (inner.begin, inner.end)
    return outer.begin <= inner.begin and inner.end <= outer.end and not same


def _parent(text: bytes, stack: list[_Item], item: _Item) -> tuple[str, str]:
    for outer in reversed(stack):
        if outer.kind == "local" or (item.kind in _DATA and outer.kind in _DATA):
            continue
        if (
            item.kind == "field" and outer.kind in _CALLABLE
        ):  # declared as a constructor's parameter
            continue
        return text[slice(*outer.name)].decode(errors="replace"), outer.kind
    return "", ""


def _is_local(stack: list[_Item]) -> bool:
    """Return whether a variable belongs to a function: no type or module lies in between."""
    for outer in reversed(stack):
        if outer.kind == "local" or outer.kind in _CALLABLE:
            return True
        if outer.kind not in _DATA:
            return False
    return False


def _identifiers(text: bytes, root: tree_sitter.Node, name: bytes) -> Iterator[int]:
    """Yield the offsets of the identifiers that equal a name."""
    word = re.compile(rb"(?<![\w\x80-\xff])" + re.escape(name) + rb"(?![\w\x80-\xff])")
    for match in word.finditer(text):
        node = root.descendant_for_byte_range(*match.span())
        if node is None:
            continue
        is_exact = (node.start_byte, node.end_byte) == match.span()
        if node.type == "preproc_arg" or (is_exact and _is_identifier(node)):
            yield match.start()


def _is_identifier(node: tree_sitter.Node) -> bool:
    if node.type == "word":  # of a shell: a name only as a command
        return node.parent is not None and node.parent.type == "command_name"
    return "identifier" in node.type or node.type in _IDENTIFIERS


def _text(text: bytes, node: tree_sitter.Node) -> str:
    return text[node.start_byte : node.end_byte].decode(errors="replace")
