// The history of all agents: a timeline by day, searches, filters, the year as a heat map.

import { ask } from "/ask.js";
import { clock, code, count, el, empty, show, tag, wrong } from "/dom.js";
import { heatMap } from "/heatmap.js";

const KINDS = [["session", "Conversations"], ["message", "Messages"], ["observation", "Observations"]];
const FILTERS = ["q", "kind", "type", "agent", "project", "day"];

export async function historyPage(view, { signal, query }) {
  await new History(view, signal, query).begin();
}

class History {
  constructor(view, signal, query) {
    this.view = view;
    this.signal = signal;
    this.chosen = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) || ""]));
    this.turn = 0;
  }

  async begin() {
    const overview = await this.overview();
    if (!overview.is_kept) {
      show(this.view, empty("No history yet",
        "The history keeps what was said and done in conversations with agents, and finds it again. Secrets are removed, and nothing leaves this machine.",
        el("span", {}, "To begin it: ", code("triseek history import --all"))));
      return;
    }
    this.map = el("section", { class: "card", "aria-label": "The year" });
    this.said = el("p", { class: "said", role: "status" });
    this.list = el("div", { class: "days" });
    this.rest = el("div", {});
    show(this.view, this.form(overview), this.map, this.said, this.list, this.rest);
    this.draw(overview);
    await this.load();
  }

  overview() {
    return ask("history/overview", this.given(["agent", "project"]), this.signal);
  }

  given(names) {
    return Object.fromEntries(names.filter((name) => this.chosen[name]).map((name) => [name, this.chosen[name]]));
  }

  form(overview) {
    let typing = 0;
    const input = el("input", { id: "query", type: "search", placeholder: "What was said or done", "aria-label": "Search the history",
      autocomplete: "off", spellcheck: "false", value: this.chosen.q, oninput: () => {
        clearTimeout(typing);
        typing = setTimeout(() => this.set({ q: input.value.trim() }), 200);
      } });
    const types = this.choice("type", "All types", overview.types);
    types.hidden = this.chosen.kind !== "observation";
    return el("form", { class: "search-form", role: "search", onsubmit: (event) => event.preventDefault() },
      el("div", { class: "line-in" }, input),
      el("div", { class: "options" },
        el("div", { class: "group seg", role: "group", "aria-label": "Kinds" }, KINDS.map(([kind, name]) =>
          el("button", { type: "button", "data-kind": kind, "aria-pressed": String((this.chosen.kind || "session") === kind), onclick: (event) => {
            for (const each of event.currentTarget.parentElement.children) {
              each.setAttribute("aria-pressed", String(each === event.currentTarget));
            }
            types.hidden = kind !== "observation";
            types.value = "";
            this.set({ kind: kind === "session" ? "" : kind, type: "" });
          } }, name))),
        types,
        this.choice("agent", "All agents", overview.agents),
        this.choice("project", "All projects", overview.projects)));
  }

  choice(name, all, pairs) {
    const known = pairs.some(([value]) => value === this.chosen[name]) || !this.chosen[name];
    const values = known ? pairs : [[this.chosen[name], 0], ...pairs];
    const select = el("select", { "aria-label": name, "data-filter": name, onchange: () => this.set({ [name]: select.value }) },
      el("option", { value: "" }, all),
      values.map(([value]) => el("option", { value, selected: value === this.chosen[name] }, value)));
    return select;
  }

  async set(change) {
    Object.assign(this.chosen, change);
    const query = new URLSearchParams(this.given(FILTERS)).toString();
    history.replaceState(null, "", `#/history${query ? `?${query}` : ""}`);
    try {
      if ("agent" in change || "project" in change) {
        const { agent, project } = this.chosen;
        const overview = await this.overview();
        if (agent === this.chosen.agent && project === this.chosen.project) {
          this.draw(overview);
        }
      }
    } catch (error) {
      this.failed(error);
    }
    await this.load();
  }

  draw(overview) {
    const current = this.map.contains(document.activeElement) ? document.activeElement.dataset.day : "";
    const place = this.map.querySelector(".heat-scroll")?.scrollLeft;
    show(this.map, heatMap(overview.heat_map, this.chosen.day, current, (day) => {
      this.set({ day });
      this.draw(overview);
    }));
    const scroll = this.map.querySelector(".heat-scroll");
    scroll.scrollLeft = place ?? scroll.scrollWidth;
    if (current) {
      this.map.querySelector("[tabindex='0']").focus();
    }
  }

  async load() {
    this.turn += 1;
    this.said.classList.add("busy");
    await this.page(0, this.turn);
  }

  async page(offset, turn) {
    let reply;
    try {
      reply = await ask("history", { ...this.given(FILTERS), ...(offset ? { offset } : {}) }, this.signal);
    } catch (error) {
      if (turn === this.turn) {
        this.failed(error);
      }
      return;
    }
    if (turn !== this.turn) {
      return;
    }
    this.said.classList.remove("busy");
    if (!offset) {
      show(this.list);
      show(this.said, this.summary(reply));
    }
    const first = this.put(reply.items);
    if (reply.next_offset) {
      const button = el("button", { class: "more", type: "button", onclick: () => { button.disabled = true; return this.page(reply.next_offset, turn); } },
        this.chosen.q ? "More" : "Earlier");
      show(this.rest, button);
    } else {
      show(this.rest, this.list.childElementCount ? null : this.nothing());
    }
    if (offset) {
      first?.focus();
    }
  }

  failed(error) {
    if (error.name !== "AbortError") {
      this.said.classList.remove("busy");
      show(this.said);
      show(this.list);
      show(this.rest, wrong(error));
    }
  }

  summary(reply) {
    const { day, q } = this.chosen;
    const name = (this.chosen.kind || "session") === "session" ? "conversation" : this.chosen.kind;
    return [
      el("span", {}, q ? el("strong", {}, count(reply.total, name)) : `Newest ${name}s`, q ? ", best first" : " first"),
      day ? el("button", { type: "button", class: "chip", "data-group": "", onclick: () => this.clearDay() }, `${day} ×`, el("span", { class: "unseen" }, " show all days")) : null,
    ];
  }

  clearDay() {
    this.map.querySelector("[aria-pressed='true']")?.click();
    if (this.chosen.day) { // a day that the map does not show
      this.set({ day: "" });
    }
  }

  nothing() {
    const { q, agent, project, day, type } = this.chosen;
    return q || agent || project || day || type
      ? empty("Nothing was found", "Other words, another kind, or fewer filters may find it.")
      : empty("Nothing of this kind", "Choose another kind above.");
  }

  // Returns the link of the first item.
  put(items) {
    let first;
    for (const each of items) {
      const made = item(each);
      first ??= made.querySelector("a");
      this.section(this.chosen.q ? "" : each.day || "Without a date").append(made);
    }
    return first;
  }

  section(name) {
    const last = this.list.lastElementChild;
    if (last?.dataset.day === name) {
      return last.querySelector("ol");
    }
    const list = el("ol", { class: "rows list" });
    this.list.append(el("section", { "data-day": name }, name ? el("h2", { class: "day" }, name) : null, list));
    return list;
  }
}

function item(each) {
  const { conversation, kind } = each;
  const at = each.message ? `?at=${each.message}` : "";
  const title = kind === "session" ? conversation.title || "(no title)" : each.text;
  return el("li", {}, el("a", { class: "row", href: `#/history/${conversation.id}${at}` },
    el("span", { class: "goal" }, title),
    kind === "session" && each.text ? el("span", { class: "excerpt" }, each.text) : null,
    el("span", { class: "sub" },
      tag(conversation.agent),
      kind === "session" ? null : tag(each.label),
      conversation.project ? el("span", {}, conversation.project) : null,
      kind === "session" ? el("span", { class: "quiet" }, each.label) : el("span", { class: "of" }, conversation.title),
      each.prompts ? el("span", { class: "quiet" }, count(each.prompts, "prompt")) : null,
      each.time_ms ? el("time", { class: "quiet at" }, moment(each)) : null)));
}

function moment(each) {
  const at = new Date(each.time_ms);
  const day = `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, "0")}-${String(at.getDate()).padStart(2, "0")}`;
  return `${day} ${clock(each.time_ms / 1000).slice(0, 5)}`;
}
