r"""Patterns for the beginnings of lines that define a name, by language family.

A form is an RE2 regular expression, anchored at the beginning of a line, with these shorthands:

    NAME    the name that is defined: an identifier
    CONST   the same, in capitals: `MAX_SIZE`
    UPPER   the same, starting with a capital: `MaxSize`
    TERM    the same, where names may hold more characters: `foo-bar`, `foo.o`, `empty?`
    a blank at least one blank or tab
    ~       any number of blanks or tabs, also in a class; write the character itself as `\x7e`

Each form holds exactly one of the names. Lines are matched without their terminator. The forms omit
what a single line cannot distinguish: a member from a local variable, a function from a prototype
that continues on the next line.
"""

from __future__ import annotations

_HASH_DEFINE = r"~#~define NAME"
_PARAMETERS = r"\([^;()]*(?:\([^()]*\)[^;()]*)*\)"
"""A complete parameter list; parentheses may nest one level deep."""

# C types and what precedes them. No parenthesis except those of attributes, and no `=`: a call is
# preceded by one of the two.
_C_CALL = r"__\w+~\(+[^()]*\)+"  # of an attribute: `__printf(1, 2)`
_C_TYPE = rf"[A-Za-z_][\w~*&:<>,]*(?:{_C_CALL}[\w~*&:<>,]*)*[~*&:]"
_C_ATTRIBUTE = rf"(?:{_C_CALL} )?"
_C_BODY = r"~\([^;]*(?:\{.*)?$"
_C_TAG = r"(?:struct|union|class|enum(?: class| struct)?)"
_C_TAGGED = r"(?: (?:__\w+|[A-Z][A-Z0-9_]+|alignas)(?:\(+[^()]*\)+)?)? "

# The first matching form determines the name, so the most specific or most frequent come first.
_C_TYPES = (
    _HASH_DEFINE,
    (
        rf"~(?:typedef )?(?:template~<.*> )?{_C_TAG}{_C_TAGGED}NAME"
        r"~(?:final~)?(?::[^:;][^;{]*)?(?:\{.*|//.*|/\*.*)?$"
    ),
    r"~typedef [^;]*[~*&}]NAME~(?:\[[^;]*)?;",
    r"~typedef [^;]*\(~[\w~]*\*~NAME~\)~\(",
    r"~using NAME~=",
)
_C_REST = (
    rf"{_C_TYPE}NAME~(?:\[[^;=]*\]~)*(?:=[^=]|=$|;)",
    r"[ \t]+(?:[A-Za-z_][\w*&:<>,]*[~*&]+)+NAME~\([^;]*\)[^;(){}=]*\{",
    r"\}~(?:__\w+(?:\(+[^()]*\)+)? )?\*?NAME~[,;=\[]",
    r"(?:static )?DEFINE_PER_CPU\w*~\([^,]*,~NAME~\)",
    r"(?:DEFINE|TRACE)_EVENT\w*~\([^,]*,~NAME~,",
    r"(?:static )?\w*DEFINE\w*~\(~NAME~[,)]",
    r"(?:static )?(?:LIST_HEAD|HLIST_HEAD|TRACE_EVENT|DECLARE_EVENT_CLASS)~\(~NAME~[,)]",
    r"[ \t]+CONST~=[^=;]*,",
    r"[-+]~\([^()]*\)~NAME",
    r"@(?:interface|implementation|protocol) NAME",
)
_HEADER = (
    *_C_TYPES,
    (
        rf"{_C_ATTRIBUTE}(?:static|inline|constexpr|__always_inline|template~<.*>) {_C_TYPE}NAME"
        rf"{_C_BODY}"
    ),
    rf"{_C_ATTRIBUTE}{_C_TYPE}NAME~\([^;]*\{{.*$",
    *_C_REST,
)
_C = (
    *_C_TYPES,
    rf"{_C_ATTRIBUTE}{_C_TYPE}\x7e?NAME{_C_BODY}",
    r"NAME \([^;]*$",  # GNU style: the type is on the line above
    *_C_REST,
)

_JAVA_MODIFIER = (
    "(?:public|private|protected|internal|static|final|abstract|sealed|non-sealed|partial|readonly"
    "|unsafe|virtual|override|async|native|synchronized|transient|volatile|default|strictfp|const"
    "|required|file|new|late|external|factory|fileprivate|export)"
)
_JAVA_TYPE = r"[A-Za-z_][\w.<>\[\]?,:@*]*(?:<[^;()=]*>)?[\[\]?]*"
_JAVA_ANNOTATIONS = r"~(?:@\w+(?:\([^()]*\))? )*"
_JAVA = (
    (
        rf"{_JAVA_ANNOTATIONS}(?:{_JAVA_MODIFIER} )*"
        r"(?:class|interface|enum|record|struct|@interface|mixin|extension type)"
        r" (?:class |struct )?NAME\b"
    ),
    rf"~(?:{_JAVA_MODIFIER} )*delegate {_JAVA_TYPE} NAME~[(<]",
    (
        rf"{_JAVA_ANNOTATIONS}(?:{_JAVA_MODIFIER} )+"
        rf"(?:<[^;()]*> )?(?:{_JAVA_TYPE} )?NAME~(?:<[^;()]*>~)?"
        r"\([^;]*(?:[{=].*)?$"
    ),
    rf"~(?:<[^;()]*> )?{_JAVA_TYPE} NAME~(?:<[^;()]*>~)?\([^;]*\)[^;()={{}}]*\{{",
    rf"~(?:{_JAVA_MODIFIER} )+{_JAVA_TYPE} NAME~(?:[=;{{]|=>|$)",
)

_MODIFIER = r"(?:@?[a-z]+(?:\([^()]*\))? )"
_KOTLIN = (  # Kotlin, Scala, Swift, Groovy
    rf"~{_MODIFIER}*(?:fun|def|func)(?:~<[^>]*>)? (?:[\w<>?,*]+\.)*`?NAME`?~(?:[(\[<:={{]|$)",
    (
        rf"~{_MODIFIER}*(?:class|interface|object|trait|struct|protocol|actor|enum|record|typealias"
        r"|associatedtype|precedencegroup) (?:class )?NAME\b"
    ),
    rf"~{_MODIFIER}*type NAME~(?:\[[^=]*\]~)?(?:=|<:|>:|$)",
    rf"{_MODIFIER}*(?:val|var|let) NAME\b",
    (
        r"[ \t]+(?:(?:public|private|protected|internal|open|override|abstract|final|static|lazy"
        r"|implicit|const|lateinit|fileprivate|weak)(?:\([^()]*\))? )+(?:val|var|let) NAME\b"
    ),
    rf"~{_MODIFIER}*case NAME~(?:\(|=|$)",
)

_JS_FUNCTION = r"(?:async~)?(?:function\b|class\b|\([^;]*=>|[\w$]+~=>|\(~\{?~$)"
_JS_MEMBER = (
    "(?:public|private|protected|static|readonly|async|get|set|override|abstract|declare|accessor)"
)
_JS = (
    r"~(?:export )?(?:default )?(?:declare )?(?:async )?function~\*?~NAME",
    (
        r"~(?:export )?(?:default )?(?:declare )?(?:abstract )?"
        r"(?:class|interface|enum|const enum|namespace|module) NAME\b"
    ),
    r"~(?:export )?(?:declare )?type NAME~(?:=|<)",
    rf"~(?:export )?(?:const|let|var) NAME~(?::[^=]*)?=~{_JS_FUNCTION}",
    r"(?:export )?(?:declare )?(?:const|let|var) NAME\b",
    r"~export (?:declare )?(?:const|let|var) NAME\b",
    rf"[ \t]+(?:{_JS_MEMBER} )*[*#]?NAME~(?:<[^()]*>)?{_PARAMETERS}~(?::[^;={{]*)?\{{",
    rf"[ \t]+(?:{_JS_MEMBER} )+[*#]?NAME[?!]?~[:=;(<]",
    rf"[ \t]+NAME~(?:<[^()]*>)?{_PARAMETERS}~:~[^;={{]+;?~$",
    r"[ \t]+NAME\?~[:(]",
    rf"[ \t]+['\"]?NAME['\"]?~:~{_JS_FUNCTION}",
    r"~(?:module\.)?exports\.NAME~=",
    r"~[\w$.]+\.prototype\.NAME~=",
    rf"~[\w$.]+\.NAME~=~{_JS_FUNCTION}",
)

_GO_TYPE = (
    r"(?:\[[^\]]*\]|\*|map\[[^\]]*\]|<-|chan(?:<-)? )*"
    r"(?:func\(.*|[A-Za-z_][\w.]*(?:\[[^\]]*\]|\{\})?)"
)
_GO_END = r"~(?:`[^`]*`|=[^=].*)?~(?://.*)?$"

_SHELL = (
    r"~function (?:-\w+ )*TERM",
    r"~TERM~\(~\)",
    r"(?:export |readonly |(?:declare|typeset)(?: -\w+)* )?NAME=",
    r"~(?:export|readonly|alias) NAME=",
)

_RUST_BEFORE = (
    r"~(?:pub(?:~\([^()]*\))? )?(?:(?:default|const|async|unsafe|extern|safe)(?: \"[^\"]*\")? )*"
)

FORMS: dict[str, tuple[str, ...]] = {
    "asm": (
        _HASH_DEFINE,
        r"~(?:ENTRY|FUNCTION|SYM_\w*START\w*)~\(~NAME~\)",
        r"TERM:",
        r"~\.(?:macro|set|equ) NAME\b",
    ),
    "awk": (r"~(?:function|func) NAME~\(",),
    "batch": (r"~:TERM",),
    "c": _C,
    "clojure": (r"~\((?:def[\w-]*|ns|define[\w-]*\*?)(?: \^[\w{:} ]+)? \(?TERM",),
    "cmake": (
        r"~(?i:function|macro|set|option|add_executable|add_library|add_custom_target)~\(~TERM",
    ),
    "css": (
        r"~[^{};]*[.#]TERM[^{};]*[{,]~$",
        r"~[^{};]*[.#]TERM[^{};]*\{",
        r"~\$TERM~:",
        r"~--TERM~:",
        r"~@(?:mixin|function|keyframes|counter-style|layer) TERM",
    ),
    "devicetree": (r"~NAME:~[\w@,-]+~\{", _HASH_DEFINE),
    "elixir": (
        r"~(?:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate) (?:\w+\.)*TERM",
        r"~(?:defmodule|defprotocol|defexception) (?:\w+\.)*NAME",
        r"~@(?:type|typep|opaque|callback) NAME\b",
    ),
    "erlang": (
        r"NAME~\(.*(?:->|[,(]$)",
        r"-~(?:define|record)~\(~NAME",
        r"-~(?:module)~\(~NAME",
        r"-~(?:type|opaque|callback) NAME~\(",
    ),
    "fortran": (
        (
            r"~(?i:(?:(?:pure|elemental|recursive|integer|real|logical|double precision|character)"
            r"(?:\([^()]*\))? )*(?:subroutine|function|program|module)) NAME"
        ),
        r"~(?i:type)(?:~,[^:]*)?(?:~::~| )NAME~$",
    ),
    "go": (
        r"func (?:\([^()]*\)~)?NAME~[(\[]",
        r"~type NAME(?:\[| )",
        r"[ \t]+NAME (?:struct|interface)~\{",
        rf"[ \t]+NAME {_GO_TYPE}{_GO_END}",
        rf"[ \t]+NAME{_PARAMETERS} (?:{_GO_TYPE}|\([^()]*\)){_GO_END}",
        r"(?:var|const) NAME\b",
        r"\tUPPER~=[^=]",
    ),
    "graphql": (
        r"~(?:type|interface|input|enum|scalar|union|fragment|query|mutation|subscription) NAME",
        r"~directive @NAME",
    ),
    "haskell": (
        r"~NAME~(?:,[\w, ']*)?::",
        r"~(?:data|newtype|class|type|type family|data family|pattern) (?:.*=> )?NAME",
        r"NAME(?: [\w'_ ]+)?~=[^=]",
    ),
    "header": _HEADER,
    "java": _JAVA,
    "js": _JS,
    "julia": (
        (
            r"~(?:@\w+ )*(?:function|struct|mutable struct|abstract type|primitive type|macro"
            r"|module|const) (?:\w+\.)*NAME"
        ),
        r"NAME~(?:\{[^{}]*\})?\([^()]*\)~=[^=]",
    ),
    "kconfig": (r"~(?:config|menuconfig) NAME",),
    "kotlin": _KOTLIN,
    "lua": (
        r"~(?:local )?function (?:\w+[.:])*NAME",
        r"~(?:local )?(?:\w+[.:])*NAME~=~function\b",
        r"local NAME\b",
    ),
    "make": (
        r"~(?:export |override )*TERM~(?::{1,3}|\?|!)?=",
        r"(?:[^:=#]* )?TERM~(?:[^:=#]*)?::?(?:[^=]|$)",
        r"define TERM",
    ),
    "nim": (r"~(?:proc|func|method|template|macro|iterator|converter|type) `?NAME",),
    "ocaml": (
        r"(?:let|and)(?: rec)?(?: inline)? NAME",
        r"[ \t]+let(?: rec)? NAME [^=]*=~$",
        (
            r"~(?:type|and|module|module type|exception|external|class|method|member)"
            r"(?: (?:private|virtual|nonrec))?(?: (?:'\w+|\([^()]*\)))? (?:\w+\.)?NAME"
        ),
    ),
    "perl": (
        r"~sub (?:\w+::)*NAME",
        r"~package (?:\w+::)*NAME",
        r"~use constant~\{?~NAME\b",
        r"(?:our|my) [$@%]NAME\b",
    ),
    "php": (
        r"~(?:(?:public|protected|private|static|final|abstract) )*function~&?~NAME",
        r"~(?:(?:abstract|final|readonly) )*(?:class|interface|trait|enum) NAME",
        r"~(?:(?:public|protected|private|final) )*const (?:[\w?|\\]+ )?NAME~=",
        r"~define~\(~['\"]NAME['\"]",
        r"~(?:(?:public|protected|private|static|readonly|var) )+(?:[\w?|\\]+ )?\$NAME\b",
    ),
    "powershell": (
        r"~(?i:function|filter|class|enum) (?:\w+:)?TERM",
        r"\$(?:\w+:)?NAME~=",
    ),
    "proto": (
        r"~(?:message|enum|service|rpc|extend|oneof|struct|exception|union) NAME",
        r"~(?:typedef|const) [^=;]* NAME\b",
        r"~(?:(?:repeated|optional|required) )?[\w.<>, ]+ NAME~=~\d+~[;\[]",
    ),
    "python": (
        r"~(?:async )?(?:def|class) NAME",
        r"~(?:cdef|cpdef)(?: [\w*\[\], ]+)? \*?NAME~[(:]",
        r"NAME~(?::[^=]*)?=[^=]",
        r"[ \t]+CONST~(?::[^=]*)?=[^=]",
        r"[ \t]+NAME:~[A-Za-z_'\"][^:]*[^,:(\[{]$",
        r"~type NAME~[=\[]",
    ),
    "r": (r"~NAME~(?:<-|=)~function\b", r"~TERM~(?:<-|=)~function\b"),
    "ruby": (
        r"~(?:(?:private|protected|public|private_class_method|memoize) )?def (?:\w+\.)?TERM",
        r"~(?:class|module|struct|enum|lib) (?:\w+::)*NAME",
        r"~(?:attr_reader|attr_accessor|attr_writer|alias_method|define_method)[ (]~:TERM",
        r"~(?:let|let!|subject|scope|has_many|has_one|belongs_to)[ (]~:TERM",
        r"~alias :?TERM",
        r"~CONST~=[^=\x7e]",
    ),
    "rust": (
        rf"{_RUST_BEFORE}(?:fn|struct|enum|union|trait|type|static mut|static|const) (?:r#)?NAME",
        rf"{_RUST_BEFORE}mod NAME~\{{",
        r"~macro_rules!~NAME",
        r"[ \t]+pub(?:~\([^()]*\))? NAME~:",
    ),
    "shell": _SHELL,
    "sql": (
        (
            r"~(?i:create (?:or replace )?(?:(?:global|local|temp|temporary|unlogged|unique"
            r"|recursive|materialized|external|foreign) )*(?:table|view|function|procedure|index"
            r"|trigger|type|schema|sequence|database|role|domain|aggregate|extension|policy)"
            r" (?:concurrently )?(?:if not exists )?)(?:[\w\"`\[\]]+\.)*[\"`\[]?NAME"
        ),
    ),
    "tcl": (r"~proc (?:[\w:]*::)?NAME",),
    "terraform": (
        r"(?:resource|data) \"[^\"]*\" \"TERM\"",
        r"(?:variable|output|module|provider) \"TERM\"",
    ),
    "verilog": (
        (
            r"~(?:virtual )?(?:module|macromodule|interface|class|package|program|primitive|task"
            r"|checker|property|sequence) (?:automatic |static )?NAME"
        ),
        r"~function (?:[^;(]* )?NAME~[(;]",
        r"~`define NAME",
    ),
    "vim": (r"~(?i:fu|func|function)!? (?:[gslb]:|[\w#]*#)?NAME", r"~(?:let) [gs]:NAME~="),
    "zig": (
        r"~(?:pub )?(?:(?:export|extern|inline|noinline)(?: \"[^\"]*\")? )*fn NAME",
        r"(?:pub )?(?:(?:export|threadlocal) )*(?:const|var) NAME\b",
        r"~pub (?:const|var) NAME\b",
        r"~(?:const|var) NAME~=~(?:(?:packed|extern) )?(?:struct|enum|union|opaque)\b",
    ),
}
"""Language family → forms. Data files (JSON, YAML, INI …) and prose have none."""
WIDER = {"header": "c"}
"""Family → another family that has all of its forms."""

_COMMENT = r"~(?:/\*|\*|//)"
_STATEMENT = (
    r"~(?:return|else|case|goto|throw|new|await|yield|import|package|using namespace|delete)\b"
)
NEVER: dict[str, str] = {
    "c": rf"{_COMMENT}|{_STATEMENT}|~extern\b|~(?:friend )?{_C_TAG}~\w+~;",
    "header": rf"{_COMMENT}|{_STATEMENT}|~extern\b|~(?:friend )?{_C_TAG}~\w+~;",
    "css": _COMMENT,
    "go": rf"{_COMMENT}|[ \t]+(?:return|go|defer|case|goto|else|var|const)\b",
    "java": rf"{_COMMENT}|{_STATEMENT}",
    "js": rf"{_COMMENT}|{_STATEMENT}",
    "kotlin": _COMMENT,
    "make": r"~#|\t|\.PHONY\b|~(?:if|else|endif|include|-include)",
    "python": r"~(?:else|try|finally|lambda)\b",
    "proto": rf"{_COMMENT}|{_STATEMENT}|~option\b",
    "shell": r"~#",
}
"""Family → pattern for the beginnings of lines that define nothing, even if a form matches."""

RESERVED = frozenset(
    b"if for while switch return else do catch sizeof foreach using lock synchronized with function"
    b" elif elseif until unless typeof alignof defined match".split()
)
"""Words that precede a parenthesis but are not names, in the families of `BRACES`."""
BRACES = frozenset(("c", "header", "java", "js"))

KEYWORDS = {"go": frozenset(b"return go defer case goto else".split())}
"""Family → words that no name is, and with which a form matches very many lines."""

_FILE_TYPES = {
    "asm": "asm ld", "awk": "awk", "batch": "bat batch", "c": "c cpp cuda objc objcpp",
    "clojure": "clojure elisp lisp racket", "cmake": "cmake", "css": "css less sass",
    "devicetree": "devicetree dts", "elixir": "elixir", "erlang": "erlang", "fortran": "fortran",
    "go": "go", "graphql": "graphql", "haskell": "haskell", "java": "cs csharp d dart java",
    "js": "coffeescript js svelte ts typescript vue", "julia": "jl julia",
    "kotlin": "groovy kotlin scala swift", "lua": "lua", "make": "make", "nim": "nim",
    "ocaml": "fsharp ocaml", "perl": "perl", "php": "php", "powershell": "ps",
    "proto": "protobuf thrift", "python": "bazel cython pants py python", "r": "r",
    "ruby": "crystal rake ruby", "rust": "rust", "shell": "fish sh zsh", "sql": "sql", "tcl": "tcl",
    "terraform": "hcl tf", "verilog": "verilog", "vim": "vim vimscript", "zig": "zig",
}  # fmt: skip
"""Language family → file types, as `query.globs.file_types.language_of` returns them."""
FAMILIES = {kind: family for family, kinds in _FILE_TYPES.items() for kind in kinds.split()}
"""File type → language family."""

NAMES = {
    b"CMakeLists.txt": "cmake", b"Kbuild": "make", b"Kbuild.include": "make", b"Kconfig": "kconfig",
}  # fmt: skip
"""File names whose suffix is misleading or uninformative → language family."""
HEADERS = frozenset((b".h", b".hh", b".hpp", b".hxx", b".inl"))
"""Suffixes of files in which a function head that continues on the next line is most likely a
prototype."""
