// The year as a heat map: a table of days, each a button that filters by it.
// The server lays it out, as it does for the terminal and for pictures.

import { count, el } from "/dom.js";

const STEPS = { ArrowLeft: -7, ArrowRight: 7, ArrowUp: -1, ArrowDown: 1 };

// `choose` is called with a day, or with "" when the chosen day is chosen again.
// `current`: the day that the tabulator key goes to; else the chosen one, else the last.
export function heatMap(map, chosen, current, choose) {
  const days = map.weeks.flat();
  const buttons = days.map(([day, messages, level]) => cell(day, messages, level, day === chosen));
  const start = buttons.find((each) => each.dataset.day === (current || chosen)) || buttons.at(-1);
  start.tabIndex = 0;
  const table = el("table", { class: "heat" },
    el("caption", {}, `${count(map.total, "message")} in the last year. Arrow keys move from day to day; Enter shows the day.`),
    el("thead", {}, el("tr", {}, el("td", {}), months(map))),
    el("tbody", {}, map.weekdays.map((name, weekday) => el("tr", {},
      el("th", { scope: "row" }, el("span", { class: weekday % 2 ? "unseen" : "" }, name)),
      map.weeks.map((_, week) => el("td", {}, buttons[week * 7 + weekday]))))));
  table.addEventListener("click", (event) => {
    const day = event.target.closest("[data-day]")?.dataset.day;
    if (day) {
      choose(day === chosen ? "" : day);
    }
  });
  table.addEventListener("keydown", (event) => move(event, buttons));
  return el("div", { class: "heat-part" }, el("div", { class: "heat-scroll" }, table), legend(map));
}

function cell(day, messages, level, isChosen) {
  const text = `${day}: ${messages ? count(messages, "message") : "no messages"}`;
  return el("button", { type: "button", class: `cell level-${level}`, "data-day": day, title: text, "aria-label": text,
    "aria-pressed": String(isChosen), tabindex: "-1" });
}

function months(map) {
  const ends = [...map.months.slice(1).map(([column]) => column), map.weeks.length];
  const first = map.months.length ? map.months[0][0] : map.weeks.length;
  return [
    first ? el("td", { colspan: String(first) }) : null,
    map.months.map(([column, name], at) => el("th", { scope: "colgroup", colspan: String(ends[at] - column) }, name)),
  ];
}

function legend(map) {
  return el("p", { class: "heat-legend" }, map.ranges.map((range, level) =>
    el("span", { class: "heat-range" }, el("span", { class: `cell level-${level}`, "aria-hidden": "true" }), range.replace("-", "–"))),
    el("span", { class: "quiet" }, "messages a day"));
}

function move(event, buttons) {
  const at = buttons.indexOf(event.target);
  const to = { Home: 0, End: buttons.length - 1 }[event.key] ?? at + (STEPS[event.key] ?? NaN);
  if (at < 0 || Number.isNaN(to) || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  event.preventDefault();
  const next = buttons[to];
  if (next) {
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}
