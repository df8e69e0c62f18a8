"""The safety policy: what the source of a script may contain.

It is advice to the author, in words that say what to change. The wall is the kernel's: see
docs/concepts/box.md. What is not listed as allowed is rejected.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from triseek.workflows.box import names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MAX_SOURCE_BYTES = 256 << 10
_FORMAT_WALK = re.compile(r"\{[^{}]*__\w+__")
_DUNDER = re.compile(r"__\w+__")


def check(source: str, functions: Collection[str] = names.TOOL_NAMES) -> list[str]:
    """Return why a script is rejected, each reason once; empty if it may run.

    Args:
        source: Python source.
        functions: the names that `runtime.zoekt_tools` has.
    """
    if len(source.encode("utf-8", "replace")) > MAX_SOURCE_BYTES:
        return [f"syntax_error: source is longer than {MAX_SOURCE_BYTES} bytes at line 1"]
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        return [f"syntax_error: {error.msg} at line {error.lineno or 0}"]
    except (ValueError, RecursionError, MemoryError) as error:
        return [f"syntax_error: {error!s:.80} at line 0"]
    policy = _Policy(tree, functions)
    reasons = [reason for node in ast.walk(tree) for reason in policy.reasons(node)]
    return list(dict.fromkeys([*reasons, *_missing_entrypoint(tree)]))


class _Policy:
    """The rules, with what the script's names mean."""

    def __init__(self, tree: ast.Module, functions: Collection[str]) -> None:
        self._tools = frozenset({*functions, "ZoektRuntimeError"})
        self._modules: dict[str, str] = {}
        """Names that stand for modules."""
        self._bound: set[str] = set()
        """Names that the script binds itself, wherever."""
        self._called: set[int] = set()
        self._attribute_bases: set[int] = set()
        for node in ast.walk(tree):
            self._learn(node)

    def _learn(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=aliases):
                for name in aliases:
                    root = name.name.partition(".")[0]
                    self._modules[name.asname or root] = name.name if name.asname else root
            case ast.ImportFrom(module=module, names=aliases):
                for name in aliases:
                    whole = f"{module}.{name.name}"
                    if whole == names.TOOLS or whole in names.PURE_MODULES:
                        self._modules[name.asname or name.name] = whole
                    else:
                        self._bound.add(name.asname or name.name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                self._bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self._bound.add(name)
            case ast.ClassDef(name=name):
                self._bound.add(name)
            case ast.Call(func=function, args=words):
                # `type(x)` tells what x is; with more arguments it makes classes.
                if not (isinstance(function, ast.Name) and function.id == "type") or (
                    len(words) == 1 and not node.keywords
                ):
                    self._called.add(id(function))
            case ast.Attribute(value=ast.Name() as base):
                self._attribute_bases.add(id(base))

    def reasons(self, node: ast.AST) -> Iterator[str]:
        """Yield what is wrong with one node."""
        match node:
            case ast.Import(names=aliases):
                for name in aliases:
                    yield from self._import(name.name)
            case ast.ImportFrom():
                yield from self._import_from(node)
            case ast.Call():
                yield from self._call(node)
            case ast.Attribute():
                yield from self._attribute(node)
            case ast.Name():
                yield from self._name(node)
            case ast.Subscript(slice=ast.Constant(value=str() as key)) if _DUNDER.search(key):
                yield f"banned_subscript: {key}"
            case ast.Constant(value=str() as text) if walk := _FORMAT_WALK.search(text):
                yield f"banned_format: {walk.group()}}}"
            case _:
                yield from self._other(node)

    def _other(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.MatchClass(kwd_attrs=attributes):
                banned = filter(names.is_banned_attribute, attributes)
                yield from (f"banned_attribute: {name}" for name in banned)
            case ast.Global(names=variables) | ast.Nonlocal(names=variables):
                yield from (f"banned_global: {name}" for name in variables if name in self._modules)
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Name) and target.id in self._modules:
                        yield f"banned_del: {target.id}"
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for decorator in node.decorator_list:
                    yield from self._decorator(decorator)
            case ast.keyword(arg="fromfile_prefix_chars"):
                yield "banned_call: fromfile_prefix_chars"

    def _import(self, module: str) -> Iterator[str]:
        if module.partition(".")[0] in names.BANNED_MODULES:
            yield f"banned_import: {module}"
        elif module not in {*names.PURE_MODULES, names.TOOLS}:
            yield f"disallowed_import: {module}"

    def _import_from(self, node: ast.ImportFrom) -> Iterator[str]:
        module = "." * node.level + (node.module or "")
        if module == "runtime":
            for name in node.names:
                if name.name != "zoekt_tools":
                    yield f"disallowed_import: runtime.{name.name}"
            return
        reasons = list(self._import(module))
        yield from reasons
        for name in node.names if not reasons else ():
            whole = f"{module}.{name.name}"
            if whole in names.PURE_MODULES or module == "__future__":
                continue
            if name.name == "*" or name.name not in self._names_of(module):
                yield f"disallowed_import: {whole}"

    def _names_of(self, module: str) -> frozenset[str]:
        return self._tools if module == names.TOOLS else names.public_names(module)

    def _call(self, node: ast.Call) -> Iterator[str]:
        match node.func:
            case ast.Name(id=name) if name in names.BANNED_CALLS:
                yield f"banned_call: {name}"
            case ast.Attribute(attr="compile", value=ast.Name(id=base)) if (
                self._modules.get(base) == "re"
            ):
                return
            case ast.Attribute(attr="format", value=value) if not _is_text(value):
                yield "banned_call: format"
            case ast.Attribute(attr=name) if name in names.BANNED_CALLS:
                yield f"banned_call: {name}"

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        if names.is_banned_attribute(node.attr):
            yield f"banned_attribute: {node.attr}"
            return
        module = self._module_of(node.value)
        if module is None or module not in {*names.PURE_MODULES, names.TOOLS, "runtime"}:
            return  # its import has been rejected
        if module == "runtime":
            if node.attr != "zoekt_tools":
                yield f"banned_attribute: runtime.{node.attr}"
        elif node.attr not in self._names_of(module):
            yield f"banned_attribute: {module}.{node.attr}"

    def _module_of(self, node: ast.expr) -> str | None:
        match node:
            case ast.Name(id=name):
                return self._modules.get(name)
            case ast.Attribute(attr=attr, value=value) if base := self._module_of(value):
                whole = f"{base}.{attr}"
                return whole if whole == names.TOOLS or whole in names.PURE_MODULES else None
        return None

    def _name(self, node: ast.Name) -> Iterator[str]:
        name = node.id
        if not isinstance(node.ctx, ast.Load):
            if names.is_dunder(name):
                yield f"banned_name: {name}"
            return
        called = id(node) in self._called
        if name in names.BANNED_NAMES:
            if not (called and name in names.BANNED_CALLS):
                yield f"banned_name: {name}"
        elif name in names.BANNED_UNLESS_BOUND:
            if name not in self._bound and not (called and name == "type"):
                yield f"banned_name: {name}"
        elif names.is_dunder(name) and name != "__name__":
            yield f"banned_name: {name}"
        elif name in self._modules and id(node) not in self._attribute_bases:
            # A module under another name would have attributes that are not checked.
            yield f"banned_name: {name}"

    def _decorator(self, node: ast.expr) -> Iterator[str]:
        root = node
        while isinstance(root, ast.Call | ast.Attribute):
            root = root.func if isinstance(root, ast.Call) else root.value
        name = root.id if isinstance(root, ast.Name) else "expression"
        if name not in {*names.DECORATORS, *self._bound, *self._modules}:
            yield f"banned_decorator: {name}"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _missing_entrypoint(tree: ast.Module) -> list[str]:
    functions = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    if "run" in functions:
        return []
    missing = ["missing_required_entrypoint: run(args) or async run(args)"]
    if not isinstance(functions.get("parse_args"), ast.FunctionDef):
        missing.append(_LEGACY.format("parse_args"))
    if "main" not in functions:
        missing.append(_LEGACY.format("main"))
    if not any(isinstance(node, ast.If) and _is_main_test(node.test) for node in tree.body):
        missing.append(_LEGACY.format("if __name__ == '__main__'"))
    return missing if len(missing) > 1 else []


_LEGACY = "missing_required_entrypoint: {} (legacy mode)"


def _is_main_test(node: ast.expr) -> bool:
    match node:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            sides = {ast.unparse(left), ast.unparse(right)}
            return sides == {"__name__", "'__main__'"}
    return False
