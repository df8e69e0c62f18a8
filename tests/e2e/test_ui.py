"""The page, used as a person uses it: a real browser, a real repository, real sessions."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.app.worked import git
from tests.e2e.browsing import Visit, World, told
from tests.e2e.serving import daemon, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.long]

TREE = {
    "src/retry.py": "def retry(times):\n    return [attempt() for _ in range(times)]\n",
    "src/deep/client.py": "from src.retry import retry\n\nretry(3)  # Retry-After is ignored\n",
    "docs/notes.md": "Retry later, not at once.\n",
    "<img src=x onerror=alert(1)>.txt": "retry <b onclick=alert(2)>bold</b>\n",
}
MARKUP = '<script>alert(3)</script><img src=x onerror="alert(4)">'
expect.set_options(timeout=15_000)  # other work may go on beside this
TABS = ("search", "sessions", "snapshots", "index")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("project") / "retries"
    for name, text in TREE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-qb", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    world = World(tmp_path_factory.mktemp("home"), root.resolve())
    world.triseek("build", str(root))
    with daemon(world.home):
        world.ask("preload_root", exact=True)
        until(lambda: world.ask("sync")["watched"])
        work(world)
        yield world


def work(world: World) -> None:
    """A session of two agents, with two snapshots, and one that was given up."""
    world.ask("session_open", goal="Try HTTP/3", session_id="spike")
    world.ask("session_close", session_id="spike", status="abandoned")
    world.ask("session_open", goal=f"Honour Retry-After {MARKUP}", session_id="backoff")
    src = world.root / "src"
    world.note("backoff", "prompt", prompt=f"Make it wait. {MARKUP}", harness="claude_code")
    world.note("backoff", "read", path=str(src / "retry.py"), lines=[1, 2], harness="claude_code")
    world.note(
        "backoff", "search", tool="search_content", arguments={"query": "Retry-Later"},
        search_id="search-0001", total_line_matches=0, files_with_matches=0, result_paths=[],
        harness="claude_code",
    )  # fmt: skip
    pins = [{"path": "src/retry.py", "line_start": 1, "line_end": 1}]
    first = world.ask("session_snapshot", session_id="backoff", source_harness="claude_code",
                      pinned_snippet_paths=pins)  # fmt: skip
    world.triseek("brief", first["snapshot_id"])
    world.note("backoff", "compact", source="auto", harness="claude_code")
    (src / "retry.py").write_text(TREE["src/retry.py"] + "    # and wait\n")
    world.note("backoff", "edit", path=str(src / "retry.py"), harness="codex")
    world.note("backoff", "read", path=str(src / "deep" / "client.py"), harness="codex")
    world.ask("session_snapshot", session_id="backoff", source_harness="codex")


@pytest.fixture(scope="module")
def link(world: World) -> Iterator[str]:
    with world.page() as url:
        until(lambda: told(url, "search?q=retry")["strategy"] == "triseek_indexed")
        yield url


@pytest.fixture
def page(visit: Visit) -> Page:
    return visit.open()


def found(page: Page) -> list[str]:
    """The files of the results that are shown."""
    return page.locator(".results .file").evaluate_all("all => all.map(one => one.dataset.path)")


def tab(page: Page, name: str) -> None:
    page.click(f'[data-tab="{name}"]')


# Searching


def test_results_come_as_one_types(page: Page) -> None:
    page.locator("#query").press_sequentially("def retry", delay=20)

    line = page.locator('[data-path="src/retry.py"] .line').first
    expect(line.locator("mark")).to_have_text("def retry")
    expect(line.locator(".tag")).to_have_text("def")
    expect(line.locator(".no")).to_have_text("1")
    expect(page.locator(".said")).to_contain_text("1 line in 1 file")
    expect(page.locator(".said")).to_contain_text("by the index")
    expect(page.locator(".said")).to_contain_text("synced")
    expect(page.locator(".said .ms")).to_have_text(re.compile(r"^[\d.]+ ms$"))


def test_an_edit_is_found_at_once(page: Page, world: World) -> None:
    page.fill("#query", "brandnew")
    expect(page.locator(".empty h2")).to_have_text("No matches")
    (world.root / "src" / "added.py").write_text("brandnew = 1\n")

    page.press("#query", "Enter")

    expect(page.locator('[data-path="src/added.py"] mark')).to_have_text("brandnew")


def test_an_answer_to_what_stood_there_before_is_never_shown(visit: Visit) -> None:
    page = visit.open()
    given_up: list[str] = []
    page.on("requestfailed", lambda request: given_up.append(request.url))
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile(r"q=retry&|q=retry$"), hold)
    page.fill("#query", "retry")
    until(lambda: page.wait_for_timeout(20) or held)

    page.fill("#query", "range")
    expect(page.locator(".results mark").first).to_have_text("range")

    assert [url for url in given_up if "q=retry" in url]
    assert found(page) == ["src/retry.py"]


def test_every_option_changes_what_is_found(page: Page) -> None:
    page.fill("#query", "Retry")
    expect(page.locator('[data-path="docs/notes.md"]')).to_be_visible()
    assert "src/retry.py" not in found(page)

    page.select_option("select", "insensitive")
    expect(page.locator('[data-path="src/retry.py"]')).to_be_visible()
    page.fill(".glob", "*.md")
    expect(page.locator(".said")).to_contain_text("1 line in 1 file")
    page.fill(".glob", "")
    page.fill("#query", "retr")
    page.click('[data-option="word"]')
    expect(page.locator(".empty h2")).to_have_text("No matches")
    page.click('[data-option="word"]')
    page.click('[data-option="mode"]')
    page.fill("#query", r"range\(\w+\)")
    expect(page.locator("mark")).to_have_text(["range(times)"])
    page.click("text=File names")
    page.fill("#query", "client")
    expect(page.locator('[data-path="src/deep/client.py"]')).to_be_visible()


def test_nothing_says_what_was_searched_and_offers_what_would_match(page: Page) -> None:
    page.select_option("select", "sensitive")
    page.fill("#query", "DEF RETRY")

    expect(page.locator(".empty")).to_contain_text(re.compile(r"Searched \d files"))
    page.click(".would")

    expect(page.locator("mark").first).to_have_text("def retry")
    expect(page.locator("select")).to_have_value("insensitive")


def test_a_mistake_in_a_pattern_is_said_where_results_would_be(visit: Visit) -> None:
    page = visit.open()
    page.click('[data-option="mode"]')
    page.fill("#query", "(retry")

    expect(page.locator(".wrong")).to_be_visible()
    page.fill("#query", "(retry)")
    expect(page.locator("mark").first).to_have_text("retry")

    # The browser itself says that a request was refused, which is what it should have been.
    refused = [text for text in visit.said if "400" in text]
    assert visit.said == refused
    visit.said.clear()


def test_keys_are_enough(page: Page) -> None:
    tab(page, "sessions")
    expect(page.locator(".list")).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("attempt")
    expect(page.locator("mark")).to_have_text(["attempt"])

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".line:focus .no")).to_have_text("2")
    page.keyboard.press("Enter")

    expect(page.locator(".peek .meant")).to_contain_text("return [attempt()")
    page.keyboard.press("Escape")
    expect(page.locator(".peek")).to_be_hidden()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#query")).to_be_focused()


def test_a_search_is_in_the_address_and_the_token_is_not(visit: Visit) -> None:
    page = visit.open()
    page.fill("#query", "attempt")
    expect(page.locator("mark")).to_have_text(["attempt"])

    assert page.url == f"{visit.own}#/search?q=attempt"
    page.reload()

    expect(page.locator("mark")).to_have_text(["attempt"])
    assert "token" not in page.url


# Sessions


def test_a_session_is_a_timeline(page: Page) -> None:
    tab(page, "sessions")
    expect(page.locator(".list li").filter(has_text="Honour Retry-After")).to_have_count(1)
    expect(page.locator(".list li").filter(has_text="Try HTTP/3")).to_contain_text("abandoned")
    page.click("text=Honour Retry-After")

    expect(page.locator(".entry")).not_to_have_count(0)
    kinds = page.locator(".entry").evaluate_all("all => all.map(one => one.dataset.kind)")
    assert kinds[-7:] == [
        "read", "edit", "compact", "search", "read", "prompt", "session_open",
    ]  # fmt: skip
    search = page.locator(".entry[data-kind=search]")
    expect(search).to_contain_text("Retry-Later")
    expect(search).to_contain_text("found nothing")
    expect(search.locator(".who")).to_contain_text("claude code")
    expect(page.locator(".entry[data-kind=read]").last).to_contain_text("src/retry.py")
    expect(page.locator(".entry[data-kind=edit] .who")).to_have_text("codex")


def test_a_timeline_is_filtered(page: Page) -> None:
    tab(page, "sessions")
    page.click("text=Honour Retry-After")
    page.click('[data-group="edits"]')

    expect(page.locator(".entry")).to_have_count(1)
    expect(page.locator(".entry")).to_contain_text("src/retry.py")
    page.click('[data-group="other"]')
    expect(page.locator(".entry[data-kind=session_open]")).to_be_visible()


def test_a_new_entry_appears_by_itself(page: Page, world: World) -> None:
    world.ask("session_open", goal="Watched while it grows", session_id="grows")
    tab(page, "sessions")
    page.click("text=Watched while it grows")
    expect(page.locator(".entry")).to_have_count(1)

    world.note("grows", "prompt", prompt="Something new", harness="codex")

    expect(page.locator(".entry").first).to_contain_text("Something new")
    expect(page.locator(".head")).to_contain_text("2 entries")


def test_a_long_log_is_paged_to_its_beginning(page: Page, world: World) -> None:
    world.ask("session_open", goal="A long one", session_id="long")
    notes = [{"kind": "prompt", "payload": {"prompt": f"number {n}"}} for n in range(120)]
    world.ask("session_note", session_id="long", notes=notes)
    tab(page, "sessions")
    page.click("text=A long one")
    expect(page.locator(".entry")).to_have_count(50)

    page.click("text=Earlier")
    expect(page.locator(".entry")).to_have_count(100)
    page.click("text=Earlier")

    expect(page.locator(".entry")).to_have_count(121)
    expect(page.locator(".timeline")).to_contain_text("The beginning")
    prompts = page.locator(".prompt").all_inner_texts()
    assert prompts == [f"number {n}" for n in reversed(range(120))]


# Snapshots


def test_a_snapshot_shows_what_it_holds(page: Page) -> None:
    tab(page, "snapshots")
    asked = page.locator(".snaps .row").filter(has_not_text="before a compaction")
    asked.filter(has_text="claude code").click()

    expect(page.locator(".card").filter(has_text="Manifest")).to_contain_text("on main")
    expect(page.locator(".briefing")).to_contain_text("## Ruled out")
    expect(page.locator(".briefing")).to_contain_text("finds nothing")
    expect(page.locator(".card").filter(has_text="Files,")).to_contain_text("src/retry.py")
    expect(page.locator("figure pre")).to_have_text("def retry(times):")
    expect(page.locator(".head")).to_contain_text("triseek resume snap_")
    page.click(".facts a")
    expect(page.locator(".entry").first).to_be_visible()


def test_two_snapshots_are_compared(page: Page) -> None:
    tab(page, "snapshots")
    rows = page.locator(".snaps li").filter(has_not_text="before a compaction")
    expect(rows).to_have_count(2)
    for number in range(2):
        rows.nth(number).locator("input").check()
    page.click("#compare")

    added = page.locator(".part").filter(has_text="Files only in the later one")
    expect(added).to_contain_text("src/deep/client.py")
    changed = page.locator(".part").filter(has_text="Files whose content differs")
    expect(changed).to_contain_text("src/retry.py")
    expect(page.locator(".side").first).to_contain_text("claude code")
    expect(page.locator(".side").last).to_contain_text("codex")


def test_a_damaged_snapshot_is_said_beside_those_that_can_be_read(page: Page, world: World) -> None:
    damaged = world.home / "daemon" / "snapshots" / "snap_000000_00000000000000000000"
    damaged.mkdir()
    try:
        (damaged / "manifest.json").write_text('{"goal": "\\ud800"}')
        tab(page, "snapshots")

        expect(page.locator(".note")).to_contain_text(f"{damaged.name} damaged: manifest.json")
        expect(page.locator(".snaps li")).not_to_have_count(0)
    finally:
        shutil.rmtree(damaged)


# The index


def test_the_index_is_shown_and_shows_its_own_changes(page: Page, world: World) -> None:
    tab(page, "index")
    files = page.locator(".facts dd").nth(1)
    expect(files).to_have_text(re.compile(r"^\d+$"))
    before = int(files.inner_text())
    expect(page.locator(".card").filter(has_text="Daemon")).to_contain_text("watched")

    (world.root / "another.txt").write_text("one more\n")
    world.triseek("update", str(world.root))

    expect(files).not_to_have_text(str(before))


# Who looks, and how


def test_values_are_text_and_never_markup(visit: Visit) -> None:
    page = visit.open()
    page.fill("#query", "onclick")
    expect(page.locator(".results")).to_contain_text("<b onclick=alert(2)>bold</b>")
    expect(page.locator(".results")).to_contain_text("<img src=x onerror=alert(1)>.txt")
    page.locator(".hit.line").click()
    expect(page.locator(".peek")).to_contain_text("<b onclick=alert(2)>bold</b>")
    tab(page, "sessions")
    expect(page.locator(".list")).to_contain_text(MARKUP)
    page.click("text=Honour Retry-After")
    expect(page.locator(".entry[data-kind=prompt]")).to_contain_text(MARKUP)
    tab(page, "snapshots")
    expect(page.locator(".list").first).to_contain_text(MARKUP)

    assert page.locator("main img, main script, main b").count() == 0


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_read_in_both_schemes(
    browser: Browser, link: str, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 800}
    with browser.new_context(viewport=size, color_scheme=scheme) as context:
        visit = Visit(context, link)
        page = visit.open()
        page.fill("#query", "retry")
        expect(page.locator(".results")).to_be_visible()
        fits(page)
        page.locator(".hit.line").first.click()
        expect(page.locator(".peek .meant")).to_be_visible()
        fits(page)
        assert contrast(page, ".hit.line .no") > 4
        page.keyboard.press("Escape")
        for name in TABS[1:]:
            tab(page, name)
            expect(page.locator(f".{name} .card, .{name} .list").first).to_be_visible()
            fits(page)
            assert contrast(page, ".card, .list") > 7
        tab(page, "sessions")
        page.click("text=Honour Retry-After")
        expect(page.locator(".entry").first).to_be_visible()
        fits(page)
        assert contrast(page, ".entry .who") > 4
        visit.check()


def fits(page: Page) -> None:
    """Nothing has to be scrolled to sideways."""
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(over) <= 0


def contrast(page: Page, selector: str) -> float:
    """That of a text with what is behind it, as WCAG has it."""
    colours: list[list[float]] = page.evaluate(
        """(selector) => {
          const read = (text) => text.match(/[\\d.]+/g).map(Number);
          const one = document.querySelector(selector);
          let behind = one;
          while (behind && read(getComputedStyle(behind).backgroundColor)[3] === 0) {
            behind = behind.parentElement;
          }
          return [getComputedStyle(one).color, getComputedStyle(behind).backgroundColor].map(read);
        }""",
        selector,
    )
    light, dark = sorted((luminance(each[:3]) for each in colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: list[float]) -> float:
    parts = [each / 255 for each in colour]
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_without_a_link_nothing_is_shown(browser: Browser, link: str) -> None:
    with browser.new_context() as context:
        visit = Visit(context, link.partition("#")[0])
        visit.page.goto(visit.url)

        expect(visit.page.locator(".empty")).to_contain_text("A link is needed")
        assert not [url for url in visit.asked if "/api/" in url]
        visit.check()


def test_a_link_of_another_run_says_so(browser: Browser, link: str) -> None:
    with browser.new_context() as context:
        visit = Visit(context, f"{link.partition('#')[0]}#token=of-another-run")
        visit.open()

        expect(visit.page.locator("#notice")).to_contain_text("no longer good")


def test_another_tab_has_to_be_let_in_itself(visit: Visit) -> None:
    visit.open()
    other = visit.page.context.new_page()
    other.goto(visit.own)

    expect(other.locator(".empty")).to_contain_text("A link is needed")


def test_an_ended_server_is_said(browser: Browser, world: World) -> None:
    with browser.new_context() as context:
        with world.page() as url:
            visit = Visit(context, url)
            page = visit.open()
            expect(page.locator("#pill")).to_have_text("watched")

        expect(page.locator("#notice")).to_contain_text("no longer answers", timeout=30_000)


def test_without_index_daemon_or_sessions_it_says_what_to_do(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRISEEK_MCP_DISABLE_STARTUP_SYNC", "1")  # it would build an index
    root = tmp_path_factory.mktemp("bare")
    (root / "a.txt").write_text("needle\n")
    bare = World(tmp_path_factory.mktemp("bare-home"), root)
    with bare.page() as url, browser.new_context() as context:
        visit = Visit(context, url)
        page = visit.open()
        expect(page.locator("#pill")).to_have_text("no index")
        page.fill("#query", "needle")
        expect(page.locator("mark")).to_have_text(["needle"])
        tab(page, "sessions")
        expect(page.locator(".note")).to_contain_text("No daemon is running")
        expect(page.locator(".empty")).to_contain_text("session_open")
        tab(page, "snapshots")
        expect(page.locator(".empty")).to_contain_text("triseek snapshot create")
        tab(page, "index")
        expect(page.locator(".card").first).to_contain_text(f"triseek build {root}")
        expect(page.locator(".card").last).to_contain_text("triseek daemon start")
        visit.check()


@pytest.mark.parametrize("ask", [lambda page: page.goto("data:text/html,<p>foreign")])
def test_a_foreign_page_learns_nothing(visit: Visit, ask: Callable[[Page], None]) -> None:
    token = visit.url.partition("#token=")[2]
    page = visit.page
    ask(page)

    said = page.evaluate(
        """([url, token]) => fetch(`${url}api/about`, {headers: {Authorization: `Bearer ${token}`}})
          .then((answer) => answer.text(), (error) => error.name)""",
        [visit.own, token],
    )

    assert said == "TypeError"
    visit.asked.clear()
    visit.said.clear()
    visit.open()
