"""ripgrep's file types: names and globs, and what `-t`, `-T` and `--type-add` make of them.

`DEFAULT_TYPES` is what `rg --type-list` of 15.1.0 prints.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidQuery
from triseek.query.globs import Rule, RuleSet, parse_name_glob

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.model.search import ScopeSpec, TypeChange, TypeChoice


class Choice(NamedTuple):
    """Types given with one flag or with several of a kind."""

    takes: bool
    """Whether it was `-t`."""
    globs: tuple[str, ...]


class Types:
    """Chosen types: which file names they take and which they leave out."""

    def __init__(self, choices: Iterable[Choice]) -> None:
        """The globs of every type given, in order; the last that matches decides."""
        choices = list(choices)
        self.selects = any(choice.takes for choice in choices)
        """Whether a name that matches nothing is left out."""
        self.rules = [_rule(glob, takes=takes) for takes, globs in choices for glob in globs]
        self._set = RuleSet(self.rules)
        self.active = self.selects or bool(self.rules)

    @classmethod
    def compile(cls, spec: ScopeSpec) -> Types:
        """The types of a scope, in their order; without one `-T` is read after `-t`.

        Raises:
            InvalidQuery: A name or a definition is not known to ripgrep either.
        """
        return cls(globs_of_types(spec))

    def decide(self, names: Sequence[bytes]) -> dict[bytes, bool]:
        """For file names that the types speak about: whether they take it."""
        # ripgrep sees no file name in a path that ends with a dot.
        matched = self._set.decide(b"", [name for name in names if name[-1:] != b"."], dirs=False)
        verdicts = {name: not negated for name, negated in matched.items()}
        if self.selects:
            verdicts.update({name: False for name in names if name not in matched})
        return verdicts


def definitions(changes: Iterable[TypeChange] = ()) -> dict[str, tuple[str, ...]]:
    """Return ripgrep's table after `--type-add` and `--type-clear`, in their order.

    Raises:
        InvalidQuery: A definition is neither `name:glob` nor `name:include:other,…`.
    """
    table = dict(DEFAULT_TYPES)
    for action, text in changes:
        if action == "clear":
            table.pop(text, None)
        else:
            name, globs = _definition(text, table)
            table[name] = table.get(name, ()) + globs
    return table


def globs_of_types(spec: ScopeSpec) -> list[Choice]:
    """Return the globs of the types a scope chooses and refuses, in order, neighbours joined.

    Raises:
        InvalidQuery: As `Types.compile`.
    """
    table = definitions(spec.type_changes)
    order: list[TypeChoice] = list(spec.type_order)
    if not order:
        order += [("select", name) for name in spec.types]
        order += [("negate", name) for name in spec.types_not]
    return [
        Choice(action == "select", tuple(_globs(table, (name for _, name in names))))
        for action, names in groupby(order, key=itemgetter(0))
    ]


def _definition(text: str, table: dict[str, tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
    parts = text.split(":")
    name = parts[0]
    known = all(other in table for other in parts[-1].split(","))
    if not name.isalnum() or name == "all" or not parts[-1]:
        parts = []
    if len(parts) == 2:
        return name, (parts[1],)
    if len(parts) == 3 and parts[1] == "include" and known:
        return name, tuple(glob for other in parts[2].split(",") for glob in table[other])
    raise InvalidQuery(
        f"invalid type definition {text!r}",
        next_step="Write name:glob, as in web:*.html, or name:include:other,names.",
    )


def _globs(table: dict[str, tuple[str, ...]], names: Iterable[str]) -> list[str]:
    chosen: list[str] = []
    for name in names:
        if name == "all":
            chosen += chain.from_iterable(table.values())
        elif name in table:
            chosen += table[name]
        else:
            raise _unknown(name, table)
    return chosen


def _unknown(name: str, table: dict[str, tuple[str, ...]]) -> InvalidQuery:
    close = get_close_matches(name, table, n=3)
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    return InvalidQuery(
        f"unrecognized file type: {name}",
        next_step=f"{hint}`--type-list` names all types.",
    )


def _rule(glob: str, *, takes: bool) -> Rule:
    rule = parse_name_glob(glob)
    return rule if takes else replace(rule, negated=True)


@lru_cache(maxsize=65536)
def language_of(name: bytes) -> str:
    """The one type a file name is counted under, else its extension, else an empty string."""
    suffix = name.rpartition(b".")[2] if b"." in name[1:] else b""
    found = _by_name().get(name) or _by_suffix().get(suffix)
    return found or suffix.lower().decode("utf-8", "replace")


# Extensions several types claim, where the type with the fewest globs is not the one meant.
_PREFERRED = {
    "bat": "batch", "conf": "config", "cmd": "batch", "css": "css", "el": "elisp",
    "erb": "erb", "f": "fortran", "gradle": "gradle", "h": "c", "hh": "cpp", "hpp": "cpp",
    "html": "html", "i": "swig", "inc": "bitbake", "java": "java", "jl": "julia", "js": "js",
    "json": "json", "lhs": "haskell", "hs": "haskell", "lock": "lock", "m": "objc",
    "md": "markdown", "mk": "make", "ml": "ocaml", "php": "php", "pl": "perl", "pp": "puppet",
    "pro": "prolog", "properties": "java", "ps": "postscript", "py": "python", "r": "r",
    "rb": "ruby", "s": "asm", "S": "asm", "scss": "sass", "sh": "sh", "sv": "verilog",
    "svh": "verilog", "tf": "tf", "ts": "typescript", "tsx": "typescript", "v": "verilog",
    "vim": "vim", "vue": "vue", "zsh": "zsh", "C": "cpp", "H": "cpp", "c": "c",
}  # fmt: skip


@lru_cache(maxsize=1)
def _by_suffix() -> dict[bytes, str]:
    """Extension to type, from the globs that are `*.` and a plain extension."""
    found: dict[bytes, str] = {}
    for name in sorted(DEFAULT_TYPES, key=lambda name: (-len(DEFAULT_TYPES[name]), len(name))):
        for glob in DEFAULT_TYPES[name]:
            if glob.startswith("*.") and glob[2:].isalnum():
                found[glob[2:].encode()] = name
    found.update({suffix.encode(): name for suffix, name in _PREFERRED.items()})
    return found


@lru_cache(maxsize=1)
def _by_name() -> dict[bytes, str]:
    """Whole file name to type, from the globs without wildcards; more specific types win."""
    found = {b"Makefile": "make", b"makefile": "make", b"GNUmakefile": "make"}
    for name in sorted(DEFAULT_TYPES, key=lambda name: (-len(DEFAULT_TYPES[name]), len(name))):
        for glob in DEFAULT_TYPES[name]:
            if not set(glob) & set("*?[{"):
                found[glob.encode()] = name
    found[b"Dockerfile"] = "docker"
    return found


DEFAULT_TYPES: dict[str, tuple[str, ...]] = {
    "ada": ("*.adb", "*.ads"),
    "agda": ("*.agda", "*.lagda"),
    "aidl": ("*.aidl",),
    "alire": ("alire.toml",),
    "amake": ("*.bp", "*.mk"),
    "asciidoc": ("*.adoc", "*.asc", "*.asciidoc"),
    "asm": ("*.S", "*.asm", "*.s"),
    "asp": ("*.ascx", "*.ascx.cs", "*.ascx.vb", "*.asp", "*.aspx", "*.aspx.cs", "*.aspx.vb"),
    "ats": ("*.ats", "*.dats", "*.hats", "*.sats"),
    "avro": ("*.avdl", "*.avpr", "*.avsc"),
    "awk": ("*.awk",),
    "bat": ("*.bat",),
    "batch": ("*.bat",),
    "bazel": (
        "*.BUILD",
        "*.bazel",
        "*.bazelrc",
        "*.bzl",
        "BUILD",
        "MODULE.bazel",
        "WORKSPACE",
        "WORKSPACE.bazel",
        "WORKSPACE.bzlmod",
    ),
    "bitbake": ("*.bb", "*.bbappend", "*.bbclass", "*.conf", "*.inc"),
    "boxlang": ("*.bx", "*.bxm", "*.bxs"),
    "brotli": ("*.br",),
    "buildstream": ("*.bst",),
    "bzip2": ("*.bz2", "*.tbz2"),
    "c": ("*.[chH]", "*.[chH].in", "*.cats"),
    "cabal": ("*.cabal",),
    "candid": ("*.did",),
    "carp": ("*.carp",),
    "cbor": ("*.cbor",),
    "ceylon": ("*.ceylon",),
    "cfml": ("*.cfc", "*.cfm"),
    "clojure": ("*.clj", "*.cljc", "*.cljs", "*.cljx"),
    "cmake": ("*.cmake", "CMakeLists.txt"),
    "cmd": ("*.bat", "*.cmd"),
    "cml": ("*.cml",),
    "coffeescript": ("*.coffee",),
    "config": ("*.cfg", "*.conf", "*.config", "*.ini"),
    "coq": ("*.v",),
    "cpp": (
        "*.[ChH]",
        "*.[ChH].in",
        "*.[ch]pp",
        "*.[ch]pp.in",
        "*.[ch]xx",
        "*.[ch]xx.in",
        "*.cc",
        "*.cc.in",
        "*.hh",
        "*.hh.in",
        "*.inl",
    ),
    "creole": ("*.creole",),
    "crystal": ("*.cr", "*.ecr", "Projectfile", "shard.yml"),
    "cs": ("*.cs",),
    "csharp": ("*.cs",),
    "cshtml": ("*.cshtml",),
    "csproj": ("*.csproj",),
    "css": ("*.css", "*.scss"),
    "csv": ("*.csv",),
    "cuda": ("*.cu", "*.cuh"),
    "cython": ("*.pxd", "*.pxi", "*.pyx"),
    "d": ("*.d",),
    "dart": ("*.dart",),
    "devicetree": ("*.dts", "*.dtsi", "*.dtso"),
    "dhall": ("*.dhall",),
    "diff": ("*.diff", "*.patch"),
    "dita": ("*.dita", "*.ditamap", "*.ditaval"),
    "docker": ("*Dockerfile*",),
    "dockercompose": ("docker-compose.*.yml", "docker-compose.yml"),
    "dts": ("*.dts", "*.dtsi"),
    "dvc": ("*.dvc", "Dvcfile"),
    "ebuild": ("*.ebuild", "*.eclass"),
    "edn": ("*.edn",),
    "elisp": ("*.el",),
    "elixir": ("*.eex", "*.ex", "*.exs", "*.heex", "*.leex", "*.livemd"),
    "elm": ("*.elm",),
    "erb": ("*.erb",),
    "erlang": ("*.erl", "*.hrl"),
    "fennel": ("*.fnl",),
    "fidl": ("*.fidl",),
    "fish": ("*.fish",),
    "flatbuffers": ("*.fbs",),
    "fortran": ("*.F", "*.F77", "*.F90", "*.F95", "*.f", "*.f77", "*.f90", "*.f95", "*.pfo"),
    "fsharp": ("*.fs", "*.fsi", "*.fsx"),
    "fut": ("*.fut",),
    "gap": ("*.g", "*.gap", "*.gd", "*.gi", "*.tst"),
    "gdscript": ("*.gd",),
    "gleam": ("*.gleam",),
    "gn": ("*.gn", "*.gni"),
    "go": ("*.go",),
    "gprbuild": ("*.gpr",),
    "gradle": (
        "*.gradle",
        "*.gradle.kts",
        "gradle-wrapper.*",
        "gradle.properties",
        "gradlew",
        "gradlew.bat",
    ),
    "graphql": ("*.graphql", "*.graphqls"),
    "groovy": ("*.gradle", "*.groovy"),
    "gzip": ("*.gz", "*.tgz"),
    "h": ("*.h", "*.hh", "*.hpp"),
    "haml": ("*.haml",),
    "hare": ("*.ha",),
    "haskell": ("*.c2hs", "*.cpphs", "*.hs", "*.hsc", "*.lhs"),
    "hbs": ("*.hbs",),
    "hs": ("*.hs", "*.lhs"),
    "html": ("*.ejs", "*.htm", "*.html"),
    "hy": ("*.hy",),
    "idris": ("*.idr", "*.lidr"),
    "janet": ("*.janet",),
    "java": ("*.java", "*.jsp", "*.jspx", "*.properties"),
    "jinja": ("*.j2", "*.jinja", "*.jinja2"),
    "jl": ("*.jl",),
    "js": ("*.cjs", "*.js", "*.jsx", "*.mjs", "*.vue"),
    "json": ("*.json", "*.sarif", "composer.lock"),
    "jsonl": ("*.jsonl",),
    "julia": ("*.jl",),
    "jupyter": ("*.ipynb", "*.jpynb"),
    "k": ("*.k",),
    "kconfig": ("Kconfig", "Kconfig.*"),
    "kotlin": ("*.kt", "*.kts"),
    "lean": ("*.lean",),
    "less": ("*.less",),
    "license": (
        "*[.-]LICEN[CS]E*",
        "AGPL-*[0-9]*",
        "APACHE-*[0-9]*",
        "BSD-*[0-9]*",
        "CC-BY-*",
        "COPYING",
        "COPYING[.-]*",
        "COPYRIGHT",
        "COPYRIGHT[.-]*",
        "EULA",
        "EULA[.-]*",
        "GFDL-*[0-9]*",
        "GNU-*[0-9]*",
        "GPL-*[0-9]*",
        "LGPL-*[0-9]*",
        "LICEN[CS]E",
        "LICEN[CS]E[.-]*",
        "MIT-*[0-9]*",
        "MPL-*[0-9]*",
        "NOTICE",
        "NOTICE[.-]*",
        "OFL-*[0-9]*",
        "PATENTS",
        "PATENTS[.-]*",
        "UNLICEN[CS]E",
        "UNLICEN[CS]E[.-]*",
        "agpl[.-]*",
        "gpl[.-]*",
        "lgpl[.-]*",
        "licen[cs]e",
        "licen[cs]e.*",
    ),
    "lilypond": ("*.ily", "*.ly"),
    "lisp": ("*.el", "*.jl", "*.lisp", "*.lsp", "*.sc", "*.scm"),
    "llvm": ("*.ll",),
    "lock": ("*.lock", "package-lock.json"),
    "log": ("*.log",),
    "lua": ("*.lua",),
    "lz4": ("*.lz4",),
    "lzma": ("*.lzma",),
    "m4": ("*.ac", "*.m4"),
    "make": (
        "*.mak",
        "*.mk",
        "Makefile.*",
        "[Gg][Nn][Uu]makefile",
        "[Gg][Nn][Uu]makefile.am",
        "[Gg][Nn][Uu]makefile.in",
        "[Mm]akefile",
        "[Mm]akefile.am",
        "[Mm]akefile.in",
    ),
    "mako": ("*.mako", "*.mao"),
    "man": ("*.[0-9][cEFMmpSx]", "*.[0-9lnpx]"),
    "markdown": ("*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"),
    "matlab": ("*.m",),
    "md": ("*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"),
    "meson": ("meson.build", "meson.options", "meson_options.txt"),
    "minified": ("*.min.css", "*.min.html", "*.min.js"),
    "mint": ("*.mint",),
    "mk": ("mkfile",),
    "ml": ("*.ml",),
    "motoko": ("*.mo",),
    "msbuild": (
        "*.csproj",
        "*.fsproj",
        "*.proj",
        "*.props",
        "*.sln",
        "*.slnf",
        "*.targets",
        "*.vcxproj",
    ),
    "nim": ("*.nim", "*.nimble", "*.nimf", "*.nims"),
    "nix": ("*.nix",),
    "objc": ("*.h", "*.m"),
    "objcpp": ("*.h", "*.mm"),
    "ocaml": ("*.ml", "*.mli", "*.mll", "*.mly"),
    "org": ("*.org", "*.org_archive"),
    "pants": ("BUILD",),
    "pascal": ("*.dpr", "*.inc", "*.lpr", "*.pas", "*.pp"),
    "pdf": ("*.pdf",),
    "perl": ("*.PL", "*.perl", "*.pl", "*.plh", "*.plx", "*.pm", "*.t"),
    "php": ("*.php", "*.php3", "*.php4", "*.php5", "*.php7", "*.php8", "*.pht", "*.phtml"),
    "po": ("*.po",),
    "pod": ("*.pod",),
    "postscript": ("*.eps", "*.ps"),
    "prolog": ("*.P", "*.pl", "*.pro", "*.prolog"),
    "protobuf": ("*.proto",),
    "ps": ("*.cdxml", "*.ps1", "*.ps1xml", "*.psd1", "*.psm1"),
    "puppet": ("*.epp", "*.erb", "*.pp", "*.rb"),
    "purs": ("*.purs",),
    "py": ("*.py", "*.pyi"),
    "python": ("*.py", "*.pyi"),
    "qmake": ("*.prf", "*.pri", "*.pro"),
    "qml": ("*.qml",),
    "qrc": ("*.qrc",),
    "qui": ("*.ui",),
    "r": ("*.R", "*.Rmd", "*.Rnw", "*.r", "*.rmd", "*.rnw"),
    "racket": ("*.rkt",),
    "raku": ("*.p6", "*.pl6", "*.pm6", "*.raku", "*.rakudoc", "*.rakumod", "*.rakutest"),
    "rdoc": ("*.rdoc",),
    "readme": ("*README", "README*"),
    "reasonml": ("*.re", "*.rei"),
    "red": ("*.r", "*.red", "*.reds"),
    "rescript": ("*.res", "*.resi"),
    "robot": ("*.robot",),
    "rst": ("*.rst",),
    "ruby": ("*.gemspec", "*.rake", "*.rb", "*.rbw", ".irbrc", "Gemfile", "Rakefile", "config.ru"),
    "rust": ("*.rs",),
    "sass": ("*.sass", "*.scss"),
    "scala": ("*.sbt", "*.scala"),
    "scdoc": ("*.scd", "*.scdoc"),
    "seed7": ("*.s7i", "*.sd7"),
    "sh": (
        "*.bash",
        "*.bashrc",
        "*.csh",
        "*.cshrc",
        "*.env",
        "*.ksh",
        "*.kshrc",
        "*.sh",
        "*.tcsh",
        "*.zsh",
        ".bash_login",
        ".bash_logout",
        ".bash_profile",
        ".bashrc",
        ".cshrc",
        ".env",
        ".kshrc",
        ".login",
        ".logout",
        ".profile",
        ".tcshrc",
        ".zlogin",
        ".zlogout",
        ".zprofile",
        ".zshenv",
        ".zshrc",
        "bash_login",
        "bash_logout",
        "bash_profile",
        "bashrc",
        "profile",
        "zlogin",
        "zlogout",
        "zprofile",
        "zshenv",
        "zshrc",
    ),
    "slim": ("*.skim", "*.slim", "*.slime"),
    "smarty": ("*.tpl",),
    "sml": ("*.sig", "*.sml"),
    "solidity": ("*.sol",),
    "soy": ("*.soy",),
    "spark": ("*.spark",),
    "spec": ("*.spec",),
    "sql": ("*.psql", "*.sql"),
    "ssa": ("*.ssa",),
    "stylus": ("*.styl",),
    "sv": ("*.h", "*.sv", "*.svh", "*.v", "*.vg"),
    "svelte": ("*.svelte", "*.svelte.ts"),
    "svg": ("*.svg",),
    "swift": ("*.swift",),
    "swig": ("*.def", "*.i"),
    "systemd": (
        "*.automount",
        "*.conf",
        "*.device",
        "*.link",
        "*.mount",
        "*.path",
        "*.scope",
        "*.service",
        "*.slice",
        "*.socket",
        "*.swap",
        "*.target",
        "*.timer",
    ),
    "taskpaper": ("*.taskpaper",),
    "tcl": ("*.tcl",),
    "tex": ("*.bib", "*.cls", "*.dtx", "*.ins", "*.ltx", "*.sty", "*.tex"),
    "texinfo": ("*.texi",),
    "textile": ("*.textile",),
    "tf": (
        "*.terraform.lock.hcl",
        "*.terraformrc",
        "*.tf",
        "*.tf.json",
        "*.tfrc",
        "*.tfvars",
        "*.tfvars.json",
        "terraform.rc",
    ),
    "thrift": ("*.thrift",),
    "toml": ("*.toml", "Cargo.lock"),
    "ts": ("*.cts", "*.mts", "*.ts", "*.tsx"),
    "twig": ("*.twig",),
    "txt": ("*.txt",),
    "typescript": ("*.cts", "*.mts", "*.ts", "*.tsx"),
    "typoscript": ("*.ts", "*.typoscript"),
    "typst": ("*.typ",),
    "usd": ("*.usd", "*.usda", "*.usdc"),
    "v": ("*.v", "*.vsh"),
    "vala": ("*.vala",),
    "vb": ("*.vb",),
    "vcl": ("*.vcl",),
    "verilog": ("*.sv", "*.svh", "*.v", "*.vh"),
    "vhdl": ("*.vhd", "*.vhdl"),
    "vim": ("*.vim", ".gvimrc", ".vimrc", "_gvimrc", "_vimrc", "gvimrc", "vimrc"),
    "vimscript": ("*.vim", ".gvimrc", ".vimrc", "_gvimrc", "_vimrc", "gvimrc", "vimrc"),
    "vue": ("*.vue",),
    "webidl": ("*.idl", "*.webidl", "*.widl"),
    "wgsl": ("*.wgsl",),
    "wiki": ("*.mediawiki", "*.wiki"),
    "xml": (
        "*.dtd",
        "*.rng",
        "*.sch",
        "*.xhtml",
        "*.xjb",
        "*.xml",
        "*.xml.dist",
        "*.xsd",
        "*.xsl",
        "*.xslt",
    ),
    "xz": ("*.txz", "*.xz"),
    "yacc": ("*.y",),
    "yaml": ("*.yaml", "*.yml"),
    "yang": ("*.yang",),
    "z": ("*.Z",),
    "zig": ("*.zig",),
    "zsh": (
        "*.zsh",
        ".zlogin",
        ".zlogout",
        ".zprofile",
        ".zshenv",
        ".zshrc",
        "zlogin",
        "zlogout",
        "zprofile",
        "zshenv",
        "zshrc",
    ),
    "zstd": ("*.zst", "*.zstd"),
}
