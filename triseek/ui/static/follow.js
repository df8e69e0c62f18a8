// The memory's events, as they happen: `changed` is called with each, until the page is left.
// A stream is read with `fetch`, because an EventSource cannot send the token.

import { authorization } from "/ask.js";

const WAIT_MS = 3000;

export async function follow(signal, changed) {
  let last = "";
  while (!signal.aborted) {
    try {
      const headers = { ...authorization(), ...(last ? { "Last-Event-ID": last } : {}) };
      const answer = await fetch("/sse", { headers, signal });
      if (!answer.ok) {
        return;
      }
      last = await read(answer.body, last, changed);
    } catch {
      // The server was ended, or the page was left.
    }
    await new Promise((resolve) => setTimeout(resolve, signal.aborted ? 0 : WAIT_MS));
  }
}

async function read(body, last, changed) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const frames = (rest + part.value).split("\n\n");
      rest = frames.pop();
      for (const frame of frames) {
        const lines = frame.split("\n");
        last = lines.find((line) => line.startsWith("id: "))?.slice(4) ?? last;
        const data = lines.find((line) => line.startsWith("data: "));
        if (data) {
          changed(JSON.parse(data.slice(6)));
        }
      }
    }
  } catch {
    // The connection was lost: what was read counts.
  }
  return last;
}
