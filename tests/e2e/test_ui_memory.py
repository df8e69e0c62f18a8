"""The page's memory, used as a person uses it: a real browser, real palaces, hostile texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.e2e.browsing import Visit, World
from triseek.memory import service
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.long]

MARKUP = '<script>alert(1)</script><img src=x onerror="alert(2)"><b>bold</b>'
DAY_MS = 86_400_000
NODES = 300
OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll(".node-label, .edge-label")]
    .map((each) => [each.textContent, each.getBBox()]);
  const meet = (a, b) => a.x + 2 < b.x + b.width && b.x + 2 < a.x + a.width
    && a.y + 4 < b.y + b.height && b.y + 4 < a.y + a.height;
  return boxes.flatMap(([text, a], at) => boxes.slice(at + 1)
    .filter(([, b]) => meet(a, b)).map(([other]) => [text, other]));
}"""
"""The pairs of labels that overlap."""
OUTSIDE = """() => {
  const box = document.querySelector(".picture").getBoundingClientRect();
  return [...document.querySelectorAll(".node .dot, .node-label")]
    .map((each) => each.getBoundingClientRect())
    .filter((each) => each.left < box.left - 2 || each.right > box.right + 2
      || each.top < box.top - 2 || each.bottom > box.bottom + 2).length;
}"""
"""How many dots and labels are cut off."""
expect.set_options(timeout=15_000)  # other work may go on beside this


def fill(memory: Memory) -> None:
    """Three palaces: notes and facts of 40 days, a graph of many names, one that is too large."""
    with pytest.MonkeyPatch.context() as patch:
        clock = [service.now_ms() - 40 * DAY_MS]
        patch.setattr(service, "now_ms", lambda: clock[0])
        memory.create("notes", f"what we know {MARKUP}")
        memory.set_identity("notes", f"An HTTP client. {MARKUP}")
        for number in range(60):
            memory.remember("notes", Draft(text=f"note {number} of many", room="planning"))
        clock[0] += 35 * DAY_MS
        draft = Draft(
            text=f"the retry waits {MARKUP}", room=MARKUP[:50], tags=["http", MARKUP],
            importance=0.9, source=MARKUP,
        )  # fmt: skip
        memory.remember("notes", draft)
        memory.remember("notes", Draft(text="long " + "word " * 400, importance=0.8))
        for target in ("flask", "starlette", MARKUP):
            memory.assert_fact("notes", ("api", "uses", target), provenance=MARKUP)
            memory.assert_fact("notes", ("worker", "calls", "api"), confidence=0.5)
            clock[0] += DAY_MS
        memory.create("graph")
        for number in range(1, NODES):
            memory.assert_fact("graph", (f"name {number}", "needs", f"name {number // 3}"))
        memory.create("large")
        for number in range(NODES + 50):
            memory.assert_fact("large", ("hub", "has", f"leaf {number}"), multi=True)
            memory.assert_fact("large", (f"leaf {number}", "has", f"bud {number}"))
        memory.create("empty")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    root, home = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("home")
    (root / "a.py").write_text("x = 1\n")
    world = World(home, root.resolve())
    memory = Memory(str(home / "memory"))
    fill(memory)
    memory.close()
    return world


@pytest.fixture
def memory(world: World) -> Iterator[Memory]:
    memory = Memory(str(world.home / "memory"))
    yield memory
    memory.close()


@pytest.fixture(scope="module")
def link(world: World) -> Iterator[str]:
    with world.page() as url:
        yield url


@pytest.fixture
def page(visit: Visit) -> Page:
    page = visit.open()
    page.click('[data-tab="memory"]')
    expect(page.locator(".memory .row")).to_have_count(4)
    return page


def no_markup(page: Page) -> None:
    """Nothing of what was stored has become an element."""
    assert page.locator("main img, main script, main b").count() == 0


def drawers(page: Page) -> Any:
    return page.locator(".drawer")


def go(page: Page, place: str) -> None:
    page.evaluate(f"location.hash = {place!r}")


def graph(page: Page, palace: str) -> None:
    go(page, f"#/memory/{palace}?view=graph")
    expect(page.locator(".picture .node").first).to_be_visible()


def held(page: Page) -> str:
    return str(page.locator(".when").inner_text())


def test_palaces_are_listed_and_searched_together(page: Page) -> None:
    expect(page.locator(".row").nth(3)).to_contain_text(f"what we know {MARKUP}")
    expect(page.locator(".row").nth(3)).to_contain_text("62 drawers")
    page.keyboard.press("/")
    page.keyboard.type("retry waits")
    expect(drawers(page)).to_have_count(1)
    expect(drawers(page)).to_contain_text(f"the retry waits {MARKUP}")
    no_markup(page)
    page.reload()
    expect(page.locator("#query")).to_have_value("retry waits")
    expect(drawers(page)).to_have_count(1)
    page.fill("#query", "zyzzyva qwertz")
    expect(page.locator(".empty h2")).to_have_text("Nothing was found")
    page.fill("#query", "retry waits")
    page.click(".drawer a")
    expect(page.locator("h1")).to_have_text("notes")


def test_drawers_are_listed_filtered_and_recalled(page: Page) -> None:
    page.click("text=notes")
    expect(page.locator(".identity")).to_have_text(f"An HTTP client. {MARKUP}")
    expect(drawers(page)).to_have_count(50)
    expect(drawers(page).first).to_contain_text(f"the retry waits {MARKUP}")
    expect(drawers(page).first).to_contain_text("importance 0.90")
    no_markup(page)
    page.click("text=More")
    expect(drawers(page)).to_have_count(62)
    page.click("text=/Show all/")
    expect(drawers(page).nth(1)).to_contain_text("word " * 399)
    page.select_option("[data-filter=since]", "7")
    expect(drawers(page)).to_have_count(2)
    page.select_option("[data-filter=tag]", MARKUP)
    expect(drawers(page)).to_have_count(1)
    page.reload()
    expect(page.locator("[data-filter=tag]")).to_have_value(MARKUP)
    expect(drawers(page)).to_have_count(1)
    page.select_option("[data-filter=tag]", "")
    page.select_option("[data-filter=since]", "")
    expect(drawers(page)).to_have_count(50)
    page.fill("#query", "note 17")
    expect(drawers(page).first).to_contain_text("note 17 of many")
    expect(page.locator(".said")).to_contain_text("best first")
    page.click(".room-name button >> nth=0")
    expect(page.locator("[data-filter=room]")).to_have_value("Planning")


def test_a_drawer_is_forgotten_by_keyboard_and_brought_back(page: Page, memory: Memory) -> None:
    go(page, "#/memory/notes?q=retry")
    expect(drawers(page)).to_have_count(1)
    page.locator(".forget").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".gone")).to_contain_text("brought back for 30 days")
    assert memory.recall("notes", "retry").hits == ()
    assert page.evaluate("document.activeElement.textContent") == "Undo"
    page.keyboard.press("Enter")
    expect(page.locator(".forget")).to_be_focused()
    assert len(memory.recall("notes", "retry").hits) == 1
    expect(page.locator(".news button")).to_have_count(0)


def test_what_others_write_is_announced(page: Page, memory: Memory) -> None:
    go(page, "#/memory/empty")
    expect(page.locator(".empty h2")).to_have_text("No drawers yet")
    go(page, "#/memory")
    expect(page.locator(".row")).to_have_count(4)
    memory.create("new one")
    expect(page.locator(".row")).to_have_count(5)
    go(page, "#/memory/new%20one?view=graph")
    expect(page.locator(".empty h2")).to_have_text("No facts yet")
    memory.assert_fact("new one", ("a", "is", "b"))
    page.click(".news button")
    expect(page.locator(".node")).to_have_count(2)
    memory.delete_palace("new one")


def test_the_graph_shows_each_time(page: Page) -> None:
    graph(page, "notes")
    expect(page.locator(".node")).to_have_count(5)
    assert held(page) == "Now 2 facts hold"
    page.locator(".slider").focus()
    page.keyboard.press("Home")
    expect(page.locator(".when")).to_contain_text("2 facts hold")
    expect(page.locator(".edge:not(.apart)")).to_have_count(2)
    expect(page.locator(".node:not(.apart)")).to_have_count(3)
    expect(page.locator('.node:not(.apart)[data-name="flask"]')).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(page.locator('.node:not(.apart)[data-name="starlette"]')).to_have_count(1)
    expect(page.locator('.node.apart[data-name="flask"]')).to_have_count(1)
    assert page.locator(".slider").get_attribute("aria-valuetext") != "now"
    page.keyboard.press("End")
    assert held(page) == "Now 2 facts hold"
    no_markup(page)


def test_the_history_of_a_name_is_beside_the_graph(page: Page) -> None:
    graph(page, "notes")
    page.click('.node[data-name="api"] .dot')
    expect(page.locator(".facts-of h2")).to_have_text("api")
    states = page.locator(".facts-of ol >> nth=0").locator("li")
    expect(states).to_have_count(3)
    assert states.evaluate_all("each => each.map((li) => li.dataset.state)") == [
        "held", "held", "holds",
    ]  # fmt: skip
    expect(states.nth(2)).to_contain_text(MARKUP)
    expect(page.locator(".facts-of h3")).to_have_text("Named by")
    expect(page.locator(".facts-of ol >> nth=1")).to_contain_text("worker calls")
    states.nth(0).locator(".span").click()
    assert states.evaluate_all("each => each.map((li) => li.dataset.state)") == [
        "holds", "later", "later",
    ]  # fmt: skip
    page.click(".facts-of .name >> text=flask")
    expect(page.locator(".facts-of h2")).to_have_text("flask")
    assert page.url.endswith("subject=flask")
    no_markup(page)


def test_the_graph_is_used_by_keyboard(page: Page) -> None:
    graph(page, "notes")
    page.locator(".node[tabindex='0']").focus()
    first = page.evaluate("document.activeElement.dataset.name")
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.classList.contains('node')")
    assert page.locator(".node[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    chosen = page.evaluate("document.activeElement.dataset.name")
    expect(page.locator(".facts-of h2")).to_have_text(chosen)
    expect(page.locator(".node.chosen")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("+")
    page.keyboard.press("0")
    page.keyboard.press("Escape")
    expect(page.locator(".facts-of h2")).to_have_text("History")
    page.fill("#query", "worker")
    page.keyboard.press("Enter")
    expect(page.locator(".facts-of h2")).to_have_text("worker")
    assert first


def test_a_graph_of_many_names_is_legible(page: Page) -> None:
    graph(page, "graph")
    expect(page.locator(".node")).to_have_count(NODES)
    expect(page.locator(".edge:not(.apart)")).to_have_count(NODES - 1)
    assert page.evaluate(OVERLAPS) == []
    assert page.locator(".node-label").count() >= 30
    few = page.locator(".node-label").count()
    for _ in range(4):
        page.click("[aria-label=Larger]")
    assert page.evaluate(OVERLAPS) == []
    page.click('[aria-label="Show all"]')
    expect(page.locator(".node-label")).to_have_count(few)


def test_a_larger_graph_shows_what_is_near_a_name(page: Page) -> None:
    graph(page, "large")
    expect(page.locator(".note")).to_contain_text("too large to be drawn whole")
    expect(page.locator(".facts-of h2")).to_have_text("hub")
    assert 2 < page.locator(".node").count() <= NODES
    page.click(".facts-of .name >> nth=0")
    expect(page.locator(".facts-of h2")).to_have_text(re.compile("leaf"))
    assert page.locator(".node").count() <= NODES
    page.fill("#query", "bud 3")
    page.keyboard.press("Enter")
    expect(page.locator(".facts-of h2")).to_have_text("bud 3")
    expect(page.locator(".node.chosen")).to_have_attribute("data-name", "bud 3")
    page.fill("#query", "no such name")
    page.keyboard.press("Enter")
    expect(page.locator(".facts-of")).to_contain_text("No fact names it")


def test_a_palace_that_is_gone_says_so(visit: Visit, page: Page) -> None:
    go(page, "#/memory/gone")
    expect(page.locator(".wrong h2")).to_contain_text("no palace 'gone'")
    (said,) = visit.said  # the browser itself notes every 404
    assert "404" in said
    visit.said.clear()


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_in_both_schemes(browser: Browser, link: str, width: int, scheme: str) -> None:
    size = {"width": width, "height": 800}
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with browser.new_context(viewport=size, color_scheme=scheme) as context:
        visit = Visit(context, link)
        page = visit.open()
        page.click('[data-tab="memory"]')
        expect(page.locator(".memory .row")).to_have_count(4)
        assert page.evaluate(over) <= 0
        page.click("text=notes")
        expect(drawers(page).first).to_be_visible()
        assert page.evaluate(over) <= 0
        graph(page, "notes")
        assert page.evaluate(over) <= 0
        assert page.evaluate(OUTSIDE) == 0
        visit.check()


def test_without_a_memory_the_page_says_how_to_begin_and_makes_none(
    browser: Browser, world: World, tmp_path: Path
) -> None:
    with World(tmp_path, world.root).page() as url, browser.new_context() as context:
        visit = Visit(context, url)
        page = visit.open()
        page.click('[data-tab="memory"]')
        expect(page.locator(".empty code")).to_contain_text("triseek memory remember")
        visit.check()
    assert not (tmp_path / "memory").exists()
