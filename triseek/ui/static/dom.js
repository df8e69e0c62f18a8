// Elements from values. Every value becomes text: nothing here, and nothing that uses it, takes
// markup (the page's policy forbids it too).

export function el(name, given = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (key === "class") {
      made.className = value;
    } else if (key.startsWith("on")) {
      made.addEventListener(key.slice(2), value);
    } else if (key in made && typeof value === "boolean") {
      made[key] = value;
    } else {
      made.setAttribute(key, value);
    }
  }
  made.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined));
  return made;
}

export function show(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

export function code(text) {
  return el("code", {}, text);
}

const NUMBERS = new Intl.NumberFormat("en");

export function count(number, one, many = `${one}s`) {
  return `${NUMBERS.format(number)} ${number === 1 ? one : many}`;
}

export function number(value) {
  return NUMBERS.format(value);
}

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB"];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size < 10 && unit ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

const pad = (value) => String(value).padStart(2, "0");

export function clock(seconds) {
  const at = new Date(seconds * 1000);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

export function day(seconds) {
  const at = new Date(seconds * 1000);
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
}

export function ago(seconds) {
  const past = Math.max(0, Date.now() / 1000 - seconds);
  const said =
    past < 60 ? "just now"
    : past < 3600 ? `${Math.floor(past / 60)} min ago`
    : past < 86400 ? `${Math.floor(past / 3600)} h ago`
    : past < 30 * 86400 ? count(Math.floor(past / 86400), "day") + " ago"
    : day(seconds);
  return el("time", { title: `${day(seconds)} ${clock(seconds)}` }, said);
}

// A path with its folders quieter than its name.
export function path(text) {
  const at = text.lastIndexOf("/") + 1;
  return el("span", { class: "path" }, el("span", { class: "folder" }, text.slice(0, at)), text.slice(at));
}

// What to show where there is nothing: what that means, and what to do next.
export function empty(title, ...lines) {
  return el("div", { class: "empty" }, el("h2", {}, title), lines.map((line) => el("p", {}, line)));
}

export function wrong(error) {
  return el("div", { class: "empty wrong", role: "alert" }, el("h2", {}, error.message), el("p", {}, error.step || ""));
}

export function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("dl", { class: "facts" }, known.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

export function tag(text, kind = "") {
  return el("span", { class: `tag ${kind}` }, text);
}
