import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { startModelServer } from "./model-server.ts";

/** A repository of 600 modules, with instructions of a number of characters. */
function repository(instructions: number): string {
  const out = mkdtempSync(join(tmpdir(), "edit-tokens-"));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  for (let at = 0; at < 600; at += 1) {
    const folder = join(out, `src/part-${at % 40}`);
    mkdirSync(folder, { recursive: true });
    const lines = Array.from({ length: 60 }, (_, line) => `export const limit${line} = ${line};`);
    writeFileSync(join(folder, `limits-${at}.ts`), `${lines.join("\n")}\n`);
  }
  const rule = "Write names in full, and keep functions short.\n";
  if (instructions > 0) {
    writeFileSync(join(out, "AGENTS.md"), rule.repeat(instructions / rule.length));
  }
  execFileSync("git", ["init", "-q", out]);
  return out;
}

/**
 * Has a model look for a line, read around it, change it, and say so; returns the tokens of all
 * questions.
 */
async function tokensOfEdit(
  out: string,
): Promise<{ readonly counted: number; readonly withTools: number }> {
  const path = "src/part-7/limits-7.ts";
  const [search, replace] = ["export const limit30 = 30;", "export const limit30 = 31;"];
  const calls = [
    { name: "grep", arguments: { pattern: "limit30 =", folder: "src/part-7" } },
    { name: "read", arguments: { path, from: 11, lines: 40 } },
    { name: "edit", arguments: { path, search, replace } },
  ];
  const server = await startModelServer({
    answers: [
      ...calls.map((call) => ({ tool: "edit", calls: [call], times: 1 })),
      { tool: "edit", last: "tool", text: "The limit is 31." },
    ],
  });
  onTestFinished(() => server.close());
  const provider = openAICompatible({ baseUrl: server.baseUrl, model: "scripted" });
  const request = "Make limit30 of part 7 one more";
  const edited = await createAgent({ provider }).edit({ request, out, dirty: true }).result;
  expect(edited).toMatchObject({ ok: true, files: [{ path }] });
  expect(server.requests).toHaveLength(4);
  const withTools = server.requests.reduce((sum, { characters }) => sum + characters / 4, 0);
  return { counted: edited.usage.inputTokens + edited.usage.outputTokens, withTools };
}

it("an edit of one line in 600 files takes at most 8,000 tokens, descriptions of tools included", async () => {
  const { withTools } = await tokensOfEdit(repository(0));
  expect(withTools).toBeLessThanOrEqual(8_000);
});

it("an edit shows less of a program that has long instructions", async () => {
  const { counted } = await tokensOfEdit(repository(4_200));
  expect(counted).toBeLessThanOrEqual(8_000);
});
