"""The arguments as typed, flag by flag: filled in by `cli.args`, interpreted by `cli.resolve`."""

from __future__ import annotations


class LowArgs:
    """The arguments as typed. A plain class: `dataclasses` would double the start-up time."""

    def __init__(self) -> None:
        self.positional: list[str] = []
        self.patterns: list[tuple[str, str]] = []
        """("text", pattern) and ("file", path), in order."""
        self.mode = "standard"
        """standard, count, count_matches, files, files_without_match, json, envelope, list
        (--files), types, help or version; the last one typed."""
        # Search
        self.case = "sensitive"
        self.fixed = False
        self.boundary: str | None = None
        """word or line; the last one typed."""
        self.multiline = False
        self.dotall = False
        self.unicode = True
        self.crlf = False
        self.invert = False
        self.max_count: int | None = None
        self.limit: int | None = None
        self.engine = "auto"
        self.repository = ""
        self.kind = "auto"
        self.binary = "auto"
        """auto, text (-a) or suppress (--binary)."""
        self.mmap = "auto"
        """auto, always (--mmap) or never (--no-mmap)."""
        # Filter
        self.globs: list[str] = []
        self.iglobs: list[str] = []
        self.glob_case_insensitive = False
        self.type_changes: list[tuple[str, str]] = []
        """(select | negate | add | clear, value), in order."""
        self.hidden = False
        self.no_ignore_dot = False
        self.no_ignore_exclude = False
        self.no_ignore_files = False
        self.no_ignore_global = False
        self.no_ignore_parent = False
        self.no_ignore_vcs = False
        self.no_require_git = False
        self.ignore_files: list[str] = []
        self.follow = False
        self.one_file_system = False
        self.max_depth: int | None = None
        self.max_filesize: int | None = None
        self.unrestricted = 0
        # Output
        self.before: int | None = None
        self.after: int | None = None
        self.both: int | None = None
        self.passthru = False
        self.byte_offset = False
        self.color = "auto"
        self.colors: list[str] = []
        self.column: bool | None = None
        self.context_separator: bytes | None = b"--"
        self.field_context_separator = b"-"
        self.field_match_separator = b":"
        self.heading: bool | None = None
        self.include_zero = False
        self.line_buffered = False
        self.line_number: bool | None = None
        self.max_columns: int | None = None
        """0 when typed as 0, which means no limit."""
        self.max_columns_preview = False
        self.null = False
        self.only_matching = False
        self.path_separator = b""
        self.quiet = False
        self.replace: str | None = None
        self.stats = False
        self.trim = False
        self.vimgrep = False
        self.with_filename: bool | None = None
        self.no_messages = False
        self.no_ignore_messages = False
