import { appendFileSync } from "node:fs";
import * as promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import type { ModelProvider } from "../src/models/model-provider.ts";

const looks = [
  { name: "list", arguments: {} },
  { name: "grep", arguments: { pattern: "export" } },
  { name: "read", arguments: { path: "src/b.js" } },
];

/**
 * The calls of each answer: it looks 26 times, and then changes two files, makes one and adds to
 * another.
 */
const answers = [
  ...Array.from({ length: 26 }, (_, index) => looks.slice(index % 3, (index % 3) + 1)),
  [
    { name: "edit", arguments: { path: "src/a.js", search: "a = 1", replace: "a = 2" } },
    { name: "edit", arguments: { path: "src/b.js", search: "b = 1", replace: "b = 2" } },
  ],
  [{ name: "write", arguments: { path: "src/new/c.js", content: "export const c = 2;\n" } }],
  [
    {
      name: "edit",
      arguments: { path: "notes.md", search: "# Notes\n", replace: "# Notes\n\nDoubled.\n" },
    },
  ],
];

/** Questions of the whole loop. */
export const questionCount = answers.length + 1;

/** Changes a program in 30 steps, and writes each question to a file. */
export function editProvider(log: string): ModelProvider {
  return {
    id: "scripted",
    *generate({ turns = [] }) {
      const calls = answers[turns.filter(({ role }) => role === "tool").length] ?? [];
      appendFileSync(log, `${turns.length}\n`);
      if (calls.length === 0) yield { type: "text", text: "It is done." };
      for (const [index, call] of calls.entries()) {
        yield {
          type: "tool",
          id: `${index}`,
          name: call.name,
          delta: JSON.stringify(call.arguments),
        };
      }
      yield { type: "usage", usage: { inputTokens: 10, outputTokens: 20 } };
      yield { type: "finish", reason: calls.length === 0 ? "stop" : "tool" };
    },
  };
}

/**
 * Ends this process with SIGKILL at its `last`-th step on the disk: before it, or, where it writes,
 * with half of it done. Returns what says how many steps there were.
 */
async function dieAt(last: number): Promise<() => number> {
  let steps = 0;
  const isLast = (): boolean => (steps += 1) >= last;
  const die = (): Promise<never> => {
    process.kill(process.pid, "SIGKILL");
    return new Promise(() => undefined);
  };
  const patch = (owner: object, name: string): void => {
    const original: unknown = Reflect.get(owner, name);
    if (typeof original !== "function") throw new Error(`there is no ${name}`);
    const call = (self: unknown, args: readonly unknown[]): unknown =>
      Reflect.apply(original, self, args);
    const patched = function (this: unknown, ...args: readonly unknown[]): unknown {
      if (!isLast()) return call(this, args);
      const [bytes, from, length, ...rest] = args;
      if (!(bytes instanceof Uint8Array)) return die();
      const half = Math.floor(bytes.byteLength / 2);
      const cut =
        name === "write"
          ? [bytes, from, Math.min(half, Number(length)), ...rest]
          : [bytes.subarray(0, half)];
      return Promise.resolve(call(this, cut)).then(die);
    };
    Reflect.set(owner, name, patched);
  };
  const probe = await promises.open(process.execPath);
  const handles: unknown = Object.getPrototypeOf(probe);
  await probe.close();
  if (typeof handles !== "object" || handles === null) throw new Error("there are no handles");
  const { default: functions } = await import("node:fs/promises");
  for (const name of ["link", "mkdir", "open", "rename", "unlink"]) patch(functions, name);
  for (const name of ["datasync", "sync", "truncate", "write", "writeFile"]) patch(handles, name);
  syncBuiltinESMExports();
  return () => steps;
}

// `edit-process.ts <folder> <run> <edit|resume> <log of questions> <last step>` prints how many
// steps it took.
if (import.meta.main) {
  const [, , out = "", runId = "", what = "", log = "", last = ""] = process.argv;
  const { createAgent } = await import("../src/run/create-agent.ts");
  const agent = createAgent({ provider: editProvider(log) });
  const steps = await dieAt(Number(last));
  const handle =
    what === "edit"
      ? agent.edit({ request: "double it", out, runId })
      : agent.resume(runId, { out });
  await handle.result;
  process.stdout.write(`${steps()}\n`);
}
