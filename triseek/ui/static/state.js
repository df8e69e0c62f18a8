// The index and its freshness, and the daemon; refreshed by itself.

import { ask, every } from "/ask.js";
import { ago, bytes, code, count, el, facts, number, path, show, tag } from "/dom.js";

// Figures that rise with every question, ours included.
const VOLATILE = new Set(["uptime_s", "requests", "under_way", "connections", "ms", "clock"]);

export async function indexPage(view, { signal }) {
  let last = "";
  const draw = async () => {
    const reply = await ask("status", {}, signal);
    // What is looked at, or marked with the mouse, stays as it is unless something has changed.
    const now = JSON.stringify(reply, (name, value) => (VOLATILE.has(name) ? undefined : value));
    if (now !== last) {
      last = now;
      show(view, index(reply.index), daemon(reply.daemon, reply.index.repo_root));
    }
    // Without a daemon each look at a large tree takes a moment of the disk.
    return reply.daemon.running ? 3 : 15;
  };
  const wait = await draw();
  every(wait, signal, draw);
}

function index(reply) {
  const root = reply.repo_root;
  if (!reply.index_present) {
    return el("section", { class: "card" }, el("h2", {}, "Index", tag("none", "warn")),
      el("p", {}, "There is none yet. Searches work all the same, by reading every file."),
      el("p", {}, "To have one: ", code(`triseek build ${quoted(root)}`)));
  }
  return el("section", { class: "card" },
    el("h2", {}, "Index", reply.index_fresh ? tag("fresh", "good") : tag(`${count(reply.dirty_files || 0, "file")} changed`, "warn")),
    reply.problem ? el("p", { class: "wrong" }, reply.problem) : null,
    facts([
      ["Repository", code(root)],
      ["Files", number(reply.indexed_files)],
      ["Size", bytes(reply.index_bytes)],
      ["Generation", reply.generation === undefined ? null : String(reply.generation)],
      ["Written", reply.last_updated ? ago(Date.parse(reply.last_updated) / 1000) : null],
      ["Changed since", reply.dirty_files === undefined || reply.dirty_files === null ? null : dirty(reply)],
      ["Kind of tree", reply.repo_category],
    ]));
}

function dirty(reply) {
  if (!reply.dirty_files) {
    return "nothing";
  }
  return `${count(reply.dirty_files, "file")}; searches read ${reply.dirty_files === 1 ? "it" : "them"} anew, so nothing is missed`;
}

function daemon(reply, root) {
  if (!reply.running) {
    return el("section", { class: "card" }, el("h2", {}, "Daemon", tag("not running", "warn")),
      el("p", {}, "Searches work without one; each looks for changes itself. Sessions are shown as they were written last."),
      el("p", {}, "To start it: ", code("triseek daemon start")));
  }
  const here = reply.root || {};
  return [
    el("section", { class: "card" },
      el("h2", {}, "Daemon", reply.warm ? tag("running", "good") : tag("warming up", "warn")),
      facts([
        ["This repository", here.watched
          ? "watched: every edit is known as it happens"
          : `not watched${here.trouble ? `: ${here.trouble}` : ""}; each search looks for changes itself`],
        ["Generation", here.generation ? `${here.generation}, epoch ${here.context_epoch}` : null],
        ["Process", reply.pid ? String(reply.pid) : null],
        ["Version", reply.version],
      ])),
    el("section", { class: "card" }, el("h2", {}, "Repositories it keeps"), roots(reply.roots || [], root)),
  ];
}

function roots(kept, root) {
  if (!kept.length) {
    return el("p", { class: "quiet" }, "None yet: one is kept from its first search on.");
  }
  return el("ul", { class: "rows" }, kept.map((each) => el("li", {},
    path(each.target_root), each.target_root === root ? tag("this page") : null,
    el("span", { class: "right" },
      each.watched ? tag("watched", "good") : tag("not watched", "warn"),
      each.index_available ? null : tag("no index", "warn")))));
}

function quoted(text) {
  return /^[\w./@%+=:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
