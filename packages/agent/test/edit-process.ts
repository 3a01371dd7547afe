import { appendFileSync } from "node:fs";
import * as promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import type { ModelProvider } from "../src/models/model-provider.ts";

/** Answers an edit that changes two files, makes one and adds to another, in two answers, and writes each question to a file. */
export function editProvider(log: string): ModelProvider {
  const edits = [
    { path: "src/a.js", search: "a = 1", replace: "a = 2" },
    { path: "src/b.js", search: "b = 1", replace: "b = 2" },
    { path: "src/new/c.js", content: "export const c = 2;\n" },
    { path: "notes.md", search: "# Notes\n", replace: "# Notes\n\nDoubled.\n" },
  ];
  return {
    id: "scripted",
    *generate({ turns = [] }) {
      const isDone = turns.some(({ role }) => role === "tool");
      appendFileSync(log, `${turns.length}\n`);
      if (isDone) yield { type: "text", text: "It is done." };
      for (const [index, edit] of isDone ? [] : edits.entries()) {
        const name = "content" in edit ? "write" : "edit";
        yield { type: "tool", id: `${index}`, name, delta: JSON.stringify(edit) };
      }
      yield { type: "usage", usage: { inputTokens: 10, outputTokens: 20 } };
      yield { type: "finish", reason: isDone ? "stop" : "tool" };
    },
  };
}

/**
 * Ends this process with SIGKILL at its `last`-th step on the disk: before it, or, where it writes, with half of it done.
 * Returns what says how many steps there were.
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

// `edit-process.ts <folder> <run> <edit|resume> <log of questions> <last step>` prints how many steps it took.
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
