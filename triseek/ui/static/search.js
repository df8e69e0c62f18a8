// Search as one types: the answer to what stands there now, never to what stood there before.

import { ask } from "/ask.js";
import { code, count, el, empty, number, path, show, tag, wrong } from "/dom.js";

const WAIT_MS = 120;
const OPTIONS = { kind: "content", mode: "literal", case: "smart", word: "0", glob: "" };
const BACKENDS = {
  triseek_indexed: "by the index",
  triseek_direct_scan: "by reading the files",
  ripgrep_fallback: "by ripgrep",
};

export async function searchPage(view, { signal, query }) {
  const asked = { q: query.get("q") || "" };
  for (const [name, usual] of Object.entries(OPTIONS)) {
    asked[name] = query.get(name) || usual;
  }
  const found = el("div", { class: "found", id: "found" });
  const said = el("p", { class: "said", role: "status" });
  const peek = el("aside", { class: "peek", "aria-label": "File", hidden: true });
  const page = new Search(asked, { found, said, peek }, signal);
  show(view, page.form(), said, el("div", { class: "split" }, found, peek));
  view.addEventListener("keydown", (event) => page.key(event));
  page.input.focus();
  await page.run();
}

class Search {
  constructor(asked, places, signal) {
    this.asked = asked;
    this.places = places;
    this.signal = signal;
    this.under = new AbortController();
    signal.addEventListener("abort", () => this.under.abort());
  }

  form() {
    this.input = el("input", {
      id: "query", type: "search", placeholder: "Search", "aria-label": "Search", autocomplete: "off",
      autocapitalize: "off", spellcheck: "false", value: this.asked.q, "aria-controls": "found",
      oninput: () => this.soon({ q: this.input.value }),
    });
    const glob = el("input", {
      class: "glob", type: "text", placeholder: "in files, e.g. src/** !*_test.py", "aria-label": "Only in these files",
      autocomplete: "off", spellcheck: "false", value: this.asked.glob, oninput: () => this.soon({ glob: glob.value }),
    });
    const contents = el("span", { class: "group contents" },
      this.choice("mode", "regex", "literal", ".*", "Regular expression"),
      this.choice("word", "1", "0", "ab", "Whole words"),
      this.cases(), glob);
    contents.hidden = this.asked.kind === "path";
    const kinds = el("span", { class: "group seg", role: "group", "aria-label": "What to search" },
      [["content", "Contents"], ["path", "File names"]].map(([kind, name]) =>
        el("button", { type: "button", "aria-pressed": String(this.asked.kind === kind), onclick: (event) => {
          for (const each of event.target.parentElement.children) {
            each.setAttribute("aria-pressed", String(each === event.target));
          }
          contents.hidden = kind === "path";
          this.now({ kind });
        } }, name)));
    return el("form", { class: "ask", role: "search", onsubmit: (event) => event.preventDefault() },
      el("div", { class: "line-in" }, this.input, el("kbd", { title: "Press / to search" }, "/")),
      el("div", { class: "options" }, kinds, contents));
  }

  choice(name, on, off, sign, title) {
    return el("button", { type: "button", class: "sign", title, "aria-label": title, "data-option": name,
      "aria-pressed": String(this.asked[name] === on), onclick: (event) => {
        const value = this.asked[name] === on ? off : on;
        event.currentTarget.setAttribute("aria-pressed", String(value === on));
        this.now({ [name]: value });
      } }, sign);
  }

  cases() {
    const named = [["smart", "smart case"], ["sensitive", "match case"], ["insensitive", "any case"]];
    return el("select", { "aria-label": "Case", onchange: (event) => this.now({ case: event.target.value }) },
      named.map(([value, name]) => el("option", { value, selected: this.asked.case === value }, name)));
  }

  soon(change) {
    Object.assign(this.asked, change);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.run(), WAIT_MS);
  }

  now(change) {
    Object.assign(this.asked, change);
    clearTimeout(this.timer);
    return this.run();
  }

  // The options in which the question differs from the usual, for the address bar and the server.
  given() {
    const given = Object.entries(this.asked).filter(([name, value]) => value !== OPTIONS[name] && value !== "");
    const known = Object.fromEntries(given);
    if (known.kind === "path") {
      return { q: known.q || "", kind: "path" };
    }
    return known;
  }

  async run() {
    this.under.abort();
    this.under = new AbortController();
    const { signal } = this.under;
    const given = this.given();
    const query = new URLSearchParams(given).toString();
    history.replaceState(null, "", query ? `#/search?${query}` : "#/search");
    const { found, said } = this.places;
    if (!this.asked.q.trim()) {
      show(said);
      show(found, begin());
      return;
    }
    said.classList.add("busy");
    try {
      const answer = await ask("search", this.whole(given), signal);
      this.hold(answer, given);
    } catch (error) {
      if (error.name === "AbortError" || this.signal.aborted) {
        return;
      }
      show(said);
      show(found, wrong(error));
    }
    said.classList.remove("busy");
  }

  whole(given) {
    return given.kind === "path" ? given : { case: this.asked.case, ...given };
  }

  hold(answer, given) {
    const { found, said } = this.places;
    show(said, summary(answer));
    if (!answer.results.length) {
      show(found, this.nothing(answer));
      return;
    }
    const list = el("div", { class: "results" }, answer.results.map((each) => this.result(each)));
    show(found, list, this.more(answer, given, list));
  }

  more(answer, given, list) {
    if (!answer.truncated || answer.next_offset === undefined) {
      return null;
    }
    return el("button", { class: "more", type: "button", onclick: async (event) => {
      const button = event.currentTarget;
      button.disabled = true;
      try {
        const next = await ask("search", { ...this.whole(given), offset: answer.next_offset }, this.under.signal);
        list.append(...next.results.map((each) => this.result(each)));
        const another = this.more(next, given, list);
        button.replaceWith(...(another ? [another] : []));
      } catch (error) {
        button.replaceWith(...(error.name === "AbortError" ? [] : [wrong(error)]));
      }
    } }, "More results");
  }

  result(each) {
    const head = el("div", { class: "file-name hit", tabindex: "-1", role: "button", title: each.path,
      onclick: () => this.open(each.path, each.matches?.[0]?.line || 1) },
      path(each.path), each.line_matches ? el("span", { class: "quiet" }, ` ${number(each.line_matches)} lines`) : null);
    const lines = (each.matches || []).map((match) => el("div", {
      class: `hit line${match.definition ? " definition" : ""}`, tabindex: "-1", role: "button",
      "data-line": match.line, onclick: () => chosen() || this.open(each.path, match.line),
    }, el("span", { class: "no" }, String(match.line)), el("code", {}, marked(match)),
      match.definition ? tag("def", "def") : null));
    return el("section", { class: "file", "data-path": each.path }, head, lines);
  }

  nothing(answer) {
    const searched = answer.searched;
    const lines = [];
    if (searched) {
      lines.push(`Searched ${count(searched.files, "file")}${searched.skipped ? `, ${number(searched.skipped)} skipped` : ""}; ${fresh(searched.freshness)}.`);
    }
    const would = (answer.would_match || []).map((each) => el("button", { type: "button", class: "would",
      onclick: () => this.adopt(each.change) },
      `${inWords(each.change)}: ${count(each.lines, "line")} in ${count(each.files, "file")}`));
    if (!would.length && answer.kind !== "path") {
      lines.push(this.asked.kind === "path"
        ? "No path has all of these words. Try fewer of them, or search contents."
        : "Try a shorter part of it, or file names.");
    }
    return el("div", {}, empty("No matches", ...lines), would.length ? el("div", { class: "woulds" }, would) : null);
  }

  adopt(change) {
    for (const name of ["mode", "case", "glob"]) {
      if (name in change) {
        this.asked[name] = change[name];
      }
    }
    if ("word" in change) {
      this.asked.word = change.word ? "1" : "0";
    }
    const query = new URLSearchParams(this.given()).toString();
    location.hash = `#/search?${query}`;
  }

  async open(name, line) {
    const { peek } = this.places;
    try {
      const reply = await ask("lines", { path: name, line }, this.signal);
      const shown = reply.lines.map((text, index) => el("div", {
        class: reply.first + index === reply.line ? "line meant" : "line",
      }, el("span", { class: "no" }, String(reply.first + index)), el("code", {}, text)));
      show(peek, this.head(name), el("div", { class: "body" }, shown));
    } catch (error) {
      if (error.name === "AbortError") {
        return;
      }
      show(peek, this.head(name), wrong(error));
    }
    peek.hidden = false;
    peek.parentElement.classList.add("open");
    const body = peek.querySelector(".body");
    const meant = peek.querySelector(".meant");
    if (meant) {
      body.scrollTop = meant.offsetTop - body.clientHeight / 2; // the page itself stays where it is
    }
  }

  head(name) {
    return el("header", {}, path(name),
      el("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => this.close() }, "×"));
  }

  close() {
    const { peek } = this.places;
    peek.hidden = true;
    peek.parentElement.classList.remove("open");
  }

  key(event) {
    const hits = [...this.places.found.querySelectorAll(".hit")];
    const at = hits.indexOf(document.activeElement);
    if (event.key === "Escape") {
      if (!this.places.peek.hidden) {
        this.close();
      } else if (document.activeElement !== this.input) {
        this.input.focus();
      } else {
        return;
      }
    } else if (event.key === "ArrowDown" && (at >= 0 || document.activeElement === this.input)) {
      step(hits[Math.min(at + 1, hits.length - 1)]);
    } else if (event.key === "ArrowUp" && at >= 0) {
      step(at ? hits[at - 1] : this.input);
    } else if (event.key === "Enter" && at >= 0) {
      hits[at].click();
    } else if (event.key === "Enter" && event.target.matches("input")) {
      this.now({}); // a form of two fields and no button is not sent by it
    } else {
      return;
    }
    event.preventDefault();
  }
}

function step(target) {
  target?.focus({ preventScroll: true });
  target?.scrollIntoView({ block: "nearest" });
}

// Whether somebody has just marked a piece of a line, which is no click on it.
function chosen() {
  return String(getSelection()).length > 0;
}

function marked(match) {
  const text = Array.from(match.preview);
  const parts = [];
  let at = 0;
  for (const [begin, end] of match.spans || []) {
    parts.push(text.slice(at, begin).join(""), el("mark", {}, text.slice(begin, end).join("")));
    at = end;
  }
  return [...parts, text.slice(at).join("")];
}

function fresh(freshness) {
  return {
    synced: "all edits until now are in it",
    swept: "changed files were looked for first",
    unverified: "files changed since the index may be missing",
  }[freshness] || freshness;
}

function summary(answer) {
  const totals = answer.total_line_matches
    ? `${count(answer.total_line_matches, "line")} in ${count(answer.files_with_matches, "file")}`
    : count(answer.files_with_matches, "file");
  return [
    el("strong", {}, totals),
    answer.incomplete ? tag("incomplete", "warn") : null,
    el("span", { title: answer.routing_reason }, BACKENDS[answer.strategy] || answer.strategy),
    answer.freshness ? el("span", { title: fresh(answer.freshness) }, answer.freshness) : null,
    el("span", { class: "ms" }, `${answer.ms < 10 ? answer.ms.toFixed(1) : Math.round(answer.ms)} ms`),
    ...(answer.notes || []).map((note) => el("span", { class: "quiet" }, note)),
  ];
}

function inWords(change) {
  if (change.case) {
    return "In any case";
  }
  if ("word" in change) {
    return "Also inside words";
  }
  if (change.mode) {
    return change.mode === "regex" ? "As a regular expression" : "As plain text";
  }
  return "multiline" in change ? "Over several lines" : "In all files";
}

function begin() {
  return empty("Search this repository",
    el("span", {}, "Results come as you type. ", el("kbd", {}, "/"), " comes back here, ", el("kbd", {}, "↓"), " ", el("kbd", {}, "↑"), " move through results, ", el("kbd", {}, "Enter"), " shows the file."),
    el("span", {}, "The same answers in a terminal: ", code("triseek PATTERN")));
}
