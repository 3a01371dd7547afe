import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import { createAgent } from "../src/run/create-agent.ts";
import type { Verifier } from "../src/verify/verifier.ts";
import { editScript } from "./edit-script.ts";
import { startModelServer } from "./model-server.ts";
import { manyFiles, projectScript } from "./project-script.ts";

describe("an edit", () => {
  const edit = (path: string, content: string) => ({ path, content });
  it.each([
    ["a file of too many bytes", [edit("b.js", "1;".repeat(100))], { maxFileBytes: 100 }],
    ["too many files", [edit("b.js", "1;"), edit("c.js", "1;")], { maxFiles: 2 }],
    ["too many bytes", [edit("b.js", "1;".repeat(100))], { maxTotalBytes: 200 }],
  ])("writes nothing of %s", async (_, edits, limits) => {
    const out = mkdtempSync(join(tmpdir(), "limits-"));
    onTestFinished(() => rmSync(out, { recursive: true, force: true }));
    writeFileSync(join(out, "a.js"), "1;\n");
    const model = await startModelServer({
      answers: editScript(edits),
    });
    onTestFinished(() => model.close());
    const provider = openAICompatible({ baseUrl: model.baseUrl, model: "scripted" });
    const tight = createAgent({ provider, ...limits });
    await expect(tight.edit({ request: "grow", out, runId: "e1" }).result).rejects.toMatchObject({
      code: "ERR_AGENT_LIMIT",
    });
    expect(readdirSync(out).filter((name) => name !== ".fetchwork")).toEqual(["a.js"]);
    // With other limits the answer that is paid serves.
    await createAgent({ provider }).resume("e1", { out }).result;
    expect(readdirSync(out)).toContain("b.js");
    expect(model.requests).toHaveLength(2);
  });
});

describe("the time of a run", () => {
  it("ends what runs the program, too", async () => {
    const out = mkdtempSync(join(tmpdir(), "limits-"));
    onTestFinished(() => rmSync(out, { recursive: true, force: true }));
    const model = await startModelServer({ answers: projectScript(manyFiles(1)) });
    onTestFinished(() => model.close());
    const endless: Verifier = {
      name: "endless",
      applies: () => true,
      check: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve([]), { once: true });
        }),
    };
    const agent = createAgent({
      provider: openAICompatible({ baseUrl: model.baseUrl, model: "scripted" }),
      budget: { maxTime: 2_000 },
      verifiers: [endless],
    });
    await expect(agent.run({ prompt: "parts", out }).result).rejects.toMatchObject({
      code: "ERR_AGENT_BUDGET",
    });
    expect(readdirSync(out)).toEqual([".fetchwork"]);
  });
});

describe("a run at a server that never says what it used", () => {
  it("has no second budget when it is resumed", async () => {
    const out = mkdtempSync(join(tmpdir(), "limits-"));
    onTestFinished(() => rmSync(out, { recursive: true, force: true }));
    const model = await startModelServer({ answers: projectScript(manyFiles(20)), usage: false });
    onTestFinished(() => model.close());
    const agent = createAgent({
      provider: openAICompatible({ baseUrl: model.baseUrl, model: "scripted" }),
      budget: { maxTokens: 20_000, maxOutputTokens: 1_500 },
    });
    const full = { code: "ERR_AGENT_BUDGET" };
    await expect(agent.run({ prompt: "parts", out, runId: "r1" }).result).rejects.toMatchObject(
      full,
    );
    const asked = model.requests.length;
    expect(asked).toBeGreaterThan(2);
    await expect(agent.resume("r1", { out }).result).rejects.toMatchObject(full);
    // What was left was too little for the answer that it wanted, and is offered once.
    expect(model.requests.length - asked).toBeLessThanOrEqual(1);
  });
});
