// The index and its freshness, and the daemon; refreshed by itself.

import { ask, every } from "/ask.js";
import { ago, bytes, code, count, el, facts, number, path, show, tag } from "/dom.js";

// Figures that rise with every question, ours included.
const VOLATILE = new Set(["uptime_s", "requests", "under_way", "connections", "ms", "clock"]);

export async function indexPage(view, { signal }) {
  let last = "";
  const draw = async () => {
    const told = await ask("status", {}, signal);
    // What is looked at, or marked with the mouse, stays as it is unless something has changed.
    const now = JSON.stringify(told, (name, value) => (VOLATILE.has(name) ? undefined : value));
    if (now !== last) {
      last = now;
      show(view, index(told.index), daemon(told.daemon, told.index.repo_root));
    }
    // Without a daemon each look at a large tree takes a moment of the disk.
    return told.daemon.running ? 3 : 15;
  };
  const wait = await draw();
  every(wait, signal, draw);
}

function index(told) {
  const root = told.repo_root;
  if (!told.index_present) {
    return el("section", { class: "card" }, el("h2", {}, "Index", tag("none", "warn")),
      el("p", {}, "There is none yet. Searches work all the same, by reading every file."),
      el("p", {}, "To have one: ", code(`triseek build ${quoted(root)}`)));
  }
  return el("section", { class: "card" },
    el("h2", {}, "Index", told.index_fresh ? tag("fresh", "good") : tag(`${count(told.dirty_files || 0, "file")} changed`, "warn")),
    told.problem ? el("p", { class: "wrong" }, told.problem) : null,
    facts([
      ["Repository", code(root)],
      ["Files", number(told.indexed_files)],
      ["Size", bytes(told.index_bytes)],
      ["Generation", told.generation === undefined ? null : String(told.generation)],
      ["Written", told.last_updated ? ago(Date.parse(told.last_updated) / 1000) : null],
      ["Changed since", told.dirty_files === undefined || told.dirty_files === null ? null : dirty(told)],
      ["Kind of tree", told.repo_category],
    ]));
}

function dirty(told) {
  if (!told.dirty_files) {
    return "nothing";
  }
  return `${count(told.dirty_files, "file")}; searches read ${told.dirty_files === 1 ? "it" : "them"} anew, so nothing is missed`;
}

function daemon(told, root) {
  if (!told.running) {
    return el("section", { class: "card" }, el("h2", {}, "Daemon", tag("not running", "warn")),
      el("p", {}, "Searches work without one; each looks for changes itself. Sessions are shown as they were written last."),
      el("p", {}, "To start it: ", code("triseek daemon start")));
  }
  const here = told.root || {};
  return [
    el("section", { class: "card" },
      el("h2", {}, "Daemon", told.warm ? tag("running", "good") : tag("warming up", "warn")),
      facts([
        ["This repository", here.watched
          ? "watched: every edit is known as it happens"
          : `not watched${here.trouble ? `: ${here.trouble}` : ""}; each search looks for changes itself`],
        ["Generation", here.generation ? `${here.generation}, epoch ${here.context_epoch}` : null],
        ["Process", told.pid ? String(told.pid) : null],
        ["Version", told.version],
      ])),
    el("section", { class: "card" }, el("h2", {}, "Repositories it keeps"), roots(told.roots || [], root)),
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
