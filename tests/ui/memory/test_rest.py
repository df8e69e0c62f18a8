"""The memory's REST interface: what each route answers, and how bad requests are refused."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from triseek.memory import events
from triseek.memory.drawers import Draft
from triseek.ui.memory.requests import BODY_MAX
from triseek.ui.memory.routes import OPERATIONS

if TYPE_CHECKING:
    from tests.ui.memory.conftest import Client
    from triseek.memory.service import Memory

UNKNOWN = str(uuid.UUID(int=7))
MARKUP = "<script>alert(1)</script>"


@pytest.fixture
def palace(memory: Memory) -> str:
    memory.create("my-project", "about it")
    return "my-project"


def remember(client: Client, palace: str, content: str, **more: Any) -> str:
    body = {"content": content, **more}
    reply = client.send("POST", f"/palaces/{palace}/drawers", body, status=201)
    assert (reply["palace"], reply["status"]) == (palace, "stored")
    return str(reply["drawer_id"])


def contents(reply: Any) -> list[str]:
    return [row["content"] for row in reply]


def test_without_a_memory_reading_makes_none(client: Client, memory: Memory) -> None:
    assert client.ask("GET", "/health").json()["status"] == "ok"
    assert client.get("/palaces") == {"palaces": []}
    assert client.get("/status")["total_drawers"] == 0
    assert client.get("/config")["data_dir"] == memory.folder
    assert client.get("/recall", q="anything")["results"] == []
    client.get("/palaces/my-project", status=404)
    client.send("DELETE", "/palaces/my-project", status=404)
    assert not memory.exists()


def test_a_palace_is_made_once_and_kept(client: Client) -> None:
    body = {"name": "my-project", "description": "first"}
    assert client.send("POST", "/palaces", body, status=201) == {
        "palace_id": "my-project", "status": "created",
    }  # fmt: skip
    remember(client, "my-project", "it stays")
    assert client.send("POST", "/palaces", {"name": "my-project"})["status"] == "exists"
    (listed,) = client.get("/palaces")["palaces"]
    assert (listed["id"], listed["description"], listed["drawer_count"]) == (
        "my-project", "first", 1,
    )  # fmt: skip


def test_a_palace_is_renamed_and_described(client: Client, palace: str) -> None:
    client.send("POST", "/palaces", {"name": "other"}, status=201)
    remember(client, palace, "it stays")
    client.send("PATCH", f"/palaces/{palace}", {"name": "other"}, status=409)
    changed = client.send(
        "PATCH", f"/palaces/{palace}", {"name": "new", "description": "", "identity": "A parser."}
    )
    assert (changed["id"], changed["description"], changed["drawer_count"]) == ("new", "", 1)
    assert client.get("/palaces/new")["identity"] == "A parser."
    client.get(f"/palaces/{palace}", status=404)
    client.send("PATCH", "/palaces/new", {"name": "../x"}, status=400)
    client.send("PATCH", "/palaces/new", {"name": 5}, status=422)
    assert client.send("PATCH", "/palaces/new", {})["description"] == ""


def test_a_palace_with_anything_in_it_is_deleted_only_by_force(client: Client, palace: str) -> None:
    drawer = remember(client, palace, "it stays")
    refused = client.send("DELETE", f"/palaces/{palace}", status=409)
    assert "1 drawers" in refused["error"]
    client.send("DELETE", f"/palaces/{palace}?force=false", status=409)
    client.send("DELETE", f"/palaces/{palace}/drawers/{drawer}")
    fact = {"subject": "a", "predicate": "is", "object": "b"}
    client.send("POST", f"/palaces/{palace}/kg", fact, status=201)
    client.send("DELETE", f"/palaces/{palace}", status=409)
    assert client.send("DELETE", f"/palaces/{palace}?force=true")["status"] == "deleted"
    assert client.get("/palaces")["palaces"] == []


def test_an_empty_palace_is_deleted_without_force(client: Client, palace: str) -> None:
    assert client.send("DELETE", f"/palaces/{palace}")["status"] == "deleted"


def test_drawers_are_listed_by_room_tag_and_time(client: Client, palace: str) -> None:
    remember(client, palace, "plain")
    remember(client, palace, "high", room="backend", tags=["a", 5, "b"], importance=0.9)
    path = f"/palaces/{palace}/drawers"
    rows = client.get(path)["drawers"]
    assert contents(rows) == ["high", "plain"]
    assert rows[0]["tags"] == ["a", "b"]
    assert rows[0]["room"] == "Backend"
    assert rows[0]["source_file"] is None
    assert contents(client.get(path, room="BACKEND")["drawers"]) == ["high"]
    assert contents(client.get(path, tag="b")["drawers"]) == ["high"]
    assert contents(client.get(path, limit=1, offset=1)["drawers"]) == ["plain"]
    assert contents(client.get(path, since="2001-01-01")["drawers"]) == ["high", "plain"]
    assert client.get(path, since="2999-01-01T00:00:00Z")["drawers"] == []
    info = client.get(f"/palaces/{palace}")
    assert info["rooms"] == [
        {"name": "Backend", "drawer_count": 1}, {"name": "General", "drawer_count": 1},
    ]  # fmt: skip
    assert [tag["name"] for tag in info["tags"]] == ["a", "b"]


def test_a_drawer_is_forgotten_and_brought_back(client: Client, palace: str) -> None:
    drawer = remember(client, palace, "the retry waits a second")
    path = f"/palaces/{palace}/drawers/{drawer}"
    client.send("POST", f"{path}/restore", status=404)
    assert client.send("DELETE", path)["status"] == "deleted"
    assert client.get(f"/palaces/{palace}/recall", q="retry")["results"] == []
    client.send("DELETE", path, status=404)
    assert client.send("POST", f"{path}/restore")["status"] == "restored"
    (row,) = client.get(f"/palaces/{palace}/recall", q="retry")["results"]
    assert row["id"] == drawer
    assert client.send("DELETE", f"{path}?purge=true")["status"] == "deleted"
    client.send("POST", f"{path}/restore", status=404)
    client.send("DELETE", f"/palaces/{palace}/drawers/{UNKNOWN}", status=404)
    bad = client.send("DELETE", f"/palaces/{palace}/drawers/nonsense", status=400)
    assert "UUID" in bad["error"]


def test_recall_keeps_essentials_apart(client: Client, palace: str) -> None:
    remember(client, palace, "the most important of all", importance=1.0)
    remember(client, palace, "the retry waits a second", tags=["http"], room="backend")
    client.send("PATCH", f"/palaces/{palace}", {"identity": "A client of HTTP."})
    path = f"/palaces/{palace}/recall"
    reply = client.get(path, q="retry waits", top_k=5)
    assert contents(reply["results"]) == ["the retry waits a second"]
    assert (reply["results"][0]["layer"], reply["results"][0]["palace_id"]) == (2, palace)
    assert 0 < reply["results"][0]["score"] <= 1
    assert reply["context"]["identity"] == "A client of HTTP."
    assert "the most important of all" in contents(reply["context"]["essentials"])
    assert client.get(path, q="retry", deep="true")["results"][0]["layer"] == 3
    assert client.get(path, q="retry", tag="other")["results"] == []
    assert client.get(path, q="retry", room="frontend")["results"] == []
    assert client.get(path, q="retry", since="2999-01-01")["results"] == []
    assert client.get(path, q="retry", top_k=0)["results"] == []


def test_several_palaces_are_recalled_together(client: Client, memory: Memory) -> None:
    for name in ("a", "b", "c"):
        memory.create(name)
        memory.set_identity(name, "an identity")
        memory.remember(name, Draft(text=f"the retry of {name} waits"))
        memory.remember(name, Draft(text="an essential", importance=1.0))
    reply = client.get("/recall", q="retry waits")
    assert sorted(contents(reply["results"])) == [f"the retry of {name} waits" for name in "abc"]
    assert "context" not in reply
    reply = client.get("/recall", q="retry", palaces="c,a")
    assert {row["palace_id"] for row in reply["results"]} == {"a", "c"}
    assert len(client.get("/recall", q="retry", top_k=2)["results"]) == 2
    client.get("/recall", q="retry", palaces="a,unknown", status=404)


def test_the_graph_of_a_time_and_around_a_subject(client: Client, palace: str) -> None:
    path = f"/palaces/{palace}/kg"
    for subject, target in (("api", "flask"), ("worker", "api"), ("mail", "worker")):
        fact = {"subject": subject, "predicate": "uses", "object": target, "provenance": "test"}
        assert client.send("POST", path, fact, status=201)["status"] == "asserted"
        time.sleep(0.003)
    before = client.get(path, subject="api")["triples"][0]
    assert before["valid_to"] is None
    time.sleep(0.003)
    fact = {"subject": "api", "predicate": "uses", "object": "starlette", "confidence": 7}
    client.send("POST", path, fact, status=201)
    (now,) = client.get(path, subject="api")["triples"]
    assert (now["object"], now["confidence"]) == ("starlette", 1.0)
    history = client.get(path, subject="api", history="true")["triples"]
    assert [each["object"] for each in history] == ["flask", "starlette"]
    assert history[0]["valid_to"] == history[1]["valid_from"]
    then = client.get(path, subject="api", as_of=before["valid_from"])["triples"]
    assert [each["object"] for each in then] == ["flask"]

    graph = client.get(f"{path}/graph")
    assert (graph["triple_count"], graph["truncated"]) == (3, False)
    assert set(graph["nodes"]) == {"api", "worker", "mail", "starlette"}
    assert (graph["first"], graph["last"]) == (before["valid_from"], now["valid_from"])
    graph = client.get(f"{path}/graph", as_of=before["valid_from"])
    assert graph["nodes"] == ["api", "flask"]
    assert len(client.get(f"{path}/graph", history="1")["triples"]) == 4
    graph = client.get(f"{path}/graph", subject="mail")
    assert [each["subject"] for each in graph["triples"]] == ["mail"]
    graph = client.get(f"{path}/graph", subject="mail", depth=2)
    assert [each["subject"] for each in graph["triples"]] == ["worker", "mail"]
    graph = client.get(f"{path}/graph", limit=1)
    assert graph["truncated"]
    assert [each["object"] for each in graph["triples"]] == ["starlette"]

    subjects = client.get(f"{path}/subjects")["subjects"]
    assert subjects[0] == {"subject": "api", "triple_count": 1}
    assert client.get(f"{path}/subjects", prefix="wo")["subjects"] == [
        {"subject": "worker", "triple_count": 1}
    ]


def test_several_objects_of_one_predicate(client: Client, palace: str) -> None:
    path = f"/palaces/{palace}/kg"
    for target in ("bob", "carol"):
        fact = {"subject": "alice", "predicate": "knows", "object": target, "multi": True}
        client.send("POST", path, fact, status=201)
    triples = client.get(path, subject="alice")["triples"]
    assert [each["object"] for each in triples] == ["bob", "carol"]


def test_a_dense_neighbourhood_is_bounded(client: Client, memory: Memory, palace: str) -> None:
    for number in range(60):
        memory.assert_fact(palace, ("hub", "has", f"part {number}"), multi=True)
        memory.assert_fact(palace, (f"part {number}", "is", "a part"))
    graph = client.get(f"/palaces/{palace}/kg/graph", subject="hub", depth=3, limit=70)
    assert len(graph["triples"]) == 70
    assert client.get(f"/palaces/{palace}/kg/graph", subject="hub", limit=0)["triples"] == []


def test_duplicates_are_consolidated(client: Client, palace: str) -> None:
    assert client.get("/dream/status") == {"waiting": 0, "last_run": None}
    text = "The retry waits one second, and doubles the wait up to thirty seconds."
    for _ in range(2):
        remember(client, palace, text)
    assert client.get(f"/palaces/{palace}/dream/status")["waiting"] == 2
    plan = client.send("POST", "/dream/run", {"dry_run": True})
    assert (plan["dry_run"], plan["merged"]) == (True, 1)
    assert len(client.get(f"/palaces/{palace}/drawers")["drawers"]) == 2
    done = client.send("POST", "/dream/run", {"palaces": [palace]})
    assert (done["status"], done["merged"], done["run"]) == ("done", 1, 1)
    assert contents(client.get(f"/palaces/{palace}/drawers")["drawers"]) == [text]
    reply = client.get(f"/palaces/{palace}/dream/status")
    assert reply["waiting"] == 0
    assert (reply["last_run"]["run"], reply["last_run"]["merged"]) == (1, 1)
    assert client.get("/dream/status")["last_run"] == reply["last_run"]
    with client.memory.database.read() as connection:
        batch, _ = events.after(connection, 0, 100)
    assert [event.kind for event in batch][-1] == "dream_completed"
    assert json.loads(batch[-1].detail)["merged"] == 1
    client.send("POST", "/dream/run", {"palaces": ["unknown"]}, status=404)
    client.send("POST", "/dream/run", {"palaces": [5]}, status=404)
    client.send("POST", "/dream/run", {"palaces": "all"}, status=422)
    client.send("POST", "/dream/run", {"dry_run": "yes"}, status=422)


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("recall", {}),
        ("recall", {"q": "   "}),
        ("recall", {"q": "x" * 10_001}),
        ("recall", {"q": "x", "top_k": "-1"}),
        ("recall", {"q": "x", "top_k": "ten"}),
        ("recall", {"q": "x", "top_k": "9" * 50}),
        ("recall", {"q": "x", "deep": "perhaps"}),
        ("recall", {"q": "x", "since": "yesterday"}),
        ("recall", {"q": "x", "since": "9" * 16}),
        ("recall", {"q": "x", "room": "y" * 300}),
        ("recall", {"q": "x", "room": "a\x00b"}),
        ("drawers", {"limit": "1.5"}),
        ("drawers", {"limit": "1001"}),
        ("drawers", {"since": "2026-13-45"}),
        ("kg", {}),
        ("kg", {"subject": "a\nb"}),
        ("kg", {"subject": "a", "as_of": "<b>"}),
        ("kg/graph", {"depth": "9"}),
        ("kg/graph", {"as_of": "0x10"}),
        ("kg/graph", {"limit": "5001"}),
        ("kg/subjects", {"limit": "\u0663"}),
    ],
)
def test_bad_parameters_get_one_line(
    client: Client, palace: str, path: str, params: dict[str, str]
) -> None:
    client.get(f"/palaces/{palace}/{path}", status=400, **params)


@pytest.mark.parametrize("query", ['"', "a AND", "NEAR(", "* OR *", "\x00", "{col}: x", "-"])
def test_a_query_has_no_syntax(client: Client, palace: str, query: str) -> None:
    remember(client, palace, "something")
    client.get(f"/palaces/{palace}/recall", q=query)


HOSTILE: list[Any] = [
    None, 5, "text", [], True, {}, {"content": None}, {"content": 5}, {"content": ["x"]},
    {"content": {"a": 1}}, {"content": "x", "room": 5}, {"content": "x", "tags": "a,b"},
    {"content": "x", "tags": {"a": 1}}, {"content": "x", "importance": "high"},
    {"content": "x", "importance": True}, {"content": "x", "importance": [1]},
    {"content": "x", "source_file": 7}, {"text": "the name that the tool has"},
]  # fmt: skip


@pytest.mark.parametrize("body", HOSTILE, ids=repr)
def test_a_drawer_of_another_form_is_refused(client: Client, palace: str, body: Any) -> None:
    client.send("POST", f"/palaces/{palace}/drawers", body, status=422)
    assert client.get(f"/palaces/{palace}/drawers")["drawers"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"content": "  "},
        {"content": "x" * 100_001},
        {"content": "x", "room": "a\nb"},
        {"content": "x", "room": "y" * 201},
        {"content": "x", "tags": ["a\x07"]},
        {"content": "x", "tags": [str(number) for number in range(51)]},
    ],
)
def test_a_bad_drawer_is_refused(client: Client, palace: str, body: Any) -> None:
    client.send("POST", f"/palaces/{palace}/drawers", body, status=400)
    assert client.get(f"/palaces/{palace}/drawers")["drawers"] == []


def test_odd_text_is_kept(client: Client, palace: str) -> None:
    raw = b'{"content": "\\ud800 lone ' + MARKUP.encode() + b'", "tags": ["' + MARKUP.encode()
    headers = {"Content-Type": "application/json; charset=utf-8"}
    answer = client.ask(
        "POST", f"/api/v1/palaces/{palace}/drawers", content=raw + b'"]}', headers=headers
    )
    assert answer.status_code == 201, answer.text
    (row,) = client.get(f"/palaces/{palace}/drawers")["drawers"]
    assert row["content"] == f"? lone {MARKUP}"
    assert row["tags"] == [MARKUP]
    remember(client, palace, "not a number", importance=10**400 // 10**399)
    big = b'{"content": "x", "importance": 1' + b"0" * 400 + b"}"
    answer = client.ask("POST", f"/api/v1/palaces/{palace}/drawers", content=big, headers=headers)
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("content", "media_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"name": NaN}', "application/json", 422),
        (b'{"name": "x"}', "text/plain", 415),
        (b'{"name": "x"}', "application/x-www-form-urlencoded", 415),
        (b"", "application/json", 422),
    ],
)
def test_a_body_that_is_no_json_object_is_refused(
    client: Client, memory: Memory, content: bytes, media_type: str, status: int
) -> None:
    headers = {"Content-Type": media_type}
    answer = client.ask("POST", "/api/v1/palaces", content=content, headers=headers)
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["error"]
    assert not memory.exists()


def test_a_large_body_is_refused_by_its_length_or_once_it_is_read(client: Client) -> None:
    headers = {"Content-Type": "application/json"}
    body = json.dumps({"name": "x", "description": "y" * BODY_MAX}).encode()
    assert client.ask("POST", "/api/v1/palaces", content=body, headers=headers).status_code == 413
    parts = (body[at : at + 65_536] for at in range(0, len(body), 65_536))
    answer = client.ask("POST", "/api/v1/palaces", content=parts, headers=headers)
    assert answer.status_code == 413
    assert client.get("/palaces")["palaces"] == []


@pytest.mark.parametrize("name", ["../x", "a/b", "", " ", "a\nb", "-rf", "x" * 101, "..", "\ud800"])
def test_a_hostile_palace_is_refused(client: Client, name: str) -> None:
    raw = json.dumps({"name": name}).encode()
    headers = {"Content-Type": "application/json"}
    answer = client.ask("POST", "/api/v1/palaces", content=raw, headers=headers)
    assert answer.status_code == 400, answer.text
    assert client.get("/palaces")["palaces"] == []


@pytest.mark.parametrize("path", ["/palaces/a%2Fb", "/palaces/%2e%2e%2fx/drawers", "/nothing", "/"])
def test_a_path_that_is_none_is_not_found(client: Client, palace: str, path: str) -> None:
    answer = client.ask("GET", f"/api/v1{path}")
    assert answer.status_code == 404
    assert list(answer.json()) == ["error"]


def test_a_method_that_a_path_does_not_take(client: Client, palace: str) -> None:
    answer = client.ask("PUT", "/api/v1/palaces")
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]
    assert list(answer.json()) == ["error"]
    assert client.ask("HEAD", "/api/v1/palaces").content == b""


def test_every_operation_says_its_route() -> None:
    for path, by_method in OPERATIONS.items():
        shown = path.replace("{palace}", "{id}")
        for method, operation in by_method.items():
            assert (operation.__doc__ or "").startswith(f"{method} {shown}")
