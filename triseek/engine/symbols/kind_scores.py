"""How much a kind of definition counts in the order of results, as Zoekt weighs it by language.

The figures are those of Zoekt's default scorer, so that local results and those of its hosts come
in the same order.
"""

from __future__ import annotations

KIND_UNIT = 100.0
"""Score of the factor 1."""
_OTHER = 1.0
_ANY: dict[str, float] = {
    "class": 10, "struct": 9.5, "enum": 9, "interface": 8, "type": 8, "function": 7, "method": 7,
    "field": 5.5, "constant": 5, "variable": 4,
}  # fmt: skip
_BY_LANGUAGE: dict[str, dict[str, float]] = {
    "java": {"field": 6, "enumerator": 5},
    "kotlin": {
        "interface": 9, "method": 8, "alias type": 7, "constant": 6, "variable": 5,
    },
    "go": {
        "interface": 10, "type": 9, "struct": 9, "alias type": 9, "methodspec": 8.5, "method": 8,
        "function": 8, "field": 7, "constant": 6, "variable": 5,
    },
    "c++": {
        "function": 8, "struct": 7, "union": 6, "alias type": 5, "field": 4, "variable": 3,
    },
    "scala": {
        "interface": 9, "object": 8, "function": 7, "type": 6, "variable": 5, "package": 4,
    },
    "python": {"function": 8, "method": 8, "field": 4, "variable": 3, "local": 2},
    "ruby": {
        "method": 9, "alias": 8, "module": 7, "singletonmethod": 6, "constant": 5, "accessor": 4,
        "library": 3,
    },
    "php": {
        "interface": 9, "function": 8, "trait": 7, "define": 6, "namespace": 5, "alias": 4,
        "variable": 3, "local": 3,
    },
    "graphql": {"type": 10},
    "markdown": {"chapter": 4, "section": 3, "subsection": 2},
}  # fmt: skip
_SAME = {
    "func": "function", "const": "constant", "var": "variable", "member": "field",
    "classes": "class", "talias": "alias type", "typealias": "alias type",
    "enumconstant": "enumerator", "enummember": "enumerator", "getter": "accessor",
    "setter": "accessor", "methodalias": "alias",
}  # fmt: skip
_TEST_FACTOR = 0.8
_EXPORTED = 0.5


def kind_score(kind: str, language: str, name: str, path: bytes) -> float:
    """Return the score of a match in the name of a definition, by its kind.

    Args:
        kind: `Symbol.kind`, or a kind as a host that runs Zoekt names it.
        language: Name of the file's language, in any case; "" if it is not known.
        name: The name that is defined.
        path: The file's path.
    """
    kind, language = kind.lower(), language.lower()
    kind = _SAME.get(kind, kind)
    factor = _BY_LANGUAGE.get(language, {}).get(kind, _ANY.get(kind, _OTHER))
    if language == "go":
        factor += _EXPORTED if name[:1].isupper() else 0
        factor *= _TEST_FACTOR if path.endswith(b"_test.go") else 1
    return factor * KIND_UNIT
