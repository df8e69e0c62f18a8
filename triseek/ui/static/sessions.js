// Sessions, and the log of one as a timeline that grows while it is looked at.

import { ask, every } from "/ask.js";
import { ago, code, count, day, el, empty, show, tag, wrong } from "/dom.js";
import { entry } from "/entries.js";

const FILTERS = [
  ["", "All"], ["prompts", "Prompts"], ["reads", "Reads"], ["edits", "Edits"], ["searches", "Searches"],
  ["compactions", "Compactions"], ["other", "Other"],
];
const TONE = { open: "good", abandoned: "warn" };

export async function sessionsPage(view, { signal }) {
  let last = "";
  const draw = async () => {
    const reply = await ask("sessions", {}, signal);
    const now = JSON.stringify(reply);
    if (now !== last) {
      last = now;
      show(view, list(reply));
    }
  };
  await draw();
  every(4, signal, draw);
}

function list(reply) {
  const note = reply.daemon ? null : el("p", { class: "note" }, "No daemon is running: these are the sessions as they were written last. ", code("triseek daemon start"), " starts it.");
  if (!reply.sessions.length) {
    return [note, empty("No sessions yet",
      "A session is a goal and the log of what was done for it: prompts, reads, edits, searches.",
      el("span", {}, "An agent opens one with its tool ", code("session_open"), "; you can too, with ", code("triseek session open \"…\"")))];
  }
  return [note, el("ul", { class: "rows list" }, reply.sessions.map((each) => el("li", {},
    el("a", { class: "row", href: `#/sessions/${encodeURIComponent(each.session_id)}` },
      el("span", { class: "goal" }, each.goal || "Without a goal"),
      el("span", { class: "sub" }, tag(each.status, TONE[each.status]), el("span", { class: "quiet" }, each.session_id), el("span", { class: "quiet" }, ago(each.updated_at)))))))];
}

export async function sessionPage(view, { signal, names: [id] }) {
  const reply = await ask(`sessions/${encodeURIComponent(id)}`, {}, signal);
  const timeline = el("div", { class: "timeline" });
  const size = el("span", { class: "quiet" }, count(reply.action_log_size, "entry", "entries"));
  const log = new Log(id, timeline, size, signal);
  show(view, head(reply, size), log.filters(), timeline);
  await log.begin("");
  every(2, signal, () => log.grow());
}

function head(reply, size) {
  const { session, snapshots } = reply;
  return el("header", { class: "head" },
    el("a", { class: "back", href: "#/sessions" }, "← Sessions"),
    el("h1", {}, session.goal || "Without a goal"),
    el("p", { class: "sub" }, tag(session.status, TONE[session.status]), el("span", { class: "quiet" }, session.session_id),
      el("span", { class: "quiet" }, "begun ", ago(session.created_at)), size),
    snapshots.length ? el("p", { class: "sub" }, el("span", { class: "quiet" }, count(snapshots.length, "snapshot") + ":"),
      snapshots.slice(0, 6).map((each) => el("a", { href: `#/snapshots/${encodeURIComponent(each.snapshot_id)}` }, each.snapshot_id))) : null);
}

class Log {
  constructor(id, place, size, signal) {
    this.place = place;
    this.size = size;
    this.signal = signal;
    this.session = `sessions/${encodeURIComponent(id)}`;
    this.url = `${this.session}/log`;
    this.group = "";
  }

  filters() {
    return el("div", { class: "chips", role: "group", "aria-label": "Kinds" }, FILTERS.map(([group, name]) =>
      el("button", { type: "button", class: `chip ${group}`, "data-group": group, "aria-pressed": String(group === ""), onclick: (event) => {
        for (const each of event.currentTarget.parentElement.children) {
          each.setAttribute("aria-pressed", String(each === event.currentTarget));
        }
        return this.begin(group);
      } }, name)));
  }

  async begin(group) {
    this.group = group;
    this.after = undefined;
    this.list = el("div", { class: "days" });
    this.rest = el("div", {});
    show(this.place, this.list, this.rest);
    await this.page(undefined);
  }

  // Entries of all kinds, whichever are shown.
  async count() {
    const reply = await ask(this.session, {}, this.signal);
    this.size.textContent = count(reply.action_log_size, "entry", "entries");
  }

  given(more) {
    return this.group ? { ...more, group: this.group } : more;
  }

  async page(before) {
    const { list } = this; // another one, once another kind is chosen
    let reply;
    try {
      reply = await ask(this.url, this.given(before === undefined ? {} : { before }), this.signal);
    } catch (error) {
      if (error.name !== "AbortError") {
        show(this.rest, wrong(error));
      }
      return;
    }
    if (list !== this.list) {
      return;
    }
    this.after ??= reply.after;
    for (const each of reply.entries) {
      this.put(each, false);
    }
    if (!reply.entries.length && reply.before > 0) {
      show(this.rest, el("p", { class: "quiet ends", role: "status" }, "Looking further back …"));
      return this.page(reply.before); // a step at a time: another kind can be chosen meanwhile
    }
    if (reply.before > 0) {
      const button = el("button", { class: "more", type: "button", onclick: () => { button.disabled = true; return this.page(reply.before); } },
        "Earlier");
      show(this.rest, button);
    } else {
      show(this.rest, this.list.childElementCount ? el("p", { class: "quiet ends" }, "The beginning.") : this.nothing());
    }
  }

  nothing() {
    return empty(this.group ? "Nothing of this kind" : "Nothing is in the log yet",
      this.group ? "Choose another kind above." : "What agents do in this repository appears here as it happens.");
  }

  // What was done since: it goes on top, whatever is being read below stays.
  async grow() {
    if (this.after === undefined) {
      return undefined;
    }
    const { list, after } = this;
    const reply = await ask(this.url, this.given({ after, limit: 200 }), this.signal);
    if (list !== this.list || after !== this.after) {
      return undefined;
    }
    this.after = reply.after;
    for (const each of reply.entries.reverse()) {
      this.put(each, true);
    }
    if (reply.entries.length) {
      this.rest.querySelector(".empty")?.remove();
    }
    if (reply.after === after) {
      return undefined;
    }
    await this.count();
    return 0.5; // there may be more by now
  }

  put(each, first) {
    const name = day(each.ts);
    const known = first ? this.list.firstElementChild : this.list.lastElementChild;
    let place = known?.dataset.day === name ? known : null;
    if (!place) {
      place = el("section", { "data-day": name }, el("h2", { class: "day" }, name), el("ol", { class: "entries" }));
      first ? this.list.prepend(place) : this.list.append(place);
    }
    const made = entry(each);
    const list = place.querySelector("ol");
    if (first) {
      made.classList.add("new");
      list.prepend(made);
    } else {
      list.append(made);
    }
  }
}

