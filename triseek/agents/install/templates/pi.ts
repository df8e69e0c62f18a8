import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

/** A message of the conversation, as it is sent. */
type Sent = { role: string; toolCallId?: string; content?: unknown };

const shown = new Shown();

/** The text of a result. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => (block?.type === "text" ? block.text : "")).join("\n");
}

export default function triseek(pi: ExtensionAPI) {
  /** The messages of the last request; undefined until there is one, and after what changes them. */
  let request: Sent[] | undefined;
  const inputs = new Map<string, unknown>();
  let spared = 0;

  const sessionOf = (ctx: ExtensionContext): string => {
    try {
      return ctx.sessionManager.getSessionId();
    } catch {
      return "";
    }
  };
  /** Whether nothing was said yet: Pi calls it a startup, too, when it goes on with a session. */
  const isNew = (ctx: ExtensionContext): boolean => {
    try {
      return !ctx.sessionManager.getEntries().some((entry) => entry.type === "message");
    } catch {
      return false;
    }
  };
  const told = (event: string, ctx: ExtensionContext, fact: Fact = {}) =>
    tell(event, sessionOf(ctx), { cwd: ctx.cwd, ...fact });
  /** What another version of Pi may not know is left out, and nothing of ours may fail a turn. */
  const on = (event: string, handler: (event: any, ctx: ExtensionContext) => unknown) =>
    (pi.on as any)(event, async (it: any, ctx: ExtensionContext) => {
      try {
        return await handler(it, ctx);
      } catch {
        return undefined;
      }
    });

  const changed = (event: string, ctx: ExtensionContext, fact: Fact = {}) => {
    request = undefined;
    shown.forget(sessionOf(ctx));
    return told(event, ctx, fact);
  };
  /** The uses whose output is in the request, word for word as the tool gave it. */
  const inView = (session: string): string[] =>
    (request ?? [])
      .filter((message) => message.role === "toolResult" && message.toolCallId)
      .filter((message) => shown.holds(session, message.toolCallId!, textOf(message.content)))
      .map((message) => message.toolCallId!);

  on("session_start", ({ reason }, ctx) => {
    const source = { new: "startup", reload: "resume" }[reason as string] ?? reason ?? "startup";
    const said = changed("SessionStart", ctx, { source });
    if (isNew(ctx)) openings.set(sessionOf(ctx), said);
  });
  on("session_shutdown", async ({ reason }, ctx) => {
    changed("SessionEnd", ctx, { reason });
    await arrived(sessionOf(ctx));
  });
  on("session_compact", ({ reason }, ctx) => void changed("PreCompact", ctx, { trigger: reason }));
  on("session_tree", (_, ctx) => void changed("ContextChanged", ctx));
  on("before_agent_start", async ({ prompt }, ctx) => {
    const content = await opening(sessionOf(ctx));
    if (typeof prompt === "string") told("UserPromptSubmit", ctx, { prompt });
    return content
      ? { message: { customType: "triseek-history", content, display: false } }
      : undefined;
  });

  // After all `context` handlers, which may cut. Pi before 0.87 does not tell: there nothing is spared.
  on("context_with_system", ({ messages }) => {
    request = messages;
  });

  on("tool_call", async ({ toolName, toolCallId, parentToolCallId, input }, ctx) => {
    // What a script reads does not reach the model: it may have to read it again.
    if (parentToolCallId || !mayBeSpared(toolName)) return undefined;
    const session = sessionOf(ctx);
    if (!first("before", session, toolCallId)) return undefined;
    const reason = await refusal(session, {
      cwd: ctx.cwd,
      tool_name: toolName,
      tool_use_id: toolCallId,
      tool_input: input,
      in_view: inView(session),
    });
    if (!reason) {
      if (isSearch(toolName)) input[CALL] = toolCallId; // the model is not shown it
      return undefined;
    }
    spared += 1;
    return { block: true, reason };
  });

  // The arguments are told by one event, and by the next what is left when all have changed it.
  on("tool_result", ({ toolCallId, input }) => {
    delete input?.[CALL];
    inputs.set(toolCallId, input);
  });
  on("tool_execution_end", ({ toolName, toolCallId, parentToolCallId, result, isError }, ctx) => {
    const session = sessionOf(ctx);
    const input = inputs.get(toolCallId);
    inputs.delete(toolCallId);
    if (input === undefined) return; // it was refused
    const text = textOf(result?.content);
    if (!parentToolCallId) shown.note(session, toolCallId, text);
    if (!first("after", session, toolCallId)) return;
    told(isError ? "PostToolUseFailure" : "PostToolUse", ctx, {
      tool_name: toolName,
      tool_use_id: toolCallId,
      tool_input: input,
      tool_response: parentToolCallId ? undefined : text,
    });
  });

  pi.registerCommand("triseek-memo", {
    description: "How often triseek spared a read in this session",
    handler: async (_args: string, ctx: any) => {
      ctx.ui.notify(`triseek: ${spared} reads spared in this session`, "info");
    },
  });
}
