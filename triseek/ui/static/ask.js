// Questions to the server. The token came in the URL's fragment; it is kept for this tab alone and
// sent in a header, which no other page can do.

const KEPT = "triseek-token";

export class Refused extends Error {
  // `error`: of the page's API; the memory's routes, which are for programs too, send a line instead.
  constructor(status, error) {
    super(error.message || String(error));
    this.status = status;
    this.code = error.code;
    this.step = error.suggested_action || "";
  }
}

// Takes the token out of the address bar, so that it is in no history and on no screenshot.
export async function enter() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  const ticket = given.get("ticket");
  if (token || ticket) {
    history.replaceState(null, "", "#/search");
  }
  if (token) {
    sessionStorage.setItem(KEPT, token);
  } else if (ticket) {
    const answer = await fetch("/api/enter", {
      method: "POST",
      headers: { Authorization: `Ticket ${ticket}` },
    });
    if (answer.ok) {
      sessionStorage.setItem(KEPT, (await answer.json()).token);
    }
  }
  return sessionStorage.getItem(KEPT) !== null;
}

export function authorization() {
  return { Authorization: `Bearer ${sessionStorage.getItem(KEPT)}` };
}

export function ask(path, given = {}, signal = undefined) {
  const query = new URLSearchParams(given).toString();
  return send("GET", `${path}${query ? `?${query}` : ""}`, signal);
}

export async function send(method, path, signal = undefined) {
  const answer = await fetch(`/api/${path}`, { method, headers: authorization(), signal });
  const reply = await answer.json();
  if (!answer.ok) {
    throw new Refused(answer.status, reply.error);
  }
  return reply;
}

// Calls again and again while the page is seen; what is wrong once may be right the next time.
export function every(seconds, signal, work) {
  let timer = 0;
  const round = async () => {
    if (signal.aborted) {
      return;
    }
    let wait = seconds;
    if (!document.hidden) {
      try {
        wait = (await work()) || seconds;
      } catch (error) {
        if (error.name !== "AbortError") {
          wait = seconds * 2;
        }
      }
    }
    if (!signal.aborted) {
      timer = setTimeout(round, wait * 1000);
    }
  };
  timer = setTimeout(round, seconds * 1000);
  signal.addEventListener("abort", () => clearTimeout(timer));
}
