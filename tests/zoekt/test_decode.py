"""Answers of Zoekt, decoded: recorded ones, and ones with fields of any type."""

from __future__ import annotations

import base64
import copy
import json
import random
import time

import pytest

from tests.zoekt import hosts, trees
from triseek.model.code_search import CodeFile, CodeLine
from triseek.model.symbol import Symbol
from triseek.zoekt import decode, web_decode
from triseek.zoekt.failure import HostFailure

KINDS = ("lines", "chunks")
FUZZED = 3_000


def decoded(name: str, context: int = 1) -> dict[bytes, CodeFile]:
    answer = decode.search_answer(trees.recorded(name), "h", context)
    return {file.path: file for file in answer.files}


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def searched(*files: object) -> decode.HostAnswer:
    return decode.search_answer(json.dumps(hosts.found(*files)).encode(), "h", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_lines_have_numbers_offsets_spans_and_context(kind):
    lines = decoded(f"word_{kind}")[b"main.go"].lines

    assert [line.number for line in lines] == [3, 4, 8]
    assert lines[0] == CodeLine(
        number=3, text="// Café needle".encode(), spans=((9, 15),), offset=16, before=(b"",),
        after=(b"type Needle struct {",), score=lines[0].score,
    )  # fmt: skip
    assert lines[2].spans == ((9, 15),)


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_are_bytes_where_columns_would_count_characters(kind):
    line = decoded(f"accent_{kind}")["été.txt".encode()].lines[0]

    assert line.spans == ((0, 5), (13, 18))
    assert all(line.text[start:end] == "été".encode() for start, end in line.spans)


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_that_are_not_utf8_stay_as_they_are(kind):
    first, last = decoded(f"word_{kind}")[b"latin.txt"].lines

    assert first.text == b"caf\xe9 needle"
    assert (last.text, last.after) == (b"last line without an end: needle", ())


@pytest.mark.parametrize("kind", KINDS)
def test_a_carriage_return_is_text(kind):
    assert decoded(f"word_{kind}")[b"crlf.txt"].lines[0].text == b"two needle\r"


@pytest.mark.parametrize("kind", KINDS)
def test_a_match_in_the_name_has_spans_in_the_path(kind):
    file = decoded(f"file_{kind}")[b"docs/needle.md"]

    assert (file.name_spans, file.lines, file.match_count) == (((5, 11),), (), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_match_across_lines_is_in_each_of_them(kind):
    lines = decoded(f"lines_{kind}")[b"latin.txt"].lines

    assert [(line.number, line.spans, line.offset) for line in lines] == [
        (1, ((5, 11),), 0),
        (2, ((0, 4),), 12),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_symbols_have_name_kind_and_place(kind):
    line = decoded(f"symbol_{kind}")[b"main.go"].lines[0]

    assert line.symbol == Symbol("Needle", "struct", 4, 4, 37, 43, "shapes", "package")


@pytest.mark.parametrize("kind", KINDS)
def test_no_files_are_null(kind):
    answer = decode.search_answer(trees.recorded(f"none_{kind}"), "h", 1)

    assert (answer.files, answer.counts) == ((), decode.AnswerCounts())


def test_both_forms_of_matches_give_the_same_lines():
    for query in trees.QUERIES:
        lines, chunks = decoded(f"{query}_lines"), decoded(f"{query}_chunks")
        assert lines.keys() == chunks.keys()
        for path, file in lines.items():
            plain = [line._replace(score=0.0) for line in file.lines]
            assert plain == [line._replace(score=0.0) for line in chunks[path].lines]
            assert file.name_spans == chunks[path].name_spans


def test_the_page_of_a_server_without_rpc_gives_the_same_texts():
    for query in trees.QUERIES:
        page = web_decode.search_answer(trees.recorded(f"{query}_web"), "h").files
        lines = decoded(f"{query}_lines")
        assert {file.path for file in page} == set(lines)
        for file in page:
            if file.path == b"latin.txt":  # the page has no bytes, only characters
                continue
            expected = lines[file.path]
            assert [(line.number, line.text, line.spans) for line in file.lines] == [
                (line.number, line.text, line.spans) for line in expected.lines
            ]
            assert (file.repository, file.language) == (expected.repository, expected.language)


def test_the_page_keeps_the_order_of_the_scores():
    page = web_decode.search_answer(trees.recorded("word_web"), "h").files
    answer = decode.search_answer(trees.recorded("word_lines"), "h", 1).files

    by_score = sorted(page, key=lambda file: -file.score)
    assert [file.path for file in by_score] == [file.path for file in answer]


def test_repositories_are_listed_with_their_figures():
    listed = decode.list_answer(trees.recorded("list"), "h").repositories
    page = web_decode.search_answer(trees.recorded("list_web"), "h").repositories

    assert [repository.name for repository in listed] == ["shapes", "space name", "tools"]
    shapes = listed[0]
    assert (shapes.files, shapes.host, shapes.has_symbols) == (7, "h", True)
    assert shapes.content_bytes > 300
    assert shapes.index_bytes > shapes.content_bytes
    assert shapes.indexed_at == pytest.approx(1795428000.123456, abs=1e-3)
    assert [(r.name, r.files, r.content_bytes) for r in page] == [
        (r.name, r.files, r.content_bytes) for r in listed
    ]


def test_the_sample_of_the_specification_is_understood():
    match = {
        "Line": "ZnVuYyBtYWluKCkgewo=", "LineStart": 69, "LineEnd": 83, "LineNumber": 10,
        "FileName": False,
        "LineFragments": [{"LineOffset": 0, "Offset": 69, "MatchLength": 9, "SymbolInfo": None}],
    }  # fmt: skip
    file = searched(hosts.file_match("r", "m.go", 68000000010, LineMatches=[match])).files[0]

    assert file.lines == (CodeLine(10, b"func main() {", ((0, 9),), 69),)
    assert file.checksum == base64.b64decode("n9fUYqacPXg=")
    assert file.score == 68000000010


@pytest.mark.parametrize(
    ("template", "url"),
    [
        ('{{URLJoinPath "https://example.org/o/r/blob" .Version .Path}}',
         "https://example.org/o/r/blob/c0ffee/a%20dir/x%3F.py"),
        ("https://example.org/{{.Version}}/{{.Path}}#top",
         "https://example.org/c0ffee/a%20dir/x%3F.py#top"),
        ("javascript:alert(1)//{{.Path}}", ""),
        ("https://example.org/{{printf .Path}}", ""),
        ("https://example.org/\u202e{{.Path}}", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_the_url_of_a_file_comes_from_its_repositorys_template(template, url):
    document = hosts.found(hosts.file_match("r", "a dir/x?.py", Version="c0ffee"))
    document["Result"]["RepoURLs"] = {"r": template}

    files = decode.search_answer(json.dumps(document).encode(), "h", 0).files
    assert files[0].url == url


def test_the_url_of_a_submodules_file_comes_from_the_submodule():
    more = {"SubRepositoryName": "sub", "SubRepositoryPath": "vendor/sub", "Version": "v"}
    document = hosts.found(hosts.file_match("r", "vendor/sub/x.py", **more))
    document["Result"]["RepoURLs"] = {"r": "https://r/{{.Path}}", "sub": "https://s/{{.Path}}"}

    files = decode.search_answer(json.dumps(document).encode(), "h", 0).files
    assert files[0].url == "https://s/x.py"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Score": "high"}, r"Result\.Files\[0\]\.Score of its answer is a text instead of a num"),
        ({"FileName": 5}, r"Files\[0\]\.FileName of its answer is a whole number instead of a te"),
        ({"Branches": [["x"]]}, r"Files\[0\]\.Branches\[0\] of its answer is a list instead of a"),
        ({"LineMatches": {}}, r"LineMatches of its answer is an object instead of a list"),
        ({"LineMatches": [7]}, r"LineMatches\[0\] of its answer is a whole number instead of an"),
        ({"LineMatches": [{"Line": "?"}]}, r"LineMatches\[0\]\.Line of its answer is no valid bas"),
        ({"LineMatches": [{"LineNumber": -1}]}, r"LineNumber of its answer is a number out of ra"),
        ({"LineMatches": [{"LineNumber": 1.5}]}, r"LineNumber .* is a number with a fraction in"),
        ({"LineMatches": [{"LineStart": 1 << 70}]}, r"LineStart of its answer is a number out of"),
        ({"LineMatches": [{"FileName": 1}]}, r"FileName of its answer is a whole number instead"),
        ({"Score": 10**400}, r"Score of its answer is a number out of range"),
        ({"ChunkMatches": [{"Ranges": [{"Start": []}]}]}, r"Ranges\[0\]\.Start of .* is a list"),
    ],
)
def test_a_field_of_a_wrong_type_is_named(change, message):
    with pytest.raises(HostFailure, match=message) as failure:
        searched(hosts.file_match("r", "p", **change))

    assert failure.value.state == "wrong"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "no valid JSON"),
        (b"<html>", "no valid JSON"),
        (b"[" * 100_000, "no valid JSON"),
        (b'{"Result": NaN}', "no valid JSON"),
        (b"9" * 10_000, "no valid JSON"),
        (b"\xff\xfe", "no valid JSON"),
        (b"[]", "is a list instead of an object"),
        (b"{}", "has no field Result"),
        (b'{"Result": null}', "has no field Result"),
        (b'{"Result": 3}', "Result of its answer is a whole number"),
    ],
)
def test_a_document_that_is_no_answer_is_refused(body, message):
    with pytest.raises(HostFailure, match=message):
        decode.search_answer(body, "h", 0)


def test_offsets_outside_of_the_line_are_cut_to_it():
    fragments = [
        {"LineOffset": 4, "MatchLength": 1 << 40},
        {"LineOffset": 900, "MatchLength": 2},
        {"LineOffset": 0, "MatchLength": 2},
        {"LineOffset": 1, "MatchLength": 2},  # overlaps the one before
    ]
    match = {"Line": encoded(b"needle\n"), "LineNumber": 0, "LineFragments": fragments}
    line = searched(hosts.file_match("r", "p", LineMatches=[match])).files[0].lines[0]

    assert line.spans == ((0, 2), (4, 6))
    assert line.number == 1


def test_no_answer_takes_more_time_than_it_has_bytes():
    content = b"x\n" * 20_000
    many = [{"Start": {"ByteOffset": 0}, "End": {"ByteOffset": len(content)}}] * 20_000
    chunk = {"Content": encoded(content), "Ranges": many, "ContentStart": {"LineNumber": 1}}
    same = [{"Line": encoded(b"xx"), "LineNumber": 1}] * 20_000
    started = time.process_time()
    answer = searched(
        hosts.file_match("r", "p", LineMatches=None, ChunkMatches=[chunk]),
        hosts.file_match("r", "q", LineMatches=same),
    )

    assert len(answer.files[0].lines) == 20_000
    assert time.process_time() - started < 5


def test_lone_surrogates_do_not_reach_the_results():
    file = searched(hosts.file_match("r\ud800", "p\udfff", Language="\ud800")).files[0]

    assert (file.repository, file.path, file.language) == ("r?", b"p?", "?")


VALUES = [
    None, True, -1, 0, 1 << 80, 1.5, -1e308, "", "x", "n9fU=", "\ud800", "\x1b[2J", [], [None],
    {}, {"x": 1}, [[[]]], "é" * 100, [{}] * 3,
]  # fmt: skip


def _places(value: object) -> list[tuple[object, object]]:
    """Every container of a document with each of its keys."""
    places: list[tuple[object, object]] = []
    if isinstance(value, dict):
        places += [(value, key) for key in value]
        for item in value.values():
            places += _places(item)
    elif isinstance(value, list):
        places += [(value, index) for index in range(len(value))]
        for item in value:
            places += _places(item)
    return places


@pytest.mark.parametrize("name", ["word_chunks", "symbol_lines", "word_web", "list", "list_web"])
def test_any_document_is_decoded_or_refused_by_a_line(name):
    randomness = random.Random(f"decode {name}")
    document = json.loads(trees.recorded(name))
    outcomes = {"decoded": 0, "refused": 0}
    for _ in range(FUZZED // 5):
        changed = copy.deepcopy(document)
        for _ in range(randomness.choice((1, 1, 1, 2, 5))):
            container, key = randomness.choice(_places(changed))
            container[key] = copy.deepcopy(randomness.choice(VALUES))
        body = json.dumps(changed).encode()
        if randomness.random() < 0.05:
            body = body[: randomness.randrange(len(body))]
        try:
            if name.endswith("web"):
                answer = web_decode.search_answer(body, "h")
            elif name == "list":
                answer = decode.list_answer(body, "h")
            else:
                answer = decode.search_answer(body, "h", 1, whole=True)
        except HostFailure as failure:
            refusal = failure
        else:
            refusal = None
            _check(answer)
        outcomes["decoded" if refusal is None else "refused"] += 1
        assert refusal is None or (refusal.state, str(refusal).count("\n")) == ("wrong", 0)
    assert min(outcomes.values()) > FUZZED // 50


def _check(answer: decode.HostAnswer) -> None:
    for file in answer.files:
        numbers = [line.number for line in file.lines]
        assert numbers == sorted(set(numbers))
        for line in file.lines:
            assert isinstance(line.text, bytes)
            assert line.number >= 1
            assert all(0 <= start <= end <= len(line.text) for start, end in line.spans)
            assert list(line.spans) == sorted(line.spans)
        assert all(0 <= start <= end <= len(file.path) for start, end in file.name_spans)
        file.repository.encode()
