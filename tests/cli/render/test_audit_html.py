"""An audit as a page that runs nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from tests.cli.render.audits import EVIL, Log, hostile
from tests.ui import chromium
from triseek.cli.render import audit_html

if TYPE_CHECKING:
    from pathlib import Path


class Page(HTMLParser):
    """What a page is made of, and whether every tag is closed where it should be."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_stands_alone_and_runs_nothing() -> None:
    text = audit_html.page(hostile().report())
    page = Page(text)
    assert page.open == []
    assert set(page.tags) <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "ul", "li", "b", "span",
        "small", "div", "table", "thead", "tbody", "tr", "th", "td", "footer",
    }  # fmt: skip
    names = {name for _, name, _ in page.attributes}
    assert names <= {"lang", "charset", "name", "content", "http-equiv", "class", "scope", "style"}
    assert {value for tag, name, value in page.attributes if name == "style" and tag != "td"} \
        == set()  # fmt: skip
    assert "default-src 'none'" in text.split("<style>")[0]
    assert not re.search(r"url\(|@import|https?:", text.split("<style>")[1].split("</style>")[0])
    shown = "".join(page.texts)
    assert EVIL in shown  # as text
    assert "color-scheme: light dark" in text
    assert "@media print" in text


def test_a_table_has_a_row_for_each_file_and_numbers_to_the_right() -> None:
    log = Log(goal="")
    log.note("read", path="retry.py", harness="codex")
    log.note("edit", path="retry.py", sha="a" * 64, harness="codex")
    text = audit_html.page(log.report())

    assert "<h2>Files <small>(1)</small></h2>" in text
    assert '<td class="n bar" style="--share: 100%">2</td><td class="n">2</td>' in text
    assert 'retry.py <span class="mark">taken back</span></td>' in text
    assert "<h2>Compactions" not in text


@pytest.mark.browser
def test_a_browser_shows_it_from_disk(tmp_path: Path) -> None:
    program = chromium.find()
    if program is None:
        pytest.skip("no Chromium: `make browser` gets one")
    from playwright.sync_api import sync_playwright

    text = audit_html.page(hostile().report())
    (tmp_path / "report.html").write_bytes(text.encode("utf-8", "replace"))
    asked, dialogs, background = [], [], "getComputedStyle(document.body).backgroundColor"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 1400})
        page.on("request", lambda request: asked.append(request.url))
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        page.goto(f"file://{tmp_path}/report.html")
        shot = page.screenshot(full_page=True)
        colors = []
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            colors.append(page.evaluate(background))
        wide = [page.evaluate("document.documentElement.scrollWidth")]
        page.emulate_media(media="print", color_scheme="dark")
        page.set_viewport_size({"width": 720, "height": 1000})  # as wide as paper is
        wide.append(page.evaluate("document.documentElement.scrollWidth"))
        colors.append(page.evaluate(background))
        printed = page.pdf()
        counted = page.locator("script, img, iframe, link, form").count()
        shown = page.locator("td.c", has_text="retry.py").count()
        browser.close()

    assert (asked, dialogs, counted) == ([f"file://{tmp_path}/report.html"], [], 0)
    assert colors == ["rgb(255, 255, 255)", "rgb(13, 17, 23)", "rgb(255, 255, 255)"]
    assert wide == [1000, 720]  # long names break, and on a screen tables scroll by themselves
    assert shown == 1
    assert printed.startswith(b"%PDF")
    assert len(shot) > 20_000
