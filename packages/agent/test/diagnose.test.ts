import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import { diagnose } from "../src/project/diagnose.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { editScript } from "./edit-script.ts";
import { startModelServer, type ModelServer, type ScriptedAnswer } from "./model-server.ts";

let folder: string;
let server: ModelServer;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ask-"));
  writeFileSync(join(folder, "a.js"), "import { b } from './b.js';\nb();\n");
  writeFileSync(join(folder, "b.js"), "export const c = 1;\n");
  writeFileSync(join(folder, ".env"), "TOKEN=do-not-send");
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(answers: readonly ScriptedAnswer[]) {
  server = await startModelServer({ answers });
  const provider = openAICompatible({ baseUrl: server.baseUrl, model: "scripted" });
  return { provider, retry: { delay: 1, attempts: 2 } };
}

const asked = (): string => server.requests.flatMap(({ messages }) => messages).join("\n");

describe("diagnose", () => {
  it("sends the error, the files that it names and what the check finds, and changes nothing", async () => {
    const options = await start([
      { match: ["# Error\n\nTypeError: b is not a function\n    at a.js:2"], text: "b is c" },
    ]);
    const text = await diagnose(folder, "TypeError: b is not a function\n    at a.js:2", options);
    expect(text).toBe("b is c");
    expect(asked()).toContain('b.js does not export "b"; it exports c');
    expect(asked()).toContain("# File a.js (whole)\n\nimport { b } from './b.js';");
    expect(asked()).not.toContain("do-not-send");
    expect(readFileSync(join(folder, "b.js"), "utf8")).toBe("export const c = 1;\n");
    expect(readdirSync(folder).toSorted()).toEqual([".env", "a.js", "b.js"]);
  });

  it("keeps begin and end of an error that has no end", async () => {
    const options = await start([{ text: "long" }]);
    await diagnose(folder, `first ${"x".repeat(200_000)} last`, options);
    expect(asked()).toMatch(/first x/);
    expect(asked()).toMatch(/x last/);
    expect(asked().length).toBeLessThan(25_000);
  });

  it("keeps the program to the tokens that are allowed", async () => {
    writeFileSync(join(folder, "long.txt"), "y".repeat(500_000));
    const options = await start([{ text: "ok" }]);
    await diagnose(folder, "it fails", { ...options, maxContextTokens: 500 });
    expect(asked().length).toBeLessThan(5_000);
    expect(asked()).toContain("- long.txt");
  });

  it.each<readonly [string, ScriptedAnswer, string]>([
    ["a refusal", { fault: { kind: "refusal" } }, "ERR_AGENT_REFUSED"],
    ["a refusal in words", { text: "I'm sorry, but I can't help with that." }, "ERR_AGENT_REFUSED"],
    ["a cut answer", { text: "half", fault: { kind: "length" } }, "ERR_AGENT_TRUNCATED"],
  ])("returns no explanation out of %s", async (_, answer, code) => {
    const options = await start([answer]);
    await expect(diagnose(folder, "it fails", options)).rejects.toMatchObject({ code });
  });

  it("refuses a blank error and a missing folder, and asks nothing", async () => {
    const options = await start([{ text: "ok" }]);
    await expect(diagnose(folder, " ", options)).rejects.toMatchObject({
      code: "ERR_AGENT_ARGUMENT",
    });
    await expect(diagnose(join(folder, "x"), "e", options)).rejects.toMatchObject({
      code: "ERR_AGENT_WRITE",
    });
    expect(server.requests).toEqual([]);
  });

  it.each([0, 1.5])("refuses %s tokens of the program", async (maxContextTokens) => {
    const options = { ...(await start([{ text: "ok" }])), maxContextTokens };
    await expect(diagnose(folder, "e", options)).rejects.toMatchObject({
      code: "ERR_AGENT_OPTION",
    });
  });
});

it("a diagnosis shows no secret to a model that edits", async () => {
  const edits = [{ path: "b.js", search: "const c", replace: "const b = () => 1, c" }];
  const options = await start(editScript(edits));
  await createAgent(options).edit({ request: "export b", out: folder }).result;
  expect(asked()).toContain("## a.js\n\n```\nimport");
  expect(asked()).not.toContain("do-not-send");
});
