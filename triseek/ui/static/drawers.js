// The drawers of a palace: listed or recalled, filtered, forgotten and brought back.

import { ask, send } from "/ask.js";
import { ago, count, el, empty, show, tag, wrong } from "/dom.js";

const PAGE = 50;
const LISTED_MAX = 1000;
const LONG = 700;
const FILTERS = ["q", "room", "tag", "since"];
const DAYS = [["1", "Last day"], ["7", "Last week"], ["30", "Last month"], ["365", "Last year"]];

export function link(palace, given = {}) {
  const query = new URLSearchParams(given).toString();
  return `#/memory/${encodeURIComponent(palace)}${query ? `?${query}` : ""}`;
}

export function field(label, value) {
  return el("input", { id: "query", type: "search", placeholder: label, "aria-label": label, autocomplete: "off", spellcheck: "false", value });
}

export function typed(input, work) {
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(work, 200);
  });
}

export class Drawers {
  constructor(view, palace, info, signal, query) {
    this.view = view;
    this.palace = palace;
    this.base = `v1/palaces/${encodeURIComponent(palace)}`;
    this.info = info;
    this.signal = signal;
    this.chosen = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) || ""]));
    this.turn = 0;
    this.own = new Set(); // drawers that this page has changed itself
  }

  async begin() {
    this.said = el("p", { class: "said", role: "status" });
    this.list = el("ol", { class: "rows list drawers", hidden: true });
    this.rest = el("div", {});
    if (!this.info.drawer_count) {
      show(this.view, this.list, this.rest);
      show(this.rest, empty("No drawers yet", "What agents and people store here is listed by importance."));
      return;
    }
    show(this.view, this.form(), this.said, this.list, this.rest);
    await this.load();
  }

  form() {
    const input = field("What is to be recalled", this.chosen.q);
    typed(input, () => this.set({ q: input.value.trim() }));
    const named = (all) => all.map((each) => [each.name, `${each.name} (${each.drawer_count})`]);
    this.choices = {
      room: this.choice("room", "All rooms", named(this.info.rooms)),
      tag: this.choice("tag", "All tags", named(this.info.tags)),
      since: this.choice("since", "Any time", DAYS),
    };
    return el("form", { class: "search-form", role: "search", onsubmit: (event) => event.preventDefault() },
      el("div", { class: "line-in" }, input),
      el("div", { class: "options" }, Object.values(this.choices)));
  }

  choice(name, all, pairs) {
    const value = this.chosen[name];
    const known = !value || pairs.some(([each]) => each === value);
    const select = el("select", { "aria-label": name, "data-filter": name, onchange: () => this.set({ [name]: select.value }) },
      el("option", { value: "" }, all),
      (known ? pairs : [[value, value], ...pairs]).map(([each, text]) => el("option", { value: each, selected: each === value }, text)));
    return select;
  }

  async set(change) {
    Object.assign(this.chosen, change);
    history.replaceState(null, "", link(this.palace, this.given()));
    await this.load();
  }

  given() {
    return Object.fromEntries(FILTERS.filter((name) => this.chosen[name]).map((name) => [name, this.chosen[name]]));
  }

  async load() {
    this.turn += 1;
    this.said.classList.add("busy");
    await this.page(0, this.turn);
  }

  async page(offset, turn) {
    const { q, since, ...filters } = this.given();
    const days = Number(since);
    const given = { ...filters, ...(days > 0 ? { since: Math.round(Date.now() - days * 86400e3) } : {}) };
    let rows;
    try {
      rows = q
        ? (await ask(`${this.base}/recall`, { ...given, q, top_k: PAGE }, this.signal)).results
        : (await ask(`${this.base}/drawers`, { ...given, offset, limit: PAGE }, this.signal)).drawers;
    } catch (error) {
      if (error.name !== "AbortError" && turn === this.turn) {
        this.said.classList.remove("busy");
        show(this.said);
        show(this.list);
        show(this.rest, wrong(error));
      }
      return;
    }
    if (turn !== this.turn) {
      return;
    }
    this.said.classList.remove("busy");
    if (!offset) {
      show(this.list);
      show(this.said, q ? [el("strong", {}, count(rows.length, "drawer")), ", best first"] : "Most important first");
    }
    const items = rows.map((each) => this.item(each));
    this.list.append(...items);
    this.list.hidden = !this.list.childElementCount;
    const more = !q && rows.length === PAGE && offset + PAGE < LISTED_MAX;
    show(this.rest,
      more ? el("button", { class: "more", type: "button", onclick: () => this.page(offset + PAGE, turn) }, "More")
        : this.list.hidden ? empty("Nothing was found", "Other words or fewer filters may find it.") : null);
    if (offset) {
      items[0]?.querySelector("button")?.focus();
    }
  }

  item(each) {
    return drawerItem(each, {
      choose: (name, value) => {
        this.choices[name].value = value;
        return this.set({ [name]: value });
      },
      forget: (item) => this.forget(each, item),
    });
  }

  async forget(each, item) {
    await this.change("DELETE", each, "", item, () => {
      const undo = el("button", { type: "button", class: "button small", onclick: () => this.restore(each, item) }, "Undo");
      show(item, el("p", { class: "gone", role: "status" }, "Forgotten. It can be brought back for 30 days. ", undo));
      undo.focus();
    });
  }

  async restore(each, item) {
    await this.change("POST", each, "/restore", item, () => {
      const again = this.item(each);
      item.replaceWith(again);
      again.querySelector(".forget").focus();
    });
  }

  async change(method, each, path, item, done) {
    item.querySelectorAll(".button").forEach((button) => { button.disabled = true; });
    this.own.add(each.id);
    try {
      await send(method, `${this.base}/drawers/${encodeURIComponent(each.id)}${path}`, this.signal);
      done();
    } catch (error) {
      this.own.delete(each.id);
      if (error.name !== "AbortError") {
        item.querySelectorAll(".button").forEach((button) => { button.disabled = false; });
        item.append(el("p", { class: "wrong", role: "alert" }, error.message));
      }
    }
  }
}

// One drawer. `palace`: a link to its palace; `choose`: is called with a filter; `forget`: with the item.
export function drawerItem(each, { palace = "", choose = null, forget = null }) {
  const chip = (name, value) => choose
    ? el("button", { type: "button", class: "tag", title: `Only this ${name}`, onclick: () => choose(name, value) }, value)
    : tag(value);
  const item = el("li", { class: "drawer", "data-id": each.id },
    el("div", { class: "drawer-text" },
      text(each.content),
      el("p", { class: "sub" },
        palace ? el("a", { href: palace }, each.palace_id) : null,
        el("span", { class: "room-name" }, chip("room", each.room)),
        each.tags.map((name) => el("span", { class: "hash" }, chip("tag", name))),
        el("span", { class: "quiet" }, ago(Date.parse(each.created_at) / 1000)),
        el("span", { class: "quiet", title: "importance, from 0 to 1" }, `importance ${each.importance.toFixed(2)}`),
        each.score === undefined ? null : el("span", { class: "quiet", title: "how well it answers, from 0 to 1" }, `score ${each.score.toFixed(2)}`),
        each.source_file ? el("code", { class: "quiet" }, each.source_file) : null)),
    forget ? el("button", { type: "button", class: "button small forget", "aria-label": `Forget: ${each.content.slice(0, 60)}`, onclick: () => forget(item) }, "Forget") : null);
  return item;
}

function text(content) {
  if (content.length <= LONG) {
    return el("p", { class: "words" }, content);
  }
  const words = el("p", { class: "words" }, `${content.slice(0, LONG)}… `);
  words.append(el("button", { type: "button", class: "button small", onclick: () => show(words, content) }, `Show all (${count(content.length, "character")})`));
  return words;
}
