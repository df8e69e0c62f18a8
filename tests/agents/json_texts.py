"""Random JSON texts with comments and trailing commas."""

from __future__ import annotations

import json

from hypothesis import strategies as st

gaps = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", " /* c */ ", " // l\n", "\n// [{,\n  "])
scalars = st.sampled_from(["1", "-2.5e3", "true", "null", '"x"', '"a\\"//b"', '"é\\u00e9"'])


@st.composite
def texts(draw: st.DrawFn, depth: int = 3) -> str:
    """A value as text, with white space and comments anywhere, and trailing commas."""
    kind = draw(st.sampled_from(["scalar", "object", "array"])) if depth else "scalar"
    if kind == "scalar":
        return draw(scalars)
    return draw(containers(kind, depth))


@st.composite
def containers(draw: st.DrawFn, kind: str, depth: int) -> str:
    parts = []
    names = ("a", "b b", "mcpServers", "hooks") if depth == 3 else ("a", "é", "other")
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    for name in chosen:
        lead = ""
        value = draw(texts(depth - 1)) if name[0] in "abéo" else draw(containers("object", 1))
        if kind == "object":
            lead = json.dumps(name) + draw(gaps) + ":" + draw(gaps)
        parts.append(draw(gaps) + lead + value + draw(gaps))
    trailing = "," + draw(gaps) if parts and draw(st.booleans()) else ""
    inner = ",".join(parts) + trailing if parts else draw(gaps)
    return f"{{{inner}}}" if kind == "object" else f"[{inner}]"
