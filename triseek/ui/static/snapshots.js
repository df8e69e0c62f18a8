// Snapshots: the list, what one holds, and what lies between two.

import { ask } from "/ask.js";
import { ago, clock, code, count, day, el, empty, facts, number, path, show, tag } from "/dom.js";

const WHY = { handoff: "at a handoff", compaction: "before a compaction" };

export async function snapshotsPage(view, { signal, query }) {
  const all = query.has("all");
  const reply = await ask("snapshots", all ? { all: "1" } : {}, signal);
  const which = el("a", { href: all ? "#/snapshots" : "#/snapshots?all" }, all ? "Only of this repository" : "Of all repositories");
  const broken = reply.damaged.map((each) => el("p", { class: "note" }, code(each.snapshot_id), ` damaged: ${each.reason}`));
  if (!reply.snapshots.length) {
    show(view, broken, empty("No snapshots yet",
      "A snapshot keeps what a session knew: the files it went through, its searches, the state of git.",
      el("span", {}, "Make one with ", code("triseek snapshot create"), ", or let an agent call ", code("session_snapshot"), "."),
      all ? null : which));
    return;
  }
  const chosen = new Set();
  const newest = reply.snapshots.map((each) => each.snapshot_id);
  const bar = el("div", { class: "bar" });
  const rows = reply.snapshots.map((each) => row(each, (is) => {
    is ? chosen.add(each.snapshot_id) : chosen.delete(each.snapshot_id);
    draw();
  }));
  const draw = () => show(bar, between(newest.filter((id) => chosen.has(id)).reverse(), which));
  draw();
  show(view, bar, broken, el("ul", { class: "rows list snaps" }, rows));
}

// `chosen`: ids, the earlier first.
function between(chosen, which) {
  if (chosen.length !== 2) {
    return [el("span", { class: "quiet" }, chosen.length > 2 ? "Choose only two to compare." : "Choose two to compare them."), el("span", { class: "right" }, which)];
  }
  const [a, b] = chosen.map(encodeURIComponent);
  return [el("a", { class: "button", id: "compare", href: `#/diff/${a}/${b}` }, "Compare the two"), el("span", { class: "right" }, which)];
}

function row(each, choose) {
  const box = el("input", { type: "checkbox", "aria-label": `Compare ${each.snapshot_id}`, onchange: () => choose(box.checked) });
  return el("li", {}, box, el("a", { class: "row", href: `#/snapshots/${encodeURIComponent(each.snapshot_id)}` },
    el("span", { class: "goal" }, each.goal || "Without a goal"),
    el("span", { class: "sub" }, el("span", {}, ago(each.created_at)), origin(each), WHY[each.trigger] ? tag(WHY[each.trigger]) : null,
      el("span", { class: "quiet" }, each.snapshot_id))));
}

function origin(manifest) {
  const said = [manifest.source_harness?.replaceAll("_", " "), manifest.source_model].filter(Boolean).join(" · ");
  return said ? el("span", { class: "quiet" }, said) : null;
}

export async function snapshotPage(view, { signal, names: [id] }) {
  const reply = await ask(`snapshots/${encodeURIComponent(id)}`, {}, signal);
  const { manifest, working_set: work } = reply;
  show(view,
    el("header", { class: "head" }, el("a", { class: "back", href: "#/snapshots" }, "← Snapshots"),
      el("h1", {}, manifest.goal || "Without a goal"),
      el("p", { class: "sub" }, el("span", { class: "quiet" }, `${day(manifest.created_at)} ${clock(manifest.created_at)}`), origin(manifest),
        el("span", {}, "go on with it: ", code(`triseek resume ${manifest.snapshot_id}`)))),
    card("Manifest", manifestFacts(manifest, reply)),
    reply.briefing ? card("Briefing", el("pre", { class: "briefing" }, reply.briefing)) : null,
    card(`Files, ${number(work.files_read.length)}`, files(work.files_read)),
    card(`Searches, ${number(work.searches_run.length)}`, searches(work.searches_run)),
    reply.pinned_snippets.length ? card("Pinned", reply.pinned_snippets.map(pinned)) : null,
    work.frecency_top_n.length ? card("Used most", el("ul", { class: "rows" }, work.frecency_top_n.slice(0, 20).map(([name, score]) =>
      el("li", {}, path(name), el("span", { class: "right quiet" }, score.toFixed(1)))))) : null);
}

function card(title, ...content) {
  return el("section", { class: "card" }, el("h2", {}, title), content);
}

function manifestFacts(manifest, reply) {
  const dirty = manifest.repo_dirty_files;
  return facts([
    ["Snapshot", code(manifest.snapshot_id)],
    ["Session", el("span", {}, el("a", { href: `#/sessions/${encodeURIComponent(manifest.session_id)}` }, manifest.session_id), ` ${manifest.session_status}, ${count(reply.action_log_size, "entry", "entries")} taken along`)],
    ["Repository", code(manifest.repo_root)],
    ["Commit", manifest.repo_commit ? el("span", {}, code(manifest.repo_commit.slice(0, 12)), manifest.repo_branch ? ` on ${manifest.repo_branch}` : "") : "no commit"],
    ["Uncommitted", dirty.length ? el("span", { class: "paths" }, dirty.slice(0, 12).map(path), dirty.length > 12 ? `and ${dirty.length - 12} more` : null) : "nothing"],
    ["Agent", [manifest.source_harness, manifest.source_model].filter(Boolean).join(" · ")],
    ["Generation", `${manifest.generation}, epoch ${manifest.context_epoch}`],
    ["Written by", manifest.triseek_version ? `triseek ${manifest.triseek_version}` : ""],
  ]);
}

function files(seen) {
  if (!seen.length) {
    return el("p", { class: "quiet" }, "None were read or edited.");
  }
  return el("ul", { class: "rows" }, seen.map((each) => el("li", {}, path(each.path),
    each.line_start ? el("span", { class: "quiet" }, `${each.line_start}–${each.line_end}`) : null,
    el("span", { class: "right" }, each.edits ? tag(count(each.edits, "edit"), "edits") : null,
      each.reads ? el("span", { class: "quiet" }, count(each.reads, "read")) : null,
      el("code", { class: "quiet sha", title: each.sha }, each.sha.slice(0, 8))))));
}

function searches(run) {
  if (!run.length) {
    return el("p", { class: "quiet" }, "None were run.");
  }
  return el("ul", { class: "rows" }, run.map(asked));
}

function asked(each) {
  return el("li", {}, code(each.query), el("span", { class: "quiet" }, each.kind),
    el("span", { class: "right quiet" }, each.matches === 0 ? "found nothing" : each.matches ? count(each.matches, "match", "matches") : ""));
}

function pinned(each) {
  return el("figure", {}, el("figcaption", {}, path(each.path), el("span", { class: "quiet" }, ` ${each.line_start}–${each.line_end}`)), el("pre", {}, each.text));
}

export async function diffPage(view, { signal, names: [a, b] }) {
  const reply = await ask("snapshots/diff", { a, b }, signal);
  const { diff } = reply;
  const queries = (ids) => ids.map((id) => reply.searches[id] || { query: id, kind: "", matches: null });
  const parts = [
    part("Files only in the later one", "plus", diff.added_files.map(pathRow)),
    part("Files whose content differs", "tilde", diff.changed_files.map(pathRow)),
    part("Files only in the earlier one", "minus", diff.removed_files.map(pathRow)),
    part("Searches only in the later one", "plus", queries(diff.added_searches).map(asked)),
    part("Searches only in the earlier one", "minus", queries(diff.removed_searches).map(asked)),
  ].filter(Boolean);
  show(view,
    el("header", { class: "head" }, el("a", { class: "back", href: "#/snapshots" }, "← Snapshots"), el("h1", {}, "Between two snapshots"),
      el("div", { class: "pair" }, side("Earlier", reply.a), el("span", { class: "arrow", "aria-hidden": "true" }, "→"), side("Later", reply.b))),
    parts.length ? parts : empty("No difference", "Both hold the same files with the same content, and the same searches."));
}

function side(name, manifest) {
  return el("a", { class: "side", href: `#/snapshots/${encodeURIComponent(manifest.snapshot_id)}` },
    el("span", { class: "quiet" }, name, " · ", ago(manifest.created_at)), el("strong", {}, manifest.goal || "Without a goal"),
    el("span", { class: "quiet" }, [manifest.repo_commit?.slice(0, 10), manifest.source_harness?.replaceAll("_", " ")].filter(Boolean).join(" · ")),
    el("code", {}, manifest.snapshot_id));
}

function part(title, sign, rows) {
  return rows.length ? el("section", { class: `card part ${sign}` }, el("h2", {}, title, tag(number(rows.length))), el("ul", { class: "rows" }, rows)) : null;
}

function pathRow(name) {
  return el("li", {}, path(name));
}
