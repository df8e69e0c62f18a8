from triseek.recall import excerpt


def test_the_excerpt_holds_the_rarest_terms_together():
    text = "cat " * 200 + "and the dog saw a cat near the zebra. " + "cat " * 200
    begin, end = excerpt.span(text, {"cat": 0.1, "dog": 2.0, "zebra": 3.0})
    assert "dog" in text[begin:end]
    assert "zebra" in text[begin:end]
    assert end - begin <= excerpt.EXCERPT


def test_a_text_without_terms_is_shown_from_its_beginning():
    assert excerpt.span("nothing of it", {"cat": 1.0}) == (0, 13)
    assert excerpt.span("", {}) == (0, 0)


def test_one_endless_word_is_cut():
    text = "x" * 5000 + " cat"
    begin, end = excerpt.span(text, {"cat": 1.0})
    assert 0 <= begin < end <= len(text)
    assert end - begin <= excerpt.EXCERPT
