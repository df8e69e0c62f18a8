// One entry of a session's log, in words.

import { clock, code, count, el, number, path } from "/dom.js";

const NAMES = {
  prompt: "prompt", read: "read", read_denied: "not re-read", memo_check: "checked", edit: "edit", search: "search",
  context_pack: "pack", compact: "compacted", session_open: "opened", session_close: "closed",
  session_resume: "resumed", session_handoff: "handed off", command: "command", command_status: "command ended",
};
const GROUPS = {
  prompt: "prompts", read: "reads", read_denied: "reads", memo_check: "reads", edit: "edits", search: "searches",
  context_pack: "searches", compact: "compactions",
};

export function entry(each) {
  const group = GROUPS[each.kind] || "other";
  return el("li", { class: `entry ${group}`, "data-kind": each.kind, "data-id": each.entry_id },
    el("time", { class: "at", title: `entry ${each.entry_id}` }, clock(each.ts)),
    el("span", { class: "kind" }, NAMES[each.kind] || each.kind),
    el("div", { class: "what" }, what(each.kind, each.payload)),
    who(each.payload));
}

function what(kind, reply) {
  if (kind === "prompt") {
    return el("p", { class: "prompt" }, text(reply.prompt));
  }
  if (GROUPS[kind] === "reads" || kind === "edit") {
    return file(kind, reply);
  }
  if (kind === "search" || kind === "context_pack") {
    return search(reply);
  }
  if (kind === "compact") {
    return el("span", { class: "quiet" }, `the agent's context was made shorter${reply.source ? ` (${text(reply.source)})` : ""}`);
  }
  if (kind === "session_open" || kind === "session_close") {
    const session = reply.session || {};
    return el("span", {}, kind === "session_open" ? text(session.goal) || "without a goal" : `as ${text(session.status)}`);
  }
  if (kind === "session_resume") {
    return el("span", {}, `from snapshot ${text(reply.snapshot_id)}`);
  }
  if (kind === "session_handoff") {
    return el("span", {}, `${reply.to ? `to ${text(reply.to).replaceAll("_", " ")} ` : ""}as snapshot ${text(reply.snapshot_id)}`);
  }
  if (kind === "command") {
    return [code(text(reply.command)), el("span", { class: "quiet" }, ` ${reply.folder ? `in ${text(reply.folder)} · ` : ""}${ended(reply)}`)];
  }
  if (kind === "command_status") {
    return el("span", { class: "quiet" }, ended(reply));
  }
  return el("span", { class: "quiet" }, listed(reply.arguments));
}

function ended(reply) {
  if (Number.isInteger(reply.exit_status)) {
    return `exit status ${reply.exit_status}`;
  }
  return reply.failed === true ? "failed" : reply.failed === false ? "succeeded" : "how it ended is not known";
}

function listed(given) {
  const pairs = given && typeof given === "object" ? Object.entries(given) : [];
  return pairs.map(([name, value]) => `${name} ${text(value)}`).join(", ").slice(0, 240) || "without arguments";
}

function file(kind, reply) {
  if (reply.outside) {
    return el("span", { class: "quiet" }, "a file outside of the repository");
  }
  const lines = reply.line_start ? ` ${reply.line_start}–${reply.line_end}` : "";
  const note = { read_denied: "it was in the context already", memo_check: "asked whether to read it again" }[kind];
  return [typeof reply.path === "string" ? path(reply.path) : el("span", {}, short(reply)),
    lines ? el("span", { class: "quiet" }, lines) : null,
    note ? el("span", { class: "quiet" }, ` ${note}`) : null];
}

function search(reply) {
  const given = reply.arguments || {};
  const query = reply.query ?? given.query ?? given.content_query ?? given.goal ?? given.path_query ?? "";
  const paths = Array.isArray(reply.result_paths) ? reply.result_paths : [];
  const within = given.glob || given.path_query;
  const notes = [given.mode === "regex" ? "regex" : "", within ? `in ${text(within)}` : "", outcome(reply)];
  return [
    code(text(query)),
    el("span", { class: "quiet" }, ` ${notes.filter(Boolean).join(" · ")}`),
    paths.length ? el("div", { class: "paths" }, paths.slice(0, 3).map((each) => path(text(each))),
      paths.length > 3 ? el("span", { class: "quiet" }, `and ${number(paths.length - 3)} more`) : null) : null,
  ];
}

function outcome(reply) {
  if (reply.error) {
    return `failed: ${text(reply.error)}`;
  }
  if (reply.total_line_matches) {
    return `${count(reply.total_line_matches, "line")} in ${count(reply.files_with_matches || 0, "file")}`;
  }
  if (reply.files_with_matches) {
    return count(reply.files_with_matches, "file");
  }
  return reply.files_with_matches === 0 || reply.total_line_matches === 0 ? "found nothing" : "";
}

function who(reply) {
  const harness = text(reply.harness);
  const tool = text(reply.tool);
  if (!harness && !tool) {
    return null;
  }
  return el("span", { class: "who", title: text(reply.conversation) }, [harness.replaceAll("_", " "), tool].filter(Boolean).join(" · "));
}

function text(value) {
  return value === undefined || value === null ? "" : typeof value === "string" ? value : short(value);
}

function short(value) {
  const said = JSON.stringify(value) || "";
  return said.length > 240 ? `${said.slice(0, 239)}…` : said;
}
