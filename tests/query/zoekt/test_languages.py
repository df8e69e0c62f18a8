"""Languages of files and their names."""

import time

import pytest

from triseek.query.zoekt.languages import canonical_name, language_of

FILES = {
    "a.py": (b"", "Python"),
    "src/A.CPP": (b"", "C++"),
    "a.h": (b"int f(void);\n", "C"),
    "b.h": (b"namespace a {\nclass B;\n}\n", "C++"),
    "c.h": (b"@interface A\n@end\n", "Objective-C"),
    "a.c": (b"int main(void) { return 0; }\n", "C"),
    "Makefile": (b"", "Makefile"),
    "deep/down/Dockerfile": (b"", "Dockerfile"),
    "go.mod": (b"", "Go Module"),
    ".gitignore": (b"*.o\n", "Ignore List"),
    "a.ts": (b"", "TypeScript"),
    "a.tsx": (b"", "TSX"),
    "a.html.erb": (b"", "HTML+ERB"),
    "a.blade.php": (b"", "Blade"),
    "script": (b"#!/usr/bin/env python3\n", "Python"),
    "tool": (b"#!/bin/bash -e\n", "Shell"),
    "run": (b"#! /usr/bin/env -S A=1 node --x\n", "JavaScript"),
    "mode": (b"# -*- mode: ruby -*-\n", "Ruby"),
    "vi": (b"// vim: set ft=cpp:\n", "C++"),
    "a.png": (b"\x89PNG", ""),
    "binary": (b"#!/bin/sh\n\0", ""),
    "empty": (b"", ""),
    "words": (b"just words\n", ""),
    "a.unknownending": (b"", ""),
    ".": (b"", ""),
    "a.": (b"", ""),
    "": (b"", ""),
    "x.m": (b"function y = f(x)\n", "MATLAB"),
    "x.v": (b"module a(input b);\nendmodule\n", "Verilog"),
    "tool.1": (b".TH tool 1\n", "Roff Manpage"),
    "a.json": (b"{}", "JSON"),
    "notes.txt": (b"x", "Text"),
}


@pytest.mark.parametrize("path", FILES)
def test_language_of_a_file(path: str) -> None:
    head, language = FILES[path]
    assert language_of(path.encode(), head) == language


def test_path_that_is_not_utf8_has_a_language_by_its_ending() -> None:
    assert language_of(b"\xff\xfe/\xff.py", b"") == "Python"


NAMES = {
    "cpp": "C++",
    "c++": "C++",
    "C++": "C++",
    "csharp": "C#",
    "golang": "Go",
    "js": "JavaScript",
    "ts": "TypeScript",
    "tsx": "TSX",
    "sh": "Shell",
    "bash": "Shell",
    "py": "Python",
    "python3": "Python",
    "emacs lisp": "Emacs Lisp",
    "EMACS_LISP": "Emacs Lisp",
    "wolfram language": "Mathematica",
    "go, or so": "Go",
    "": "",
    "-": "",
    "no such": "",
}


@pytest.mark.parametrize("name", NAMES)
def test_name_of_a_language(name: str) -> None:
    assert canonical_name(name) == NAMES[name]


@pytest.mark.parametrize(
    ("line", "language"),
    [
        (b"# -*- ruby -*-", "Ruby"),
        (b"# -*- coding: utf-8; mode: ruby -*-", "Ruby"),
        (b"# -*-Ruby; tab-width: 2-*-", "Ruby"),
        (b"# -*- coding: utf-8 -*-", ""),
        (b"# -*- mode: ruby", ""),
        (b"// vim: set ts=2 ft=ruby:", "Ruby"),
    ],
)
def test_modelines_of_editors(line: bytes, language: str) -> None:
    assert language_of(b"noending", line + b"\n") == language


@pytest.mark.parametrize(
    ("path", "head"),
    [
        (b"a.zz", b"-*-" * 100 + b"mode:a;" * 2200),
        (b"a.zz", b" ex:" * 4096),
        (b"a.m", b"\n" * 16384),
        (b"a.h", b" \n" * 8192),
    ],
)
def test_hostile_content_takes_no_time(path: bytes, head: bytes) -> None:
    started = time.process_time()
    language_of(path, head)
    assert time.process_time() - started < 0.5
