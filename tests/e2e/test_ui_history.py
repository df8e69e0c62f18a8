"""The page's history, used as a person uses it: a real browser, imported conversations, markup."""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.e2e.browsing import Visit, World
from tests.e2e.serving import daemon

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.long]

MARKUP = '<script>alert(1)</script><img src=x onerror="alert(2)"><b>bold</b>'
PROMPTS = 130
"""Of the long conversation: more than a page."""
NOW = datetime.now(tz=UTC)
expect.set_options(timeout=15_000)  # other work may go on beside this


def write(home: Path, project: str, ago_days: int, rows: list[tuple[str, Any]]) -> str:
    """Write a transcript of Claude Code; return its id."""
    session, began = str(uuid.uuid4()), NOW - timedelta(days=ago_days)
    folder = home / ".claude" / "projects" / project
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{session}.jsonl").open("w", encoding="utf-8") as file:
        for number, (role, content) in enumerate(rows):
            row = {
                "type": role, "uuid": str(uuid.uuid4()), "sessionId": session,
                "cwd": f"/work/{project}", "version": "2.1.330", "gitBranch": MARKUP,
                "timestamp": (began + timedelta(milliseconds=number)).isoformat(),
                "message": {"role": role, "content": content, "id": f"msg_{number}"},
            }  # fmt: skip
            file.write(json.dumps(row) + "\n")
    return session


def used(command: str, output: str, *, is_error: bool) -> list[tuple[str, Any]]:
    call = f"toolu_{uuid.uuid4().hex}"
    use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
    result = {
        "type": "tool_result", "tool_use_id": call, "content": output, "is_error": is_error,
    }  # fmt: skip
    return [("assistant", [use]), ("user", [result])]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    root, home = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("home")
    (root / "a.py").write_text("x = 1\n")
    hostile = [("user", f"make the retry wait {MARKUP}"), ("assistant", [
        {"type": "text", "text": f"It waits now. {MARKUP}"}])]  # fmt: skip
    write(home, MARKUP.replace("/", ""), 3, [
        *hostile, *used(f"pytest -q {MARKUP}", f"Exit code 1\nFAILED {MARKUP}", is_error=True),
        *used("pytest -q", "2 passed", is_error=False),
    ])  # fmt: skip
    write(home, "long", 40, [("user", f"prompt {number} of many") for number in range(PROMPTS)])
    for number in range(60):
        write(home, "many", 100 + number, [("user", f"little question {number}")])
    world = World(home, root.resolve())
    world.triseek("history", "import", "claude-code")
    return world


@pytest.fixture(scope="module", params=["daemon", "alone"])
def link(world: World, request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "daemon":
        with daemon(world.home), world.page() as url:
            yield url
    else:
        with world.page() as url:
            yield url


@pytest.fixture
def page(visit: Visit) -> Page:
    page = visit.open()
    page.click('[data-tab="history"]')
    expect(page.locator(".history .row").first).to_be_visible()
    return page


def rows(page: Page) -> Any:
    return page.locator(".history .list .row")


def no_markup(page: Page) -> None:
    """Nothing of what was said has become an element."""
    assert page.locator("main img, main script, main b").count() == 0


def day(ago_days: int) -> str:
    return (NOW - timedelta(days=ago_days)).astimezone().date().isoformat()


def test_the_timeline_is_newest_first_by_day_and_goes_back(page: Page) -> None:
    expect(page.locator(".day").first).to_have_text(day(3))
    expect(rows(page).first).to_contain_text(MARKUP)
    expect(rows(page)).to_have_count(50)
    page.click("text=Earlier")
    expect(rows(page)).to_have_count(62)
    expect(page.locator("text=Earlier")).to_have_count(0)
    assert page.evaluate("document.activeElement.textContent").startswith("little question 48")
    no_markup(page)


def test_what_was_said_is_found_and_opened_at_its_place(page: Page) -> None:
    page.fill("#query", "prompt 119 many")
    page.click('[data-kind="message"]')
    expect(page.locator(".said")).to_contain_text("best first")
    expect(rows(page).first).to_contain_text("prompt 119 of many")
    rows(page).first.click()
    expect(page.locator(".meant")).to_have_text(re.compile("prompt 119 of many$"))
    expect(page.locator(".meant")).to_be_in_viewport()
    page.click("text=Earlier")
    expect(page.locator(".said-by")).to_have_count(115)
    page.click("text=Earlier")
    expect(page.locator(".said-by")).to_have_count(PROMPTS)
    expect(page.locator(".said-by .words").first).to_have_text("prompt 0 of many")
    page.go_back()
    expect(page.locator("#query")).to_have_value("prompt 119 many")
    expect(rows(page).first).to_contain_text("prompt 119 of many")


def test_markup_in_a_conversation_stays_text(page: Page) -> None:
    for kind in ("session", "message"):
        page.fill("#query", "retry wait")
        page.click(f'[data-kind="{kind}"]')
        expect(rows(page).first).to_contain_text(MARKUP)
        no_markup(page)
    rows(page).first.click()
    expect(page.locator(".said-by[data-kind=assistant]")).to_contain_text(MARKUP)
    expect(page.locator(".command").first).to_have_text(f"pytest -q {MARKUP}")
    expect(page.locator(".tag.bad")).to_have_text("exit 1")
    page.click("summary >> nth=0")
    expect(page.locator("details pre").first).to_contain_text(f"FAILED {MARKUP}")
    no_markup(page)


def test_a_day_is_chosen_by_keyboard(page: Page) -> None:
    page.locator(".heat [tabindex='0']").focus()
    assert page.evaluate("document.activeElement.dataset.day") == day(0)
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith(f"{day(3)}: ")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(1)
    expect(page.locator(f".cell[data-day='{day(3)}']")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("document.activeElement.dataset.day") == day(3)
    assert f"day={day(3)}" in page.url
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(50)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.day") == day(10)
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()


def test_filters_hold_for_the_list_and_the_year(page: Page) -> None:
    expect(page.locator(".heat caption")).to_contain_text("messages in the last year")
    page.select_option("[data-filter=project]", "many")
    expect(page.locator(".heat caption")).to_contain_text("60 messages in the last year")
    expect(rows(page).first).to_contain_text("little question 0")
    page.reload()
    expect(page.locator("[data-filter=project]")).to_have_value("many")
    expect(rows(page).first).to_contain_text("little question 0")
    page.click(f".cell[data-day='{day(40)}']")
    expect(page.locator(".empty h2")).to_have_text("Nothing was found")
    page.click(".said .chip")
    expect(rows(page).first).to_contain_text("little question 0")


def test_the_line_that_reopens_it_is_copied(visit: Visit, page: Page) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.select_option("[data-filter=project]", "long")
    expect(rows(page)).to_have_count(1)
    rows(page).first.click()
    page.click("text=Copy")
    expect(page.locator(".resume [role=status]")).to_have_text("Copied")
    line = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(r"cd -- /work/long && claude --resume [0-9a-f-]{36}", line)


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_in_both_schemes(browser: Browser, link: str, width: int, scheme: str) -> None:
    size = {"width": width, "height": 800}
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with browser.new_context(viewport=size, color_scheme=scheme) as context:
        visit = Visit(context, link)
        page = visit.open()
        page.click('[data-tab="history"]')
        expect(rows(page).first).to_be_visible()
        expect(page.locator(f".cell[data-day='{day(0)}']")).to_be_in_viewport()
        assert page.evaluate(over) <= 0
        rows(page).first.click()
        expect(page.locator(".said-by").first).to_be_visible()
        assert page.evaluate(over) <= 0
        visit.check()


def test_without_a_history_the_page_says_how_to_begin(
    browser: Browser, world: World, tmp_path: Path
) -> None:
    with World(tmp_path, world.root).page() as url, browser.new_context() as context:
        visit = Visit(context, url)
        page = visit.open()
        page.click('[data-tab="history"]')
        expect(page.locator(".empty code")).to_have_text("triseek history import --all")
        visit.check()
    assert not (tmp_path / "history").exists()
