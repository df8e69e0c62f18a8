from __future__ import annotations

import numpy as np
import xxhash

from triseek.memory.vectors.hashing import Hashing

TEXTS = ["The parseHTTPHeader function fails", "", "日本語 ünïcode \ud800 x_1", "a" * 30_000]


def test_vectors_are_the_same_everywhere() -> None:
    vectors = Hashing().embed(TEXTS)
    assert vectors.shape == (4, 512)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 0])
    assert (vectors == Hashing().embed(TEXTS)).all()
    rounded = np.rint(vectors[0] * 1_000).astype("<i2").tobytes()
    # Vectors are kept: another number here means another `version`.
    assert xxhash.xxh3_64_hexdigest(rounded) == "4a80ad1923b94096"


def test_a_misspelt_word_is_near() -> None:
    query, near, far = Hashing().embed(["authentification", "authentication", "invoices"])
    assert query @ near > 0.2
    assert abs(query @ far) < 0.15


def test_parts_of_identifiers_are_words() -> None:
    query, near = Hashing().embed(["http header", "parseHTTPHeader"])
    assert query @ near > 0.5
