// Places of a graph's nodes by forces: all push each other away, edges pull (Fruchterman and
// Reingold, 1991). Parts that no edge joins are placed alone and then set beside each other. The
// same graph is placed the same way each time.

const ROUNDS = 260;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const GRAVITY = 0.03;
const WIDE = 1.7; // width of the whole to its height
const MARGIN = 1.3;

// `pairs`: two node numbers each. Returns [x, y] of each node; an edge is about 1 long.
export function layout(size, pairs) {
  const places = new Array(size);
  const boxes = parts(size, pairs).map((part) => box(part, pairs));
  boxes.sort((a, b) => b.wide * b.high - a.wide * a.high || a.part[0] - b.part[0]);
  const area = boxes.reduce((sum, each) => sum + each.wide * each.high, 0);
  const width = Math.max(boxes[0]?.wide ?? 0, Math.sqrt(area * WIDE));
  let [left, top, high] = [0, 0, 0];
  for (const each of boxes) {
    if (left && left + each.wide > width) {
      [left, top, high] = [0, top + high, 0];
    }
    each.part.forEach((node, at) => { places[node] = [left + each.x[at], top + each.y[at]]; });
    left += each.wide;
    high = Math.max(high, each.high);
  }
  return places;
}

// Nodes that are joined by edges, over any number of steps.
function parts(size, pairs) {
  const near = Array.from({ length: size }, () => []);
  for (const [a, b] of pairs) {
    near[a].push(b);
    near[b].push(a);
  }
  const seen = new Uint8Array(size);
  const all = [];
  for (let start = 0; start < size; start += 1) {
    if (!seen[start]) {
      const part = [start];
      seen[start] = 1;
      for (const node of part) { // it grows meanwhile
        for (const next of near[node].filter((each) => !seen[each])) {
          seen[next] = 1;
          part.push(next);
        }
      }
      all.push(part);
    }
  }
  return all;
}

// A part's nodes, placed in a box that begins at 0.
function box(part, pairs) {
  const number = new Map(part.map((node, at) => [node, at]));
  const own = pairs.filter(([a]) => number.has(a)).map(([a, b]) => [number.get(a), number.get(b)]);
  const [x, y] = turned(...placed(part.length, own));
  const [left, top] = [Math.min(...x) - MARGIN / 2, Math.min(...y) - MARGIN / 2];
  return { part, x: x.map((each) => each - left), y: y.map((each) => each - top),
    wide: Math.max(...x) - left + MARGIN / 2, high: Math.max(...y) - top + MARGIN / 2 };
}

function placed(size, pairs) {
  const x = new Float64Array(size);
  const y = new Float64Array(size);
  for (let at = 0; at < size; at += 1) {
    const far = Math.sqrt(at + 0.5) * 0.8;
    x[at] = far * Math.cos(at * GOLDEN) * 1.3;
    y[at] = far * Math.sin(at * GOLDEN);
  }
  const dx = new Float64Array(size);
  const dy = new Float64Array(size);
  for (let round = 0; round < ROUNDS; round += 1) {
    dx.fill(0);
    dy.fill(0);
    repel(x, y, dx, dy);
    attract(x, y, dx, dy, pairs);
    const most = Math.sqrt(size) * 0.12 * (1 - round / ROUNDS) + 0.01;
    for (let at = 0; at < size; at += 1) {
      const fx = dx[at] - x[at] * GRAVITY;
      const fy = dy[at] - y[at] * GRAVITY * WIDE;
      const length = Math.hypot(fx, fy) || 1;
      const step = Math.min(length, most) / length;
      x[at] += fx * step;
      y[at] += fy * step;
    }
  }
  return [x, y];
}

// Turns places so that they are widest from left to right: along their principal axis.
function turned(x, y) {
  const mean = (values) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const [mx, my] = [mean(x), mean(y)];
  let [xx, yy, xy] = [0, 0, 0];
  x.forEach((each, at) => {
    xx += (each - mx) ** 2;
    yy += (y[at] - my) ** 2;
    xy += (each - mx) * (y[at] - my);
  });
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [x.map((each, at) => each * cos + y[at] * sin), y.map((each, at) => each * cos - x[at] * sin)];
}

function repel(x, y, dx, dy) {
  for (let a = 0; a < x.length; a += 1) {
    for (let b = a + 1; b < x.length; b += 1) {
      const ex = x[a] - x[b];
      const ey = y[a] - y[b];
      const force = 1 / Math.max(ex * ex + ey * ey, 0.01);
      dx[a] += ex * force;
      dy[a] += ey * force;
      dx[b] -= ex * force;
      dy[b] -= ey * force;
    }
  }
}

function attract(x, y, dx, dy, pairs) {
  for (const [a, b] of pairs) {
    const ex = x[a] - x[b];
    const ey = y[a] - y[b];
    const force = Math.min(Math.hypot(ex, ey), 8);
    dx[a] -= ex * force;
    dy[a] -= ey * force;
    dx[b] += ex * force;
    dy[b] += ey * force;
  }
}
