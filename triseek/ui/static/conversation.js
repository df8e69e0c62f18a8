// A conversation, page by page: what was said, run and changed, and the line that reopens it.

import { ask } from "/ask.js";
import { clock, code, count, day, el, facts, number, path, show, tag, wrong } from "/dom.js";

const PAGE = 100;
const NAMES = { user: "prompt", assistant: "answer", summary: "summary", tool: "tool" };
const TONES = { user: "prompts", assistant: "reads", summary: "compactions", tool: "other" };

export async function conversationPage(view, { signal, query, names: [id] }) {
  const at = query.get("at");
  const reply = await ask(`history/${id}`, at ? { at } : {}, signal);
  const part = new Part(id, reply, signal);
  show(view, head(reply), part.earlier, part.list, part.later);
  const meant = at && part.list.querySelector(`[data-message="${CSS.escape(at)}"]`);
  if (meant) {
    meant.classList.add("meant");
    meant.scrollIntoView({ block: "center" });
  }
}

function head({ conversation, resume, total }) {
  return el("header", { class: "head" },
    el("a", { class: "back", href: "#/history" }, "← History"),
    el("h1", {}, conversation.title || "(no title)"),
    el("p", { class: "sub" }, tag(conversation.agent), conversation.is_sub_agent ? tag("sub-agent") : null,
      conversation.started_ms ? el("span", { class: "quiet" }, `${day(conversation.started_ms / 1000)} ${clock(conversation.started_ms / 1000)}`) : null,
      el("span", { class: "quiet" }, count(total, "entry", "entries"))),
    facts([
      ["Project", conversation.project],
      ["Folder", conversation.cwd ? code(conversation.cwd) : ""],
      ["Branch", conversation.branch],
      ["Model", conversation.model],
      ["Id", code(conversation.session)],
      ["Reopen it", resume ? copied(resume) : ""],
    ]));
}

// A line for a shell, and a button that copies it.
function copied(line) {
  const text = code(line);
  const said = el("span", { role: "status", class: "quiet" });
  const button = el("button", { type: "button", class: "button small", onclick: async () => {
    try {
      await navigator.clipboard.writeText(line);
      said.textContent = "Copied";
    } catch { // the browser does not allow it: the line is marked instead, for Ctrl-C
      getSelection().selectAllChildren(text);
      said.textContent = "Marked: copy it with Ctrl-C";
    }
  } }, "Copy");
  return el("span", { class: "resume" }, text, button, said);
}

class Part {
  constructor(id, reply, signal) {
    this.id = id;
    this.signal = signal;
    this.total = reply.total;
    this.first = reply.offset;
    this.end = reply.offset + reply.entries.length;
    this.list = el("ol", { class: "talk" }, reply.entries.map(entry));
    this.earlier = el("div", {});
    this.later = el("div", {});
    this.draw();
  }

  draw() {
    show(this.earlier, this.first > 0 ? this.button("Earlier", () => this.load(Math.max(0, this.first - PAGE), this.first, true)) : null);
    show(this.later, this.end < this.total
      ? this.button(`Later (${number(this.total - this.end)} more)`, () => this.load(this.end, this.end + PAGE, false))
      : el("p", { class: "quiet ends" }, "The end."));
  }

  button(name, work) {
    const button = el("button", { class: "more", type: "button", onclick: () => { button.disabled = true; return work(); } }, name);
    return button;
  }

  async load(from, to, isBefore) {
    let reply;
    try {
      reply = await ask(`history/${this.id}`, { offset: from, limit: to - from }, this.signal);
    } catch (error) {
      if (error.name !== "AbortError") {
        show(isBefore ? this.earlier : this.later, wrong(error));
      }
      return;
    }
    const made = reply.entries.map(entry);
    if (isBefore) {
      const height = document.documentElement.scrollHeight;
      this.list.prepend(...made);
      scrollBy(0, document.documentElement.scrollHeight - height); // what is being read stays where it is
      this.first = from;
    } else {
      this.list.append(...made);
      this.end = from + made.length;
    }
    this.total = made.length ? reply.total : Math.min(reply.total, this.end);
    this.draw();
  }
}

function entry(each) {
  const isTool = each.kind === "tool";
  return el("li", { class: `said-by ${TONES[each.kind] || "other"}`, "data-kind": each.kind, "data-message": isTool ? null : String(each.id) },
    el("p", { class: "sub" }, el("span", { class: "kind" }, isTool ? each.name || "tool" : NAMES[each.kind] || each.kind),
      isTool ? ending(each) : null,
      each.time_ms ? el("time", { class: "quiet", title: day(each.time_ms / 1000) }, clock(each.time_ms / 1000)) : null),
    isTool ? use(each) : el("div", { class: "words", dir: "auto" }, each.text),
    rest(each.cut));
}

function ending({ failed, exit_status: status }) {
  if (Number.isInteger(status)) {
    return tag(`exit ${status}`, status ? "bad" : "good");
  }
  return failed === true ? tag("failed", "bad") : null;
}

function use(each) {
  return [
    each.files.length ? el("ul", { class: "paths" }, each.files.map((file) =>
      el("li", {}, path(file.path), file.is_modified ? [" ", tag("changed", "edits")] : null))) : null,
    each.is_command ? el("pre", { class: "command" }, each.text)
    : each.text && each.text !== "{}" ? el("details", {}, el("summary", {}, "Arguments"), el("pre", {}, each.text)) : null,
    each.output ? el("details", {}, el("summary", {}, `Output, ${count(each.output.split("\n").length, "line")}`),
      el("pre", { tabindex: "0" }, each.output), rest(each.output_cut)) : null,
  ];
}

function rest(cut) {
  return cut ? el("p", { class: "quiet" }, `${count(cut, "more character")}: `, code("triseek history show")) : null;
}
