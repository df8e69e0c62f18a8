// A graph as SVG: nodes that stay in their places, edges and labels that come and go.
// Nodes are reached by the tabulator key and the arrow keys; + and - magnify, 0 shows all.

import { layout } from "/layout.js";

const SVG = "http://www.w3.org/2000/svg";
const LABEL_MAX = 26;
const EDGE_LABELS_MAX = 24; // of the chosen name; beyond, the list beside says the same
const MANY = 80; // nodes from which on dots and arrows are smaller
const SCALE_MAX = 260;
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function svg(name, given = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(given)) {
    made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export class Picture {
  // `links`: { from, to } as names of nodes. `choose` is called with a name, or "" for none.
  constructor(names, links, choose) {
    this.choose = choose;
    this.nodes = names.map((name) => ({ name, degree: 0, holds: true }));
    const at = new Map(names.map((name, number) => [name, number]));
    this.edges = links.map((each) => ({ link: each, from: this.nodes[at.get(each.from)], to: this.nodes[at.get(each.to)], label: "" }));
    for (const edge of this.edges) {
      edge.from.degree += 1;
      edge.to.degree += 1;
    }
    const pairs = this.edges.filter((edge) => edge.from !== edge.to).map((edge) => [at.get(edge.link.from), at.get(edge.link.to)]);
    layout(names.length, pairs).forEach(([x, y], number) => Object.assign(this.nodes[number], { x, y }));
    this.chosen = "";
    this.make();
  }

  make() {
    const size = this.nodes.length > MANY ? 0.65 : 1;
    const arrow = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: "7", refY: "4", markerUnits: "userSpaceOnUse", markerWidth: size * 9, markerHeight: size * 9, orient: "auto" },
      svg("path", { d: "M0 0.5 8 4 0 7.5z", class: "arrow-head" }));
    for (const edge of this.edges) {
      edge.line = svg("path", { class: "edge", "marker-end": "url(#arrow)" });
      edge.text = svg("text", { class: "edge-label" });
    }
    for (const node of this.nodes) {
      node.radius = Math.min(4 + Math.sqrt(node.degree) * 1.4, 14) * size;
      node.text = svg("text", { class: "node-label", "aria-hidden": "true" }, short(node.name));
      node.shape = svg("g", { class: "node", role: "button", tabindex: "-1", "aria-label": node.name, "data-name": node.name },
        svg("title", {}, document.createTextNode(node.name)), svg("circle", { r: node.radius + 6, class: "reach" }), svg("circle", { r: node.radius, class: "dot" }));
    }
    const parts = [this.edges.map((edge) => edge.line), this.edges.map((edge) => edge.text), this.nodes.map((node) => node.text), this.nodes.map((node) => node.shape)];
    this.element = svg("svg", { class: this.nodes.length > MANY ? "picture many" : "picture", role: "group", "aria-label": `Graph of ${this.nodes.length} names. Arrow keys move, Enter chooses.` },
      svg("defs", {}, arrow), ...parts.map((part) => svg("g", {}, ...part)));
    const first = [...this.nodes].sort((a, b) => b.degree - a.degree)[0];
    this.reach(first);
    this.listen();
  }

  listen() {
    const named = (event) => this.nodes.find((node) => node.shape === event.target.closest?.(".node"));
    let drag = null;
    let moved = 0;
    this.element.addEventListener("click", (event) => moved < 5 && this.choose(named(event)?.name ?? ""));
    this.element.addEventListener("keydown", (event) => this.pressed(event, named(event)));
    this.element.addEventListener("pointerdown", (event) => {
      drag = [event.clientX, event.clientY];
      moved = 0;
    });
    this.element.addEventListener("pointermove", (event) => {
      if (drag && event.buttons) {
        const by = [event.clientX - drag[0], event.clientY - drag[1]];
        moved += Math.abs(by[0]) + Math.abs(by[1]);
        drag = [event.clientX, event.clientY];
        if (moved >= 5) {
          this.element.setPointerCapture(event.pointerId);
          this.left += by[0];
          this.top += by[1];
          this.place();
        }
      } else {
        drag = null;
      }
    });
    this.element.addEventListener("wheel", (event) => {
      if (event.ctrlKey) { // as maps do: without it, the page scrolls
        event.preventDefault();
        const box = this.element.getBoundingClientRect();
        this.magnify(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - box.left, event.clientY - box.top);
      }
    }, { passive: false });
  }

  pressed(event, node) {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const keys = {
      "+": () => this.magnify(1.4), "-": () => this.magnify(1 / 1.4), 0: () => this.fit(),
      Enter: () => node && this.choose(node.name), " ": () => node && this.choose(node.name), Escape: () => this.choose(""),
    };
    const act = keys[event.key] || (WAYS[event.key] && node && (() => this.step(node, WAYS[event.key])));
    if (act) {
      event.preventDefault();
      act();
    }
  }

  // Moves to the nearest node in a direction; what lies aside counts as farther.
  step(node, [wx, wy]) {
    let best = null;
    let nearest = Infinity;
    for (const each of this.nodes) {
      const along = (each.sx - node.sx) * wx + (each.sy - node.sy) * wy;
      const aside = Math.abs((each.sx - node.sx) * wy) + Math.abs((each.sy - node.sy) * wx);
      if (each.holds && along > 1 && along + aside * 2 < nearest) {
        nearest = along + aside * 2;
        best = each;
      }
    }
    if (best) {
      this.reach(best);
      best.shape.focus();
    }
  }

  reach(node) {
    this.reached?.shape.setAttribute("tabindex", "-1");
    this.reached = node;
    node.shape.setAttribute("tabindex", "0");
  }

  // Shows every node in the element's size; wide places are used by stretching a little.
  fit() {
    this.measure();
    const { clientWidth: width, clientHeight: height } = this.element;
    const xs = this.nodes.map((node) => node.x);
    const ys = this.nodes.map((node) => node.y);
    const wide = Math.max(...xs) - Math.min(...xs) || 1;
    const high = Math.max(...ys) - Math.min(...ys) || 1;
    const side = Math.min(90, width * 0.14);
    this.scale = Math.min((width - side * 2) / wide, (height - 70) / high, 130);
    this.stretch = Math.min(Math.max((width - side * 2) / (wide * this.scale), 1), 1.5);
    this.rise = Math.min(Math.max((height - 70) / (high * this.scale), 1), 1.5);
    this.left = width / 2 - ((Math.max(...xs) + Math.min(...xs)) / 2) * this.scale * this.stretch;
    this.top = height / 2 - ((Math.max(...ys) + Math.min(...ys)) / 2) * this.scale * this.rise;
    this.place();
  }

  magnify(factor, x = this.element.clientWidth / 2, y = this.element.clientHeight / 2) {
    const real = Math.min(Math.max(this.scale * factor, 2), SCALE_MAX) / this.scale;
    this.scale *= real;
    this.left = x - (x - this.left) * real;
    this.top = y - (y - this.top) * real;
    this.place();
  }

  // Takes over which links hold, and their labels: `shown` by link. `chosen`: a name, or "".
  update(shown, chosen) {
    this.chosen = chosen;
    const held = new Set();
    const near = new Set([chosen]);
    for (const edge of this.edges) {
      edge.label = shown.get(edge.link) || "";
      if (edge.label) {
        held.add(edge.from.name).add(edge.to.name);
        if (edge.from.name === chosen || edge.to.name === chosen) {
          near.add(edge.from.name).add(edge.to.name);
        }
      }
    }
    for (const node of this.nodes) {
      node.holds = held.has(node.name);
      node.near = !chosen || near.has(node.name);
      node.shape.setAttribute("class", ["node", node.holds ? "" : "apart", node.near ? "" : "far", node.name === chosen ? "chosen" : ""].join(" "));
      node.shape.setAttribute("aria-pressed", String(node.name === chosen));
    }
    if (chosen) {
      this.reach(this.nodes.find((node) => node.name === chosen) || this.reached);
    }
    this.place();
  }

  place() {
    for (const node of this.nodes) {
      node.sx = this.left + node.x * this.scale * this.stretch;
      node.sy = this.top + node.y * this.scale * this.rise;
      node.shape.setAttribute("transform", `translate(${node.sx.toFixed(1)} ${node.sy.toFixed(1)})`);
    }
    for (const edge of this.edges) {
      const near = edge.from.name === this.chosen || edge.to.name === this.chosen;
      edge.line.setAttribute("class", ["edge", edge.label ? "" : "apart", this.chosen && !near ? "far" : "", near ? "near" : ""].join(" "));
      edge.line.setAttribute("d", path(edge));
    }
    this.label();
  }

  // Widths of the labels in pixels, in the type that the page has.
  measure() {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${getComputedStyle(this.element).fontSize} ${getComputedStyle(this.element).fontFamily}`;
    this.width = (text) => pen.measureText(text).width;
    for (const node of this.nodes) {
      node.long = this.width(short(node.name)) * (node.name === this.chosen ? 1.1 : 1);
    }
  }

  // Writes the labels that have room, those of the most connected first.
  label() {
    const { clientWidth: width, clientHeight: height } = this.element;
    const boxes = this.nodes.filter((node) => node.holds && node.near).map((node) => [node.sx - node.radius, node.sy - node.radius, node.sx + node.radius, node.sy + node.radius]);
    const fits = (box) => box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height
      && !boxes.some((each) => box[0] < each[2] && box[2] > each[0] && box[1] < each[3] && box[3] > each[1]);
    const weight = (node) => (node.name === this.chosen ? 2e6 : node.near && this.chosen ? 1e6 : 0) + node.degree;
    const directions = this.directions();
    for (const node of [...this.nodes].sort((a, b) => weight(b) - weight(a))) {
      const wanted = node.holds && node.near;
      put(node.text, wanted && sides(node, directions.get(node)).find((side) => fits(side.box)), boxes, node.name === this.chosen ? "node-label chosen" : "node-label");
    }
    const near = this.edges.filter((edge) => edge.label && (this.chosen ? edge.from.name === this.chosen || edge.to.name === this.chosen : true));
    const few = near.length <= (this.chosen ? EDGE_LABELS_MAX : EDGE_LABELS_MAX * 2) ? new Set(near) : new Set();
    for (const edge of this.edges) {
      edge.text.textContent = short(edge.label);
      const long = few.has(edge) ? this.width(edge.text.textContent) * 0.92 : 0;
      const y = (edge.from.sy + edge.to.sy) / 2 + 3 - (edge.from === edge.to ? edge.from.radius + 24 : 0);
      const x = (edge.from.sx + edge.to.sx) / 2;
      const side = { x, y, anchor: "middle", box: [x - long / 2, y - 10, x + long / 2, y + 3] };
      put(edge.text, few.has(edge) && fits(side.box) ? side : null, boxes, "edge-label");
    }
  }

  // The directions in which the edges of each node lead, so that labels stand elsewhere.
  directions() {
    const all = new Map(this.nodes.map((node) => [node, []]));
    for (const { from, to } of this.edges.filter((edge) => edge.label)) {
      const [wx, wy] = from === to ? [0, -1] : [to.sx - from.sx, to.sy - from.sy];
      const long = Math.hypot(wx, wy) || 1;
      all.get(from).push([wx / long, wy / long]);
      all.get(to).push(from === to ? [0, -1] : [-wx / long, -wy / long]);
    }
    return all;
  }
}

// Where a node's label can stand, the best first.
function sides({ sx, sy, radius, long }, directions) {
  const gap = radius + 4;
  const all = [
    { x: sx + gap, y: sy + 4, anchor: "start", way: [1, 0], from: 0 },
    { x: sx - gap, y: sy + 4, anchor: "end", way: [-1, 0], from: long },
    { x: sx, y: sy - gap - 1, anchor: "middle", way: [0, -1], from: long / 2 },
    { x: sx, y: sy + gap + 10, anchor: "middle", way: [0, 1], from: long / 2 },
  ];
  for (const side of all) {
    side.crossed = Math.max(-1, ...directions.map(([x, y]) => x * side.way[0] + y * side.way[1]));
    side.box = [side.x - side.from, side.y - 11, side.x - side.from + long, side.y + 3];
  }
  return all.sort((a, b) => a.crossed - b.crossed);
}

function put(text, side, boxes, kind) {
  text.setAttribute("class", side ? kind : "unplaced");
  if (side) {
    text.setAttribute("x", side.x.toFixed(1));
    text.setAttribute("y", side.y.toFixed(1));
    text.setAttribute("text-anchor", side.anchor);
    boxes.push(side.box);
  }
}

function path({ from, to }) {
  if (from === to) {
    const r = from.radius;
    return `M${from.sx - r * 0.7} ${from.sy - r * 0.7} C${from.sx - r - 14} ${from.sy - r - 22} ${from.sx + r + 14} ${from.sy - r - 22} ${from.sx + r * 0.7} ${from.sy - r * 0.7}`;
  }
  const long = Math.hypot(to.sx - from.sx, to.sy - from.sy) || 1;
  const ux = (to.sx - from.sx) / long;
  const uy = (to.sy - from.sy) / long;
  const end = Math.min(to.radius + 2, long / 2);
  return `M${(from.sx + ux * from.radius).toFixed(1)} ${(from.sy + uy * from.radius).toFixed(1)}L${(to.sx - ux * end).toFixed(1)} ${(to.sy - uy * end).toFixed(1)}`;
}

function short(text) {
  const letters = [...text];
  return letters.length > LABEL_MAX ? `${letters.slice(0, LABEL_MAX - 1).join("")}…` : text;
}
