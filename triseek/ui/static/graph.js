// The graph of a palace at a time: drawn, with a slider through its changes, and beside it the
// history of the chosen name.

import { ask } from "/ask.js";
import { clock, count, day, el, empty, show, tag, wrong } from "/dom.js";
import { link } from "/drawers.js";
import { Picture } from "/picture.js";

const NODES_MAX = 300;
const OFFERED_MAX = 400;

export class Graph {
  constructor(view, palace, signal, query) {
    this.view = view;
    this.palace = palace;
    this.base = `v1/palaces/${encodeURIComponent(palace)}/kg`;
    this.signal = signal;
    this.chosen = query.get("subject") || "";
    this.at = null; // Unix milliseconds; null for now
    signal.addEventListener("abort", () => this.resized?.disconnect());
  }

  begin() {
    return this.load();
  }

  async load() {
    try {
      const whole = await ask(`${this.base}/graph`, { history: "true" }, this.signal);
      if (!whole.triples.length) {
        show(this.view, empty("No facts yet", "Facts are stored as subject, predicate and object, with the time in which they held."));
        return;
      }
      this.isWhole = !whole.truncated && whole.nodes.length <= NODES_MAX;
      if (this.isWhole) {
        this.use(whole.triples);
        this.offered = whole.nodes;
      } else {
        const { subjects } = await ask(`${this.base}/subjects`, { limit: OFFERED_MAX }, this.signal);
        this.offered = subjects.map((each) => each.subject);
        this.chosen ||= this.offered[0] || whole.nodes[0];
        await this.around(this.chosen);
      }
      this.draw();
    } catch (error) {
      if (error.name !== "AbortError") {
        show(this.view, wrong(error));
      }
    }
  }

  // Loads what is near a name: two steps, or one, or the newest of it.
  async around(name) {
    for (const depth of [2, 1]) {
      const reply = await ask(`${this.base}/graph`, { history: "true", subject: name, depth }, this.signal);
      this.near = `what is within ${count(depth, "step")} of it`;
      if (reply.nodes.length <= NODES_MAX) {
        this.use(reply.triples);
        return;
      }
      if (depth === 1) {
        this.near = `the newest of ${count(reply.nodes.length - 1, "neighbour")}`;
        this.use(newest(reply.triples, NODES_MAX));
      }
    }
  }

  use(triples) {
    this.triples = triples.map((each) => ({ ...each, from_ms: Date.parse(each.valid_from), to_ms: each.valid_to ? Date.parse(each.valid_to) : Infinity }));
    const moments = this.triples.flatMap((each) => [each.from_ms, each.to_ms]).filter(Number.isFinite);
    this.moments = [...new Set(moments)].sort((a, b) => a - b);
    const links = new Map();
    for (const each of this.triples) {
      const key = JSON.stringify([each.subject, each.object]);
      links.set(key, links.get(key) || { from: each.subject, to: each.object, triples: [] });
      links.get(key).triples.push(each);
    }
    this.links = [...links.values()];
    const names = [...new Set(this.triples.flatMap((each) => [each.subject, each.object]))];
    if (this.chosen && !names.includes(this.chosen)) {
      names.push(this.chosen);
    }
    this.picture = new Picture(names, this.links, (name) => this.pick(name));
  }

  draw() {
    this.when = el("output", { class: "when" });
    this.slider = el("input", { type: "range", class: "slider", min: "0", max: String(this.moments.length), step: "1", "aria-label": "Time",
      value: String(this.step()), oninput: () => this.go(Number(this.slider.value)) });
    this.aside = el("aside", { class: "card facts-of", "aria-label": "History", "aria-live": "polite" });
    const field = el("input", { id: "query", class: "glob", type: "search", list: "subjects", placeholder: "Choose a name", "aria-label": "Choose a name",
      autocomplete: "off", spellcheck: "false", value: this.chosen, onchange: () => this.pick(field.value.trim()) });
    this.field = field;
    const button = (text, label, work) => el("button", { type: "button", class: "sign", "aria-label": label, title: label, onclick: work }, text);
    const frame = el("div", { class: "frame" });
    show(this.view,
      el("form", { class: "options graph-options", onsubmit: (event) => { event.preventDefault(); this.pick(field.value.trim()); } }, field,
        el("datalist", { id: "subjects" }, this.offered.slice(0, OFFERED_MAX).map((name) => el("option", { value: name }))),
        el("span", { class: "group" }, button("−", "Smaller", () => this.picture.magnify(1 / 1.4)), button("+", "Larger", () => this.picture.magnify(1.4)),
          button("⤢", "Show all", () => this.picture.fit()))),
      this.isWhole ? null : el("p", { class: "note" }, "The graph is too large to be drawn whole. Shown: the chosen name, and ", el("span", { class: "near-note" }, this.near), "."),
      el("div", { class: "split open graph" },
        el("div", { class: "drawn" }, frame,
          el("div", { class: "time" }, el("label", { class: "quiet" }, "Time", this.slider), this.when)),
        this.aside));
    this.frame = frame;
    this.put();
  }

  // Puts the current picture into the page.
  put() {
    show(this.frame, this.picture.element);
    this.resized?.disconnect();
    let width = 0;
    this.resized = new ResizeObserver(() => {
      if (this.picture.element.clientWidth && this.picture.element.clientWidth !== width) {
        width = this.picture.element.clientWidth;
        this.picture.fit();
      }
    });
    this.resized.observe(this.picture.element);
    this.picture.fit();
    this.refresh();
  }

  // Place of the slider: the number of the moment that is shown; behind the last one is now.
  step() {
    return this.at === null ? this.moments.length : Math.max(0, this.moments.findLastIndex((each) => each <= this.at));
  }

  go(step) {
    this.at = this.moments[step] ?? null;
    this.slider.value = String(step);
    this.refresh();
  }

  state(each) {
    const at = this.at ?? Infinity;
    return each.from_ms > at ? "later" : each.to_ms > at || (at === Infinity && each.to_ms === Infinity) ? "holds" : "held";
  }

  refresh() {
    const shown = new Map();
    let holding = 0;
    for (const each of this.links) {
      const now = each.triples.filter((triple) => this.state(triple) === "holds");
      holding += now.length;
      shown.set(each, [...new Set(now.map((triple) => triple.predicate))].join(", "));
    }
    this.picture.update(shown, this.chosen);
    this.slider.setAttribute("aria-valuetext", this.at === null ? "now" : moment(this.at));
    show(this.when, el("strong", {}, this.at === null ? "Now" : moment(this.at)), ` ${count(holding, "fact")} ${holding === 1 ? "holds" : "hold"}`);
    this.list();
  }

  async pick(name) {
    this.chosen = name;
    this.field.value = name;
    history.replaceState(null, "", link(this.palace, { view: "graph", ...(name ? { subject: name } : {}) }));
    if (!this.isWhole && name) {
      try {
        await this.around(name);
      } catch (error) {
        if (error.name !== "AbortError") {
          show(this.aside, wrong(error));
        }
        return;
      }
      this.view.querySelector(".near-note").textContent = this.near;
      this.slider.max = String(this.moments.length);
      this.slider.value = String(this.step());
      const focused = this.frame.contains(document.activeElement);
      this.put();
      if (focused) {
        this.picture.reached.shape.focus();
      }
      return;
    }
    this.refresh();
  }

  // What is known of the chosen name: its facts by time, then those that name it.
  list() {
    if (!this.chosen) {
      show(this.aside, el("h2", {}, "History"), el("p", { class: "quiet" }, "Choose a name in the graph to see what held of it, and when."));
      return;
    }
    const own = this.triples.filter((each) => each.subject === this.chosen);
    const others = this.triples.filter((each) => each.object === this.chosen && each.subject !== this.chosen);
    show(this.aside, el("h2", {}, this.chosen),
      own.length || others.length ? null : el("p", { class: "quiet" }, "No fact names it."),
      own.length ? el("ol", { class: "rows" }, own.map((each) => this.fact(each, each.object, [`${each.predicate} `]))) : null,
      others.length ? [el("h3", {}, "Named by"), el("ol", { class: "rows" }, others.map((each) => this.fact(each, each.subject, [], [` ${each.predicate}`])))] : null);
  }

  fact(each, other, before, after = []) {
    const state = this.state(each);
    return el("li", { class: `fact ${state}`, "data-state": state },
      el("span", {}, before, el("button", { type: "button", class: "name", onclick: () => this.pick(other) }, other), after),
      el("span", { class: "sub" },
        state === "holds" ? tag("holds", "good") : tag(state),
        el("button", { type: "button", class: "span", title: `Show this time: ${moment(each.from_ms)}`, onclick: () => this.go(this.moments.indexOf(each.from_ms)) },
          span(each.from_ms, each.to_ms)),
        each.confidence < 1 ? el("span", { class: "quiet" }, `confidence ${each.confidence.toFixed(2)}`) : null,
        each.provenance ? el("span", { class: "quiet" }, `from ${each.provenance}`) : null));
  }
}

// The newest triples that name at most `most` nodes together.
function newest(triples, most) {
  const names = new Set();
  return [...triples].reverse().filter((each) => {
    const more = [each.subject, each.object].filter((name) => !names.has(name));
    if (names.size + new Set(more).size > most) {
      return false;
    }
    more.forEach((name) => names.add(name));
    return true;
  }).reverse();
}

function moment(ms) {
  return `${day(ms / 1000)} ${clock(ms / 1000).slice(0, 5)}`;
}

// When a fact held: days, or times of one day.
function span(from_ms, to_ms) {
  const first = day(from_ms / 1000);
  if (!Number.isFinite(to_ms)) {
    return `since ${first}`;
  }
  return day(to_ms / 1000) === first ? `${moment(from_ms)} – ${clock(to_ms / 1000).slice(0, 5)}` : `${first} – ${day(to_ms / 1000)}`;
}
