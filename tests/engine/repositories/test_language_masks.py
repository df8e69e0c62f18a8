"""No file is pruned by its name that has the language: what a name allows is a superset."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from triseek.model.code_search import CodeRequest
from triseek.query.zoekt.languages import language_of, languages_by_name

ENDINGS = ("", ".c", ".h", ".py", ".m", ".pl", ".v", ".d", ".l", ".fs", ".cls", ".hh", ".asc",
           ".pp", ".tar.gz", ".blade.php", ".C", ".xyz", ".rs.in")  # fmt: skip
CONTENTS = (
    b"", b"#!/usr/bin/env python3\n", b"-*- mode: ruby -*-\n", b"// vim: ft=go\n", b"std::x y;",
    b"@interface A\n@end\n", b"<?hh\n", b"template <class T>\n", b"\0binary", b"(* x *)", b"plain",
)  # fmt: skip


@given(
    stem=st.sampled_from(("a", "Makefile", "x.y", ".bashrc", "")),
    ending=st.sampled_from(ENDINGS),
    content=st.lists(st.sampled_from(CONTENTS), max_size=3).map(b"".join),
)
@example(stem="a", ending=".c", content=b"// vim: ft=python\n")
def test_a_language_is_one_of_those_that_the_name_allows(stem, ending, content):
    path = f"dir/{stem}{ending}".encode()
    allowed = languages_by_name(path)
    assert allowed is None or language_of(path, content) in allowed


@pytest.mark.parametrize("indexed", [True, False])
def test_queries_by_language_find_what_content_tells(tree, local, indexed):
    files = {
        "a.py": "x\n", "script": "#!/usr/bin/env python3\nx\n", "plain": "x\n", "b.h": "x\n",
        "c.h": "class A {\npublic:\n  std::string x;\n};\n", "bin.py": b"x\0",
    }  # fmt: skip
    source = local(tree("one", files, indexed=indexed))

    def found(query):
        return [file.path for file in source.search(CodeRequest(query=query)).files]

    assert sorted(found("lang:python")) == [b"a.py", b"bin.py", b"script"]
    assert sorted(found("lang:python c:x")) == [b"a.py", b"script"]
    assert found("lang:c++") == [b"c.h"]
    assert sorted(found("x -lang:python")) == [b"b.h", b"c.h", b"plain"]
    assert found("lang:nosuchlanguage") == []
