import { spawn } from "node:child_process";
import { createHash } from "node:crypto";

/** What starts triseek. */
const PROGRAM: string = "@PROGRAM@";
const HARNESS: string = "@HARNESS@";
/** No call of ours may hold the agent up for longer. */
const LIMIT_MS = 3000;
/** More waiting than this means that triseek does not keep up: the rest goes untold. */
const WAITING_MAX = 200;
/** A fact for triseek: Claude Code's field names, which all agents' payloads have with us. */
type Fact = Record<string, unknown>;

/** Run `triseek hook`, which answers on stdout; "" for whatever goes wrong. */
function run(event: string, fact: Fact): Promise<string> {
  return new Promise((resolve) => {
    let said = "";
    const finish = (text: string) => {
      clearTimeout(timer);
      resolve(text);
    };
    let child: ReturnType<typeof spawn> | undefined;
    const timer = setTimeout(() => {
      child?.kill("SIGKILL");
      finish("");
    }, LIMIT_MS);
    try {
      child = spawn(PROGRAM, ["hook", event, "--harness", HARNESS], {
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      });
      child.on("error", () => finish(""));
      child.on("close", (code) => finish(code === 0 ? said : ""));
      child.stdout?.on("data", (chunk) => {
        said += String(chunk);
      });
      child.stdin?.on("error", () => {});
      child.stdin?.end(JSON.stringify({ hook_event_name: event, ...fact }));
    } catch {
      finish("");
    }
  });
}

/** The last fact of each session that is on its way; they arrive in order. */
const queues = new Map<string, Promise<unknown>>();
let waiting = 0;

/** Tell something, without waiting for it; resolves to the answer. */
function tell(event: string, session: string, fact: Fact): Promise<string> {
  if (!session || waiting >= WAITING_MAX) return Promise.resolve("");
  waiting += 1;
  const said = (queues.get(session) ?? Promise.resolve())
    .then(() => run(event, { session_id: session, ...fact }))
    .catch(() => "");
  const last = said.then(() => {
    waiting -= 1;
    if (queues.get(session) === last) queues.delete(session);
  });
  queues.set(session, last);
  return said;
}

/** Whether all that was told of a session has arrived, in time. */
async function arrived(session: string): Promise<boolean> {
  const last = queues.get(session);
  if (!last) return true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), LIMIT_MS);
  });
  const done = await Promise.race([last.then(() => true), late]);
  clearTimeout(timer);
  return done;
}

/** The answers to the starts of sessions in which nothing was said yet. */
const openings = new Map<string, Promise<string>>();

/** What the model is shown of the project's history with a session's first prompt; "" for nothing. */
async function opening(session: string): Promise<string> {
  const said = openings.get(session);
  if (!said) return "";
  openings.delete(session);
  try {
    if (!(await arrived(session))) return "";
    const text = JSON.parse(await said).hookSpecificOutput?.additionalContext;
    return typeof text === "string" ? text : "";
  } catch {
    return "";
  }
}

/** Why a tool must not run; "" if it may, which is so whenever anything is in doubt. */
async function refusal(session: string, fact: Fact): Promise<string> {
  try {
    if (!session || !(await arrived(session))) return "";
    const said = await run("PreToolUse", { session_id: session, ...fact });
    if (!said.trim()) return "";
    const verdict = JSON.parse(said).hookSpecificOutput;
    if (verdict?.permissionDecision !== "deny") return "";
    const parts = [verdict.permissionDecisionReason, verdict.additionalContext];
    return parts.filter((part) => typeof part === "string" && part).join("\n");
  } catch {
    return "";
  }
}

/** Whether a tool can be a mere read, or asks triseek: only those are worth an answer. */
function mayBeSpared(tool: string): boolean {
  return (
    isSearch(tool) ||
    /^(read|view|bash|shell)$|(^|_)(read|view|read_file|view_file|get_file|open_file)$|_memo_/.test(
      tool,
    )
  );
}

function isSearch(tool: string): boolean {
  return /triseek_+(search_content|search_path_and_content|find_files)$/.test(tool);
}

/** The argument by which a search says which call it is: the agent sends no id of its own. */
const CALL = "triseek/toolUseId";

/** What each tool's use showed, so that a result that was changed since does not count. */
class Shown {
  private readonly sessions = new Map<string, Map<string, string>>();

  note(session: string, call: string, text: string): void {
    const calls = this.sessions.get(session) ?? new Map<string, string>();
    this.sessions.delete(session); // the youngest come last
    // Some models number their calls anew: an id of two outputs stands for neither.
    const before = calls.get(call) ?? digest(text);
    this.sessions.set(session, calls.set(call, before === digest(text) ? before : ""));
    const oldest = this.sessions.keys().next().value;
    if (this.sessions.size > 64 && oldest !== undefined) this.sessions.delete(oldest);
  }

  holds(session: string, call: string, text: string): boolean {
    return this.sessions.get(session)?.get(call) === digest(text);
  }

  forget(session: string): void {
    this.sessions.delete(session);
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

/** True for the first who asks: two copies of this file may be loaded, for a user and a project. */
function first(moment: string, session: string, call: string): boolean {
  const shared = globalThis as unknown as Record<symbol, Set<string> | undefined>;
  const key = Symbol.for("triseek.told");
  const told = (shared[key] ??= new Set<string>());
  const name = [moment, session, call].join("\n");
  if (told.has(name)) return false;
  if (told.size > 5000) told.clear();
  told.add(name);
  return true;
}
