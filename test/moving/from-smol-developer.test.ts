import {
  generateCode,
  plan,
  specify_file_paths as specifyFilePaths,
  openAICompatible,
} from "@fetchwork/agent";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startModelServer, type ModelServer } from "../../packages/agent/test/model-server.ts";
import { importBlock } from "./page-block.ts";
// Answers of a model, and what smol developer makes of them by its expression for fences, written
// down by hand.
import record from "./records/smol-developer.json" with { type: "json" };

interface After {
  readonly sharedDeps: string;
  readonly files: Readonly<Record<string, string>>;
}

let server: ModelServer;
let after: After;

beforeAll(async () => {
  const { answers, paths } = record;
  const codes = Object.entries(answers).map(([path, text]) => ({
    match: [`the source of ${path}`],
    text,
  }));
  server = await startModelServer({
    answers: [
      { tool: "project_files", arguments: { files: paths.map(toFile) } },
      ...codes,
      { tool: null, text: record.plan },
    ],
  });
  vi.stubEnv("FETCHWORK_BASE_URL", server.baseUrl);
  vi.stubEnv("FETCHWORK_MODEL", "scripted");
  after = await importBlock<After>("from-smol-developer.md", "ts");
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

describe("the code of from-smol-developer.md", () => {
  it("asks for a plan, for the paths and for each file, in this order", () => {
    expect(server.requests.map(({ tool }) => tool)).toEqual([
      undefined,
      "project_files",
      ...record.paths.map(() => "write_file"),
    ]);
  });

  it("has the plan and the paths of smol developer", () => {
    expect(after.sharedDeps.trim()).toBe(record.plan.trim());
    expect(Object.keys(after.files)).toEqual(record.paths);
  });

  it("has the same source of a fenced answer", () => {
    expect(after.files["index.html"]?.trim()).toBe(record.files["index.html"]);
  });

  it("keeps the first line of a fenced source, which smol developer loses", () => {
    expect(record.files["game.py"]).not.toContain("import os");
    expect(after.files["game.py"]).toBe("import os\nprint(os.name)\n");
  });

  it("keeps a README with a fence inside, of which smol developer keeps the fence", () => {
    expect(after.files["README.md"]?.trim()).toBe(record.answers["README.md"].trim());
  });
});

describe("the differences of from-smol-developer.md", () => {
  it("a cut answer is an error", async () => {
    await using cut = await disposable([{ text: "```js\nlet a", fault: { kind: "length" } }]);
    const asked = generateCode("A game", "a.js", "a.js", cut.options);
    await expect(asked).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_AGENT_/) });
  });

  it("paths outside of the folder are refused", async () => {
    const files = ["../outside.js", "/etc/passwd"];
    await using outside = await disposable([
      { tool: "project_files", arguments: { files: files.map(toFile) } },
    ]);
    await expect(specifyFilePaths("A game", "a.js", outside.options)).rejects.toMatchObject({
      code: expect.stringMatching(/^ERR_AGENT_/),
    });
  });

  it("a wrong key is asked with once", async () => {
    await using refusing = await disposable([{ fault: { kind: "status", status: 401 } }]);
    await expect(plan("A game", refusing.options)).rejects.toThrow();
    expect(refusing.requests).toHaveLength(1);
  });
});

/** A file of a list that a model names. */
function toFile(path: string) {
  return { path, purpose: "a part of the game", dependsOn: [], exports: [] };
}

/** A model server, and the options to ask it. */
async function disposable(answers: Parameters<typeof startModelServer>[0]["answers"]) {
  const started = await startModelServer({ answers });
  const provider = openAICompatible({ baseUrl: started.baseUrl, model: "scripted" });
  return {
    options: { provider },
    requests: started.requests,
    [Symbol.asyncDispose]: () => started.close(),
  };
}
