import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import { createAgent } from "../src/run/create-agent.ts";
import type { AgentOptions } from "../src/run/agent-options.ts";
import { startModelServer, type ModelServer, type ModelServerOptions } from "./model-server.ts";
import { manyFiles, projectScript } from "./project-script.ts";
import { sampleProjects } from "./sample-projects.ts";

const game = sampleProjects().get("canvas-game") ?? new Map<string, string>();
let out: string;
let server: ModelServer | undefined;

beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), "agent-test-"));
});
afterEach(async () => {
  await server?.close();
  rmSync(out, { recursive: true, force: true });
});

async function agentFor(script: ModelServerOptions, options: AgentOptions = {}) {
  await server?.close();
  server = await startModelServer(script);
  const provider = openAICompatible({ baseUrl: server.baseUrl, model: "scripted" });
  return createAgent({ provider, retry: { delay: 1 }, ...options });
}

/** The files of the folder but for our own, by path. */
function treeOf(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (path) => !path.startsWith(".fetchwork") && statSync(join(folder, path)).isFile(),
  );
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

it("a run with one bad file writes no answer that was cut, refused or left something out, and all other files", async () => {
  for (const fault of [
    { kind: "length" },
    { kind: "refusal" },
    { kind: "content-filter" },
  ] as const) {
    const first = [{ match: ["source of src/game.js."], text: "export class Game {}\n", fault }];
    const agent = await agentFor({ answers: projectScript(game, { first }) }, { repair: 1 });
    const { ok, diagnostics } = await agent.run({ prompt: "a game", out, runId: "r1" }).result;
    expect(ok).toBe(false);
    expect(diagnostics.find(({ path }) => path === "src/game.js")).toMatchObject({
      code: "missing-file",
      message: expect.stringMatching(/^not written: .*(?:cut|refused)/),
    });
    const others = [...game.keys()].filter((path) => path !== "src/game.js");
    expect([...treeOf(out).keys()].filter((path) => path !== "shared_deps.md")).toEqual(
      others.toSorted(),
    );
    const again = await agentFor({ answers: projectScript(game) });
    expect((await again.resume("r1", { out }).result).ok).toBe(true);
    expect(treeOf(out).get("src/game.js")).toBe(game.get("src/game.js"));
    expect(server?.requests).toHaveLength(1);
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out);
  }
});

it("a run with one bad file holds every call that would begin while the server wants to be left alone", async () => {
  const fault = {
    kind: "status",
    status: 429,
    headers: { "retry-after-ms": "1500" },
  } as const;
  const first = [{ match: ["# Write src/part-0.js"], times: 1, delay: 500, fault }];
  const answers = projectScript(manyFiles(16), { first });
  const agent = await agentFor({ answers, delay: 1_000 }, { concurrency: 8 });
  const handle = agent.run({ prompt: "parts", out, dryRun: true });
  let duringWait = -1;
  for await (const event of handle) {
    if (event.type !== "retry") continue;
    const before = server?.requests.length ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 1_400));
    duringWait = (server?.requests.length ?? 0) - before;
  }
  expect(duringWait).toBe(0);
  expect((await handle.result).ok).toBe(true);
  expect(server?.requests).toHaveLength(16 + 2 + 1);
});
