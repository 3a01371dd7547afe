import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { listRuns } from "../src/run/list-runs.ts";
import { proposeChanges } from "../src/workspace/propose-changes.ts";
import { startModelServer, type ModelServer } from "./model-server.ts";
import { manyFiles, projectScript } from "./project-script.ts";

let out: string;
let server: ModelServer;
beforeEach(async () => {
  out = mkdtempSync(join(tmpdir(), "agent-runs-"));
  const broken = { match: ["source of src/part-2.js"], fault: { kind: "refusal" } } as const;
  server = await startModelServer({ answers: projectScript(manyFiles(4), { first: [broken] }) });
});
afterEach(async () => {
  await server.close();
  rmSync(out, { recursive: true, force: true });
});

const run = (runId: string, model: string): Promise<unknown> =>
  createAgent({ provider: openAICompatible({ baseUrl: server.baseUrl, model }), concurrency: 1 })
    .run({ prompt: `parts of ${runId}`, out, runId })
    .result.catch((error: unknown) => error);

describe("listRuns", () => {
  it("refuses a journal that is damaged", async () => {
    await run("r1", "m");
    const file = join(out, ".fetchwork/runs/r1/journal.ndjson");
    writeFileSync(file, "damage\nmore\nand more\n");
    await expect(listRuns(out)).rejects.toMatchObject({ code: "ERR_AGENT_JOURNAL" });
  });

  it("lists what did not finish, how far it came and what it used", async () => {
    await run("r1", "m");
    expect(await listRuns(out)).toMatchObject([
      { runId: "r1", prompt: "parts of r1", total: 4, done: 3, finished: false },
    ]);
    expect((await listRuns(out))[0]?.usage.inputTokens).toBeGreaterThan(0);
  });

  it("has nothing for a folder that is not there, and makes none", async () => {
    expect(await listRuns(join(out, "missing"))).toEqual([]);
    mkdirSync(join(out, ".fetchwork/runs/begun"), { recursive: true });
    mkdirSync(join(out, ".fetchwork/runs/not a run"), { recursive: true });
    expect(await listRuns(out)).toEqual([]);
    expect(existsSync(join(out, "missing"))).toBe(false);
  });
});

describe("proposeChanges", () => {
  it("says what would happen, and writes nothing", async () => {
    writeFileSync(join(out, "a"), "theirs\n");
    const contents = new Map([
      ["a", "ours\n"],
      ["b", "new\n"],
    ]);
    const actions = async (onConflict: "merge" | "keep" | "overwrite"): Promise<unknown> =>
      (await proposeChanges(out, contents, { onConflict })).map(({ action }) => action);
    expect(await actions("merge")).toEqual(["conflict", "created"]);
    expect(await actions("keep")).toEqual(["kept", "created"]);
    expect(await actions("overwrite")).toEqual(["overwritten", "created"]);
    await expect(proposeChanges(out, contents, { onConflict: "fail" })).rejects.toMatchObject({
      code: "ERR_AGENT_CONFLICT",
    });
    expect(readdirSync(out)).toEqual(["a"]);
  });

  it("makes no folder that is not there", async () => {
    const missing = join(out, "missing");
    expect(await proposeChanges(missing, new Map([["a", "x"]]))).toEqual([
      { path: "a", action: "created", before: undefined, after: "x", beside: undefined },
    ]);
    expect(existsSync(missing)).toBe(false);
  });
});
