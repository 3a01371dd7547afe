import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { generateCodeSync } from "../src/calls/generate-code-sync.ts";
import type { ModelServerOptions } from "./model-server.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-sync-"));
const children = new Set<ReturnType<typeof spawn>>();
afterAll(() => {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true });
});

/** A server in this thread could not answer while the thread waits. */
async function startProcess(script: ModelServerOptions): Promise<string> {
  const file = join(folder, "script.json");
  writeFileSync(file, JSON.stringify(script));
  const program = join(import.meta.dirname, "model-server.ts");
  const child = spawn(process.execPath, [program, file], { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return line.toString().trim();
}

it("generateCodeSync needs a timeout", () => {
  const provider = { kind: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" } as const;
  // @ts-expect-error: it is missing
  expect(() => generateCodeSync("p", "d", "a.js", { provider })).toThrow(
    /timeout must be milliseconds, got undefined/,
  );
});

it("generateCodeSync returns the source while the thread waits", async () => {
  const baseUrl = await startProcess({ answers: [{ text: "```js\nexport const a = 1;\n```" }] });
  const provider = { kind: "openai-compatible", baseUrl, model: "scripted" } as const;
  expect(generateCodeSync("p", "d", "a.js", { provider, timeout: 20_000 })).toBe(
    "export const a = 1;\n",
  );
});

it("generateCodeSync throws what generateCode rejects with", async () => {
  const baseUrl = await startProcess({ answers: [{ text: "x", fault: { kind: "refusal" } }] });
  const provider = { kind: "openai-compatible", baseUrl, model: "scripted" } as const;
  expect(() => generateCodeSync("p", "d", "a.js", { provider, timeout: 20_000 })).toThrow(
    expect.objectContaining({ name: "AgentError", code: "ERR_AGENT_REFUSED" }),
  );
});

it("a process ends after generateCodeSync", async () => {
  const baseUrl = await startProcess({ answers: [{ text: "x", fault: { kind: "silence" } }] });
  const provider = { kind: "openai-compatible", baseUrl, model: "scripted" } as const;
  expect(() => generateCodeSync("p", "d", "a.js", { provider, timeout: 300 })).toThrow(
    expect.objectContaining({ code: "ERR_AGENT_TIMEOUT" }),
  );
});
