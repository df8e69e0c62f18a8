// Loads a plugin as its agent does, and calls it by the script on stdin: a list of {hook, input,
// output} for OpenCode, of {hook, input} for Pi. Prints what came of each.
import { pathToFileURL } from "node:url";

const [harness, path] = process.argv.slice(2);
let script = "";
for await (const chunk of process.stdin) script += chunk;

const handlers = {};
const entries = JSON.parse(process.env.ENTRIES ?? "[]");
const session = { getSessionId: () => "s1", getEntries: () => entries };
const context = { cwd: process.cwd(), sessionManager: session };
const loaded = (await import(pathToFileURL(path).href)).default;
if (harness === "opencode") {
  Object.assign(handlers, await loaded.server({ directory: process.cwd() }));
} else {
  loaded({
    on: (event, handler) => (handlers[event] = (input) => handler(input, context)),
    registerCommand: () => {},
  });
}

const results = [];
for (const { hook, input, output } of JSON.parse(script)) {
  const began = performance.now();
  const result = { hook };
  try {
    result.value = await handlers[hook](input, output);
  } catch (error) {
    result.error = error.message;
  }
  result.ms = performance.now() - began;
  // As the plugin leaves them.
  result.arguments = output?.args ?? input?.args ?? input?.input;
  result.output = output;
  results.push(result);
}
await (handlers.dispose ?? (() => handlers.session_shutdown({ reason: "quit" })))();
console.log(JSON.stringify(results));
