// Which page is shown, the line at its top, and the keys that work everywhere.

import { ask, enter, every } from "/ask.js";
import { code, el, empty, show, wrong } from "/dom.js";
import { conversationPage } from "/conversation.js";
import { historyPage } from "/history.js";
import { memoryPage, palacePage } from "/memory.js";
import { searchPage } from "/search.js";
import { indexPage } from "/state.js";
import { sessionPage, sessionsPage } from "/sessions.js";
import { diffPage, snapshotPage, snapshotsPage } from "/snapshots.js";

const PAGES = [
  [/^\/search$/, "search", searchPage],
  [/^\/index$/, "index", indexPage],
  [/^\/sessions$/, "sessions", sessionsPage],
  [/^\/sessions\/([^/]+)$/, "sessions", sessionPage],
  [/^\/snapshots$/, "snapshots", snapshotsPage],
  [/^\/snapshots\/([^/]+)$/, "snapshots", snapshotPage],
  [/^\/diff\/([^/]+)\/([^/]+)$/, "snapshots", diffPage],
  [/^\/history$/, "history", historyPage],
  [/^\/history\/(\d+)$/, "history", conversationPage],
  [/^\/memory$/, "memory", memoryPage],
  [/^\/memory\/([^/]+)$/, "memory", palacePage],
];
const main = document.getElementById("main");
const notice = document.getElementById("notice");
const pill = document.getElementById("pill");
let leaving = new AbortController();

async function go() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [place, query = ""] = location.hash.slice(1).split("?");
  const found = PAGES.map(([form, tab, page]) => [form.exec(place), tab, page]).find(([match]) => match);
  if (!found) {
    location.replace("#/search");
    return;
  }
  const [match, tab, page] = found;
  for (const each of document.querySelectorAll("[data-tab]")) {
    each.toggleAttribute("aria-current", each.dataset.tab === tab);
  }
  document.title = `${tab} · triseek`;
  const view = el("div", { class: `view ${tab}` });
  show(main, view);
  try {
    await page(view, { signal, query: new URLSearchParams(query), names: match.slice(1).map(decodeURIComponent) });
  } catch (error) {
    if (error.name !== "AbortError") {
      show(view, wrong(error));
    }
  }
}

async function look() {
  try {
    const about = await ask("about");
    notice.hidden = true;
    // A long one is cut at its beginning; the mark keeps its first slash where it belongs.
    document.getElementById("root").textContent = `\u200e${about.root}`;
    const [kind, said, title] = state(about);
    pill.className = `pill ${kind}`;
    pill.textContent = said;
    pill.title = title;
    pill.hidden = false;
  } catch (error) {
    notice.hidden = false;
    notice.textContent =
      error.status === 401
        ? "This link is no longer good. Use the one that triseek ui prints now."
        : "triseek ui no longer answers; it may have been ended. Start it again, and open its new link.";
  }
}

function state(about) {
  if (!about.indexed) {
    return ["low", "no index", "Searches read the files themselves."];
  }
  if (!about.daemon) {
    return ["low", "no daemon", "Every search looks for changes itself."];
  }
  if (!about.watched) {
    return ["low", "not watched", "Every search looks for changes itself."];
  }
  return ["good", "watched", "Every edit is known as it happens."];
}

function locked() {
  show(main, empty("A link is needed", "This page shows code, so it opens only by the link that is printed by", code("triseek ui")));
}

document.addEventListener("keydown", (event) => {
  const writing = event.target.matches("input, textarea, select");
  if (event.key === "/" && !writing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    const write = () => document.getElementById("query")?.select();
    if (/^#\/((search|history|memory)(\?|$)|memory\/)/.test(location.hash)) {
      write(); // at once: what is typed next would be lost
    } else {
      location.hash = "#/search";
      requestAnimationFrame(write);
    }
  }
});

if (await enter()) {
  window.addEventListener("hashchange", go);
  await Promise.all([go(), look()]);
  every(5, new AbortController().signal, look);
} else {
  locked();
}
