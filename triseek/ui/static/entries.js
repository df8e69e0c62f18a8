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

function what(kind, told) {
  if (kind === "prompt") {
    return el("p", { class: "prompt" }, text(told.prompt));
  }
  if (GROUPS[kind] === "reads" || kind === "edit") {
    return file(kind, told);
  }
  if (kind === "search" || kind === "context_pack") {
    return search(told);
  }
  if (kind === "compact") {
    return el("span", { class: "quiet" }, `the agent's context was made shorter${told.source ? ` (${text(told.source)})` : ""}`);
  }
  if (kind === "session_open" || kind === "session_close") {
    const session = told.session || {};
    return el("span", {}, kind === "session_open" ? text(session.goal) || "without a goal" : `as ${text(session.status)}`);
  }
  if (kind === "session_resume") {
    return el("span", {}, `from snapshot ${text(told.snapshot_id)}`);
  }
  if (kind === "session_handoff") {
    return el("span", {}, `${told.to ? `to ${text(told.to).replaceAll("_", " ")} ` : ""}as snapshot ${text(told.snapshot_id)}`);
  }
  if (kind === "command") {
    return [code(text(told.command)), el("span", { class: "quiet" }, ` ${told.folder ? `in ${text(told.folder)} · ` : ""}${ended(told)}`)];
  }
  if (kind === "command_status") {
    return el("span", { class: "quiet" }, ended(told));
  }
  return el("span", { class: "quiet" }, listed(told.arguments));
}

function ended(told) {
  if (Number.isInteger(told.exit_status)) {
    return `exit status ${told.exit_status}`;
  }
  return told.failed === true ? "failed" : told.failed === false ? "succeeded" : "how it ended is not known";
}

function listed(given) {
  const pairs = given && typeof given === "object" ? Object.entries(given) : [];
  return pairs.map(([name, value]) => `${name} ${text(value)}`).join(", ").slice(0, 240) || "without arguments";
}

function file(kind, told) {
  if (told.outside) {
    return el("span", { class: "quiet" }, "a file outside of the repository");
  }
  const lines = told.line_start ? ` ${told.line_start}–${told.line_end}` : "";
  const note = { read_denied: "it was in the context already", memo_check: "asked whether to read it again" }[kind];
  return [typeof told.path === "string" ? path(told.path) : el("span", {}, short(told)),
    lines ? el("span", { class: "quiet" }, lines) : null,
    note ? el("span", { class: "quiet" }, ` ${note}`) : null];
}

function search(told) {
  const given = told.arguments || {};
  const query = told.query ?? given.query ?? given.content_query ?? given.goal ?? given.path_query ?? "";
  const paths = Array.isArray(told.result_paths) ? told.result_paths : [];
  const within = given.glob || given.path_query;
  const notes = [given.mode === "regex" ? "regex" : "", within ? `in ${text(within)}` : "", outcome(told)];
  return [
    code(text(query)),
    el("span", { class: "quiet" }, ` ${notes.filter(Boolean).join(" · ")}`),
    paths.length ? el("div", { class: "paths" }, paths.slice(0, 3).map((each) => path(text(each))),
      paths.length > 3 ? el("span", { class: "quiet" }, `and ${number(paths.length - 3)} more`) : null) : null,
  ];
}

function outcome(told) {
  if (told.error) {
    return `failed: ${text(told.error)}`;
  }
  if (told.total_line_matches) {
    return `${count(told.total_line_matches, "line")} in ${count(told.files_with_matches || 0, "file")}`;
  }
  if (told.files_with_matches) {
    return count(told.files_with_matches, "file");
  }
  return told.files_with_matches === 0 || told.total_line_matches === 0 ? "found nothing" : "";
}

function who(told) {
  const harness = text(told.harness);
  const tool = text(told.tool);
  if (!harness && !tool) {
    return null;
  }
  return el("span", { class: "who", title: text(told.conversation) }, [harness.replaceAll("_", " "), tool].filter(Boolean).join(" · "));
}

function text(value) {
  return value === undefined || value === null ? "" : typeof value === "string" ? value : short(value);
}

function short(value) {
  const said = JSON.stringify(value) || "";
  return said.length > 240 ? `${said.slice(0, 239)}…` : said;
}
