"""The on-disk format of an index, described in full.

    indexes/<root key>/
      CURRENT                 which segments are live; replacing this file is the commit
      lock                    held by the one writer
      segments/<id>/          written once, never changed
        segment.json          what the segment holds: every file's length, dtype and checksum
        trigrams.npy          uint32[n]      distinct trigrams, sorted; key b0 << 16 | b1 << 8 | b2
        offsets.npy           uint64[n + 1]  where each trigram's list begins in postings
        frequency.npy         uint32[n]      how many blocks have the trigram
        postings.npy          uint8[m]       block numbers: varints of steps, the first from zero
        pages.npy             uint64[p]      xxh3_64 of every 64 KiB of the four columns above
        files.arrow           one row per file the walk found, in path order (see FILES)
        blocks.arrow          one row per block, in file order (see BLOCKS)
        directories.arrow     every directory the walk entered, with its times
        watched.arrow         every ignore file the walk considered, existing or not, and its times
        excluded.arrow        what the walk left out of the directories it entered
                              (these three only in segments made by a walk; CURRENT names the
                              segment whose tables are valid)
        dead.<other id>.npy   uint32: files of an older segment this one replaces or removes

All numbers are little-endian. `.npy` columns have the 128-byte version 1.0 header that NumPy
writes; `.arrow` tables are Arrow IPC files with one record batch.

`CURRENT` is one line of JSON, then a line with the xxh3_64 of the first, in hexadecimal:
`{"format": 2, "generation": 7, "root": "…", "segments": [{"id", "xxh3", "dead",
"dead_entry"}…], "tree": "id", "text_bytes": 1298415320}`.
`xxh3` is the checksum of that segment's `segment.json`. `dead` names the column
(`<id>/dead.….npy`) of its dead files. `tree` is the segment whose directories, watched and
excluded tables are the newest; it is one of those listed. A generation's segments are listed
oldest first; a merged one takes the place of its first input. Block and file numbers are per
segment.

`segment.json` holds `{"format", "id", "created_ns", "scanned_ns", "columns": {name: entry},
"tables": {name: entry}, "files", "searchable", "blocks", "text_bytes", "postings"}` with
`entry` as `store.column` and `store.table` write them: dtype and length, or rows and size, and
either `xxh3`, the checksum of the whole, or `first_page`: where the column's page checksums begin
in `pages.npy`, one for each 64 KiB of its values.

A merged segment has two more times. `scanned_ns` is the time of its inputs' first walk,
`files_scanned_ns` that of the last. Files that were racy by their own segment's time have
`ctime_ns` 0, which no real file has, so that their content is compared before they are trusted.
`tree_scanned_ns` is when the walk behind the tree's tables began, if the segment holds them. Where
these are absent `scanned_ns` is used. A program that ignores them and uses `scanned_ns` is
correct, but slower.

Opening a segment maps its files, compares their sizes and headers with the entries and verifies
`segment.json`, `pages.npy` and the dead files. A page of a column and a table as a whole are
verified when they are first read.

Two numbers identify versions. FORMAT says whether this program can read the index: a higher one
raises `FormatTooNew`, one lower than FORMAT_OLDEST counts as no index, so that the next build or
update replaces it. FEATURE says whether a rebuild would improve the index; it is only advice.

    FORMAT 1    2026-11  the first; it leaves out every file that holds a NUL byte
    FORMAT 2    2026-11  files whose first NUL comes late are indexed up to it (FLAG_BINARY)
    FEATURE 1   2026-11  16 KiB blocks; trigrams with a newline left out, worth 8 % of postings
"""

from __future__ import annotations

from typing import Literal

Schema = tuple[tuple[str, str], ...]
"""Names of a table's columns and the kind of each."""

FORMAT = 2
FORMAT_OLDEST = 2
"""The oldest format that gives correct results."""
FEATURE = 1

CURRENT = "CURRENT"
SEGMENTS = "segments"
SEGMENT_JSON = "segment.json"

TRIGRAMS = "trigrams"  # uint32
OFFSETS = "offsets"  # uint64
FREQUENCY = "frequency"  # uint32
POSTINGS = "postings"  # uint8
PAGED = (TRIGRAMS, OFFSETS, FREQUENCY, POSTINGS)
"""The columns whose page checksums are in `PAGES`, in this order."""
PAGES = "pages"  # uint64

FILES = (
    ("path", "binary"),  # relative to the root, "/"-separated, as the file system has it
    ("size", "int64"),  # bytes, from the stat taken before the file was read
    ("mtime_ns", "int64"),
    ("ctime_ns", "int64"),
    ("inode", "int64"),
    ("xxh3", "uint64"),  # xxh3_64 of the content (FLAG_BINARY: see there); 0 when it was not read
    ("lines", "int64"),
    ("flags", "uint8"),  # FLAG_*
    ("skip", "uint8"),  # SKIP_*: why the content is not searched
    ("language", "string"),  # ripgrep's type name, else the extension, else ""
)
BLOCKS = (
    ("file", "uint32"),  # row in FILES
    ("offset", "uint64"),  # bytes from the start of the file's text
    ("length", "uint64"),  # bytes
    ("first_line", "uint32"),  # 1-based
    ("flags", "uint8"),  # 1: holds a byte >= 0x80
)
DIRECTORIES = (
    ("path", "binary"),  # "" is the root
    ("mtime_ns", "int64"),
    ("ctime_ns", "int64"),
    ("inode", "int64"),  # -1: it may not be read, so its contents are unknown
)
WATCHED = (
    ("path", "binary"),  # absolute
    ("size", "int64"),  # -1: it did not exist
    ("mtime_ns", "int64"),
    ("ctime_ns", "int64"),
    ("inode", "int64"),
)
EXCLUDED = (
    ("path", "binary"),
    ("is_dir", "bool"),
    ("hidden", "bool"),  # left out for its leading dot alone; no ignore rule matches it
)
TREE_TABLES: dict[str, Schema] = {
    "directories": DIRECTORIES,
    "watched": WATCHED,
    "excluded": EXCLUDED,
}
"""The tables that only a segment made by a walk holds."""

FLAG_TRANSCODED = 1  # the text is not the bytes on disk: it had a byte order mark
FLAG_ALLOWLISTED = 2  # a hidden place that ripgrep would leave out
FLAG_BINARY = 8  # blocks, and the digest of bytes on disk, end at the first NUL byte

SKIP_NONE = 0
SKIP_BINARY = 1
SKIP_UNREADABLE = 2
SKIP_REASONS: dict[int, Literal["binary", "unreadable"]] = {
    SKIP_BINARY: "binary",
    SKIP_UNREADABLE: "unreadable",
}
