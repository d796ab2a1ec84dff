// Loaded into Pi for a cast: the commands of an agent do not see the keys of models, and the agent can hand
// over its result through the one tool of an MCP server.

import { spawn } from "node:child_process";
import { createBashToolDefinition } from "@earendil-works/pi-coding-agent";

const VARIABLE = "MATERIAC_PI";
const LONG_MS = 60_000;
const REVISION = "2025-06-18";

// Pi loads the extension again for each session of the same process; the variable is for us alone.
const kept = (globalThis[Symbol.for(VARIABLE)] ??= JSON.parse(process.env[VARIABLE] ?? "{}"));
delete process.env[VARIABLE];

export default async function (pi) {
  const hidden = kept.hidden ?? [];
  if (kept.bash) pi.registerTool(bashWithout(pi, hidden));
  if (kept.server) pi.registerTool(await handoff(kept.server, hidden));
}

function bashWithout(pi, hidden) {
  let settings = {};
  try {
    settings = pi.getSettings?.() ?? {};
  } catch {
    // Not known while extensions are loaded: the defaults hold.
  }
  return createBashToolDefinition(process.cwd(), {
    shellPath: settings.shellPath,
    commandPrefix: settings.shellCommandPrefix,
    spawnHook: (context) => ({ ...context, env: without(context.env, hidden) }),
  });
}

function without(env, names) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

async function handoff(server, hidden) {
  const env = { ...without(process.env, hidden), ...server.env };
  const listed = await asked(server.command, env, "tools/list", {});
  const tool = listed.tools.find(({ name }) => name === server.tool);
  return {
    name: tool.name,
    label: tool.name,
    description: tool.description,
    promptSnippet: tool.description,
    parameters: tool.inputSchema,
    executionMode: "sequential",
    async execute(_id, params, signal) {
      const call = { name: tool.name, arguments: params };
      const result = await asked(server.command, env, "tools/call", call, signal);
      const text = result.content.map((part) => part.text ?? "").join("\n");
      if (result.isError) throw new Error(text);
      return { content: [{ type: "text", text }], details: undefined, terminate: true };
    },
  };
}

// One request to the server, in a process of its own: it remembers in its files all that it has to.
async function asked(command, env, method, params, signal) {
  const server = spawn(command[0], command.slice(1), { env, stdio: ["pipe", "pipe", "ignore"], signal });
  const timer = setTimeout(() => server.kill("SIGKILL"), LONG_MS);
  try {
    const answers = new Map();
    const ended = new Promise((_, reject) => {
      server.on("error", reject);
      server.on("close", () => reject(new Error(`'${command[0]}' ended before it answered '${method}'`)));
    });
    ended.catch(() => {});
    server.stdin.on("error", () => {});
    listen(server.stdout, (message) => answers.get(message.id)?.(message));
    const say = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const ask = (id, name, given) => {
      const answered = new Promise((resolve) => answers.set(id, resolve));
      say({ id, method: name, params: given });
      return Promise.race([answered, ended]);
    };
    const clientInfo = { name: "pi", version: "1" };
    await ask(1, "initialize", { protocolVersion: REVISION, capabilities: {}, clientInfo });
    say({ method: "notifications/initialized" });
    const { result, error } = await ask(2, method, params);
    if (error) throw new Error(error.message);
    return result;
  } finally {
    clearTimeout(timer);
    server.stdin.end();
  }
}

// Lines end at a line feed alone: the readers of Node split at other characters too.
function listen(stream, hear) {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim()) hear(JSON.parse(line));
  });
}
