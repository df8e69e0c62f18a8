// The memory: its palaces, a search through all of them, and the page of one palace.

import { ask } from "/ask.js";
import { code, count, day, el, empty, number, show, wrong } from "/dom.js";
import { Drawers, drawerItem, field, link, typed } from "/drawers.js";
import { follow } from "/follow.js";
import { Graph } from "/graph.js";

const SHOWN = 30;
const REFRESH = new Set(["palace_created", "palace_deleted", "drawer_added", "drawer_deleted", "kg_changed", "lag"]);

export async function memoryPage(view, { signal, query }) {
  const list = el("div", {});
  const said = el("p", { class: "said", role: "status" });
  const input = field("Search all palaces", query.get("q") || "");
  let turn = 0;
  const draw = async () => {
    turn += 1;
    const mine = turn;
    const asked = input.value.trim();
    said.classList.add("busy");
    try {
      const reply = asked ? await ask("v1/recall", { q: asked, top_k: SHOWN }, signal) : await ask("v1/palaces", {}, signal);
      if (mine === turn) {
        show(said, asked ? [el("strong", {}, count(reply.results.length, "drawer")), ` of ${count(reply.palaces.length, "palace")}, best first`] : null);
        show(list, asked ? results(reply) : palaces(reply.palaces));
      }
    } catch (error) {
      if (error.name !== "AbortError" && mine === turn) {
        show(list, wrong(error));
      }
    }
    said.classList.toggle("busy", mine !== turn);
  };
  typed(input, () => {
    const asked = input.value.trim();
    history.replaceState(null, "", `#/memory${asked ? `?${new URLSearchParams({ q: asked })}` : ""}`);
    return draw();
  });
  show(view, el("form", { class: "search-form", role: "search", onsubmit: (event) => event.preventDefault() }, el("div", { class: "line-in" }, input)), said, list);
  await draw();
  follow(signal, (event) => REFRESH.has(event.type) && !input.value.trim() && draw());
}

function palaces(all) {
  if (!all.length) {
    return empty("No palace yet",
      "A palace keeps what is to be remembered of a project: notes in drawers, and facts in a graph. Secrets are removed, and nothing leaves this machine.",
      el("span", {}, "To begin one: ", code("triseek memory remember \"…\"")));
  }
  return el("ul", { class: "rows list" }, all.map((each) => el("li", {}, el("a", { class: "row", href: link(each.id) },
    el("span", { class: "goal" }, each.name),
    each.description ? el("span", { class: "excerpt" }, each.description) : null,
    el("span", { class: "sub" },
      el("span", {}, count(each.drawer_count, "drawer")),
      each.kg_triple_count ? el("span", {}, count(each.kg_triple_count, "fact")) : null,
      el("span", { class: "quiet" }, "since ", day(Date.parse(each.created_at) / 1000)))))));
}

function results(reply) {
  return reply.results.length
    ? el("ol", { class: "rows list drawers" }, reply.results.map((each) => drawerItem(each, { palace: link(each.palace_id) })))
    : empty("Nothing was found", "Other words may find it.");
}

export async function palacePage(view, { signal, query, names: [palace] }) {
  const info = await ask(`v1/palaces/${encodeURIComponent(palace)}`, {}, signal);
  const isGraph = query.get("view") === "graph";
  const body = el("div", {});
  const news = el("div", { class: "news", role: "status" });
  const tab = (name, given, chosen) =>
    el("a", { href: link(palace, given), "aria-current": chosen ? "page" : null }, name);
  show(view,
    el("header", { class: "head" },
      el("a", { class: "back", href: "#/memory" }, "← Memory"),
      el("h1", {}, info.name),
      info.description ? el("p", {}, info.description) : null,
      info.identity ? el("p", { class: "identity" }, info.identity) : null,
      el("nav", { class: "tabs parts", "aria-label": "Parts of the palace" },
        tab(`Drawers (${number(info.drawer_count)})`, {}, !isGraph),
        tab(`Graph (${number(info.kg_triple_count)})`, { view: "graph" }, isGraph))),
    news, body);
  const part = isGraph ? new Graph(body, palace, signal, query) : new Drawers(body, palace, info, signal, query);
  await part.begin();
  const kinds = isGraph ? ["kg_changed", "lag"] : ["drawer_added", "drawer_deleted", "lag"];
  follow(signal, (event) => {
    if (kinds.includes(event.type) && (event.type === "lag" || event.palace_id === palace) && !part.own?.delete(event.drawer_id)) {
      show(news, el("button", { type: "button", class: "chip", "data-group": "", onclick: async () => {
        show(news);
        await part.load();
      } }, "It has changed: show it"));
    }
  });
}
