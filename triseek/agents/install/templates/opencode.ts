import type { Plugin } from "@opencode-ai/plugin";

/** A message with its parts, as OpenCode makes the request of it. */
type Sent = { info: Record<string, any>; parts: Record<string, any>[] };

/** The messages of each session's last request. Looked at late: other plugins change them in place. */
const requests = new Map<string, Sent[]>();
const shown = new Shown();
/** Sessions that this process has begun, or gone on with. */
const begun = new Set<string>();
/** Sessions of which something was told since their messages last changed. */
const told = new Set<string>();
/** The sessions of sub-agents, each with the session that began it. */
const parents = new Map<string, string>();
/** Where each session that is being reverted goes back to. */
const reverts = new Map<string, string>();

/** The uses whose output is in the request, word for word as the tool gave it. */
function inView(session: string): string[] {
  const calls: string[] = [];
  for (const message of requests.get(session) ?? []) {
    if (message.info?.error) continue; // OpenCode leaves such a message out
    for (const part of message.parts ?? []) {
      const state = part.type === "tool" ? part.state : undefined;
      if (state?.status !== "completed" || state.time?.compacted) continue;
      if (shown.holds(session, part.callID, String(state.output))) calls.push(part.callID);
    }
  }
  return calls;
}

function forget(session: string): void {
  requests.delete(session);
  shown.forget(session);
}

const server: Plugin = async ({ directory }) => {
  const say = (event: string, session: string, fact: Fact = {}) =>
    tell(event, session, { cwd: directory, parent_session_id: parents.get(session), ...fact });

  /** A session that an earlier process began: what it was shown then is not known here. */
  const meet = (session: string) => {
    if (!session || begun.has(session)) return;
    begun.add(session);
    say("SessionStart", session, { source: "resume" });
  };

  const changed = (event: string, session: unknown, fact: Fact = {}) => {
    if (typeof session !== "string" || !begun.has(session)) return;
    forget(session);
    say(event, session, fact);
  };

  /** Messages go one by one: it is told once. */
  const lost = (session: unknown) => {
    if (told.delete(session as string)) changed("ContextChanged", session);
  };

  return {
    event: async ({ event }) => {
      const { type, properties } = event as { type: string; properties: Record<string, any> };
      if (type === "session.created") {
        const session = properties.info?.id ?? properties.sessionID;
        if (typeof session !== "string" || begun.has(session)) return;
        begun.add(session);
        if (typeof properties.info?.parentID === "string") {
          parents.set(session, properties.info.parentID);
        }
        const said = say("SessionStart", session, { source: "startup" });
        if (!parents.has(session)) openings.set(session, said);
      } else if (type === "session.deleted") {
        const session = properties.info?.id ?? properties.sessionID;
        changed("SessionEnd", session, { reason: "deleted" });
        for (const kept of [begun, told, parents, reverts, openings]) kept.delete(session);
      } else if (type === "session.compacted") {
        changed("PreCompact", properties.sessionID);
      } else if (type === "message.removed" || type === "message.part.removed") {
        lost(properties.sessionID);
      } else if (type === "session.updated") {
        const { id, revert } = properties.info ?? {};
        const mark = revert ? `${revert.messageID} ${revert.partID}` : "";
        if ((reverts.get(id) ?? "") === mark) return;
        reverts.set(id, mark);
        lost(id);
      }
    },

    "chat.message": async ({ sessionID }, { parts }) => {
      meet(sessionID);
      const texts = (parts as Record<string, any>[])
        .filter((part) => part.type === "text" && !part.synthetic)
        .map((part) => part.text);
      const history = await opening(sessionID);
      if (texts.length) say("UserPromptSubmit", sessionID, { prompt: texts.join("\n") });
      const last = (parts as Record<string, any>[]).at(-1);
      if (!history || typeof last?.id !== "string") return;
      const { messageID } = last;
      const part = { id: `${last.id}0`, sessionID, messageID, type: "text", text: history };
      (parts as Record<string, any>[]).push({ ...part, synthetic: true });
    },

    "experimental.chat.messages.transform": async (_, { messages }) => {
      const session = (messages as Sent[])[0]?.info?.sessionID;
      if (!session) return;
      for (const { parts } of messages as Sent[])
        for (const part of parts ?? []) delete part.state?.input?.[CALL]; // of a call that failed
      requests.delete(session); // the youngest come last
      requests.set(session, messages as Sent[]);
      const oldest = requests.keys().next().value;
      if (requests.size > 16 && oldest !== undefined) requests.delete(oldest);
    },

    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      meet(sessionID);
      if (!mayBeSpared(tool) || !first("before", sessionID, callID)) return;
      const reason = await refusal(sessionID, {
        cwd: directory,
        tool_name: tool,
        tool_use_id: callID,
        tool_input: args,
        in_view: inView(sessionID),
      });
      if (reason) throw new Error(reason);
      // A script's call has its own id behind the script's; what it reads does not reach the model.
      if (isSearch(tool) && !callID.includes("/")) args[CALL] = callID;
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      meet(sessionID);
      delete args?.[CALL]; // the model is shown the arguments as they are now
      const text = resultText(output);
      if (text !== undefined) shown.note(sessionID, callID, text);
      told.add(sessionID);
      if (!first("after", sessionID, callID)) return;
      say("PostToolUse", sessionID, {
        tool_name: tool,
        tool_use_id: callID,
        tool_input: args,
        tool_response: text,
        exit_status: exitStatus(output),
      });
    },

    dispose: async () => {
      await Promise.all([...queues.keys()].map(arrived));
    },
  };
};

/** How a shell command ended; null there if it was stopped. */
function exitStatus(output: any): number | undefined {
  return typeof output?.metadata?.exit === "number" ? output.metadata.exit : undefined;
}

/** What the model is shown of a result; those of MCP tools are lists of blocks. */
function resultText(output: any): string | undefined {
  if (typeof output?.output === "string") return output.output;
  if (!Array.isArray(output?.content)) return undefined;
  return output.content
    .filter((block: any) => block?.type === "text")
    .map((block: any) => block.text)
    .join("\n\n");
}

export default { id: "triseek", server };
