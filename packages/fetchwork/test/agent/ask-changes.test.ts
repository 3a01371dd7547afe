import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { askAboutChanges } from "../../src/agent/ask-changes.ts";
import { memoryIo } from "../memory-io.ts";

const change = (path: string) => ({
  path,
  action: "updated" as const,
  before: "export const a = 1;\n",
  after: "export const a = 2;\n",
  beside: undefined,
});
const down = "\u001b[B";
const enter = "\r";

/** Presses keys when the question is shown. */
function terminal(keys: string[]) {
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = "";
  output.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
    if (!shown.includes("Stop")) return;
    shown = "";
    for (const key of keys.splice(0, keys.indexOf(enter) + 1))
      setTimeout(() => input.write(key), 5);
  });
  return { input, output };
}

it.each([
  ["apply", [enter]],
  ["skip", [down, enter]],
  ["abort", [down, down, down, enter]],
])("askChanges answers %s", async (expected, keys) => {
  const io = memoryIo();
  expect(await askAboutChanges(io, terminal([...keys]))(change("a.js"))).toBe(expected);
  expect(io.written.stdout).toContain("-export const a = 1;\n+export const a = 2;\n");
});

it("askChanges asks no more after yes to all", async () => {
  const io = memoryIo();
  const approve = askAboutChanges(io, terminal([down, down, enter]));
  expect(await approve(change("a.js"))).toBe("apply");
  expect(await approve(change("b.js"))).toBe("apply");
  expect(io.written.stdout).not.toContain("b.js");
});

it("a change is refused where no one can answer", () => {
  expect(() => askAboutChanges(memoryIo())).toThrow("--ask requires a terminal");
});
