"""What an index says of every live file, whatever segments and numbers it says it in."""

import numpy as np

from triseek.index.reader import IndexReader

COLUMNS = ("size", "inode", "xxh3", "lines", "flags", "skip")


def contents(index_dir):
    """{path: (columns, language, [(block's columns, its trigrams)])}, every list decoded."""
    found = {}
    for view in IndexReader.open(index_dir).views:
        blocks = blocks_of(view)
        files = view.segment.files
        columns = zip(*(files.numbers(name).tolist() for name in COLUMNS), strict=True)
        told = zip(view.names.all(), columns, files.strings("language"), strict=True)
        for number, (path, *rest) in enumerate(told):
            if view.alive[number]:
                assert path not in found, path
                found[path] = (*rest, blocks.get(number, []) if view.searchable[number] else [])
    return found


def blocks_of(view):
    """{file: [((offset, length, first line, flags), trigrams)]}"""
    trigrams = [set() for _ in range(view.blocks)]
    for trigram in view.segment.trigrams.tolist():
        for block in view._decode(trigram, view.blocks).tolist():
            trigrams[block].add(trigram)
    names = ("offset", "length", "first_line", "flags")
    columns = [view.segment.blocks.numbers(name).tolist() for name in names]
    found = {}
    for file, grams, *rest in zip(view.block_file.tolist(), trigrams, *columns, strict=True):
        found.setdefault(file, []).append((tuple(rest), grams))
    return found


def is_in_order(index_dir):
    """Whether every segment's files are in path order and no dead file is left in merged ones."""
    views = IndexReader.open(index_dir).views
    keys = [[path.replace(b"/", b"\0") for path in view.names.all()] for view in views]
    return all(mine == sorted(mine) for mine in keys)


def all_alive(view):
    return bool(np.all(view.alive))
