import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  mkdirSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import { recording, replaying } from "../src/models/transcript.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { listRuns } from "../src/run/list-runs.ts";
import type { AgentOptions } from "../src/run/agent-options.ts";
import type { AgentEvent, RunHandle } from "../src/run/agent-event.ts";
import { defaultVerifiers } from "../src/verify/node-verifiers.ts";
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
  return createAgent({ provider, retry: { delay: 1, maxDelay: 2 }, ...options });
}

async function eventsOf(handle: RunHandle): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of handle) events.push(event);
  return events;
}

/** The files of the folder but for our own, by path. */
function treeOf(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (path) => !path.startsWith(".fetchwork") && statSync(join(folder, path)).isFile(),
  );
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

const codeOf = (handle: RunHandle): Promise<unknown> =>
  handle.result.then(
    () => "ok",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
  );

describe("run", () => {
  it("writes every file, shows the writers what they use, and reports each step", async () => {
    const agent = await agentFor({ answers: projectScript(game) });
    const handle = agent.run({ prompt: "a game", out, runId: "r1" });
    const events = await eventsOf(handle);
    const result = await handle.result;
    expect(result).toMatchObject({ runId: "r1", ok: true, diagnostics: [], repairs: 0 });
    const { "shared_deps.md": plan, ...written } = Object.fromEntries(treeOf(out));
    expect(written).toEqual(Object.fromEntries(game));
    expect(plan).toContain("# Shared dependencies");
    expect(result.usage).toMatchObject({ calls: game.size + 2, cost: null });
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === "file")).toHaveLength(game.size);
    expect(types.at(0)).toBe("started");
    expect(types.at(-1)).toBe("finished");
    expect(types).toContain("token");
    const main = server?.requests.find(({ messages }) =>
      messages.at(-1)?.startsWith("# Write src/main.js"),
    );
    expect(main?.messages.join("\n")).toContain("export class Game");
  });

  it("writes independent files at the same time, as many as allowed", async () => {
    const files = manyFiles(24);
    const time = async (concurrency: number): Promise<number> => {
      const agent = await agentFor({ answers: projectScript(files), delay: 50 }, { concurrency });
      const before = performance.now();
      await agent.run({ prompt: "parts", out, dryRun: true }).result;
      return performance.now() - before;
    };
    await time(8);
    expect(server?.peak).toBe(8);
    await time(1);
    expect(server?.peak).toBe(1);
  });

  it("finds a wrong first answer and repairs the file that has it, and no other", async () => {
    const wrong = {
      match: ["Answer with the source of src/math.js.", "# Write src/math.js"],
      text: "export const clip = 1;\nexport const lerp = 2;\n",
    };
    const agent = await agentFor({ answers: projectScript(game, { first: [wrong] }) });
    const events = await eventsOf(agent.run({ prompt: "a game", out }));
    expect(events.at(-1)).toMatchObject({ type: "finished", result: { ok: false } });
    const repaired = server?.requests.filter(({ messages }) =>
      messages.at(-1)?.startsWith("# Repair"),
    );
    expect(new Set(repaired?.map(({ messages }) => messages.at(-1)?.split("\n")[0]))).toEqual(
      new Set(["# Repair src/game.js"]),
    );
  });

  it("stops repairing when nothing gets better, and keeps the best state", async () => {
    const wrong = {
      match: ["source of src/game.js."],
      text: "import { nothing } from './math.js';\nexport class Game {}\nnothing();\n",
    };
    const agent = await agentFor(
      { answers: projectScript(game, { first: [wrong] }) },
      { repair: 9 },
    );
    const result = await agent.run({ prompt: "a game", out }).result;
    expect(result.ok).toBe(false);
    expect(result.repairs).toBe(1);
    expect(
      server?.requests.filter(({ messages }) => messages.at(-1)?.startsWith("# Repair")),
    ).not.toHaveLength(0);
  });

  it("repairs a file with what the check says", async () => {
    const wrong = {
      match: ["# Write src/render.js"],
      text: "import { lerpAll } from './math.js';\nexport const clear = lerpAll;\nexport const drawGame = lerpAll;\n",
    };
    const agent = await agentFor({ answers: projectScript(game, { first: [wrong] }) });
    const result = await agent.run({ prompt: "a game", out }).result;
    expect(result).toMatchObject({ ok: true, repairs: 1 });
    expect(treeOf(out).get("src/render.js")).toBe(game.get("src/render.js"));
  });

  describe("a repair by edits", () => {
    const good = game.get("src/render.js") ?? "";
    const wrongLine = "import { lerpAll } from './math.js';\n";
    const wrong = { match: ["# Write src/render.js"], text: wrongLine + good };
    const edit = (search: string): string => `<<<<<<< SEARCH\n${search}=======\n>>>>>>> REPLACE\n`;
    const repairsOf = (): readonly string[] =>
      (server?.requests ?? []).flatMap(({ messages }) =>
        messages.at(-1)?.startsWith("# Repair") === true ? [messages.at(-1) ?? ""] : [],
      );

    it("changes what is wrong and keeps the rest of the file", async () => {
      const repair = { match: ["# Repair src/render.js"], text: edit(wrongLine) };
      const agent = await agentFor({ answers: projectScript(game, { first: [repair, wrong] }) });
      const result = await agent.run({ prompt: "a game", out }).result;
      expect(result).toMatchObject({ ok: true, repairs: 1 });
      expect(treeOf(out).get("src/render.js")).toBe(good);
      expect(repairsOf()).toEqual([expect.stringContaining("Answer with edits.")]);
    });

    it.each([
      ["does not fit", edit("no such line\n"), "no-match"],
      ["was cut", "<<<<<<< SEARCH\na\n", "not whole"],
      ["fits in several places", edit("}\n"), "several-matches"],
    ])("asks for the whole file when an edit %s", async (_, text, complaint) => {
      const repair = { match: ["Answer with edits."], text };
      const agent = await agentFor({ answers: projectScript(game, { first: [repair, wrong] }) });
      const result = await agent.run({ prompt: "a game", out }).result;
      expect(result).toMatchObject({ ok: true, repairs: 1 });
      expect(treeOf(out).get("src/render.js")).toBe(good);
      expect(repairsOf()).toHaveLength(2);
      expect(repairsOf()[1]).not.toContain("Answer with edits.");
      const said = server?.requests.findLast(({ messages }) =>
        messages.at(-1)?.startsWith("# Repair"),
      );
      expect(said?.messages.join("\n")).toContain(complaint);
    });
  });

  it("never writes an answer that was cut, refused or left something out", async () => {
    for (const fault of [
      { kind: "length" },
      { kind: "refusal" },
      { kind: "content-filter" },
    ] as const) {
      const first = [
        { match: ["# Write src/game.js"], text: game.get("src/game.js") ?? "", fault },
      ];
      const agent = await agentFor({ answers: projectScript(game, { first }) });
      expect(await codeOf(agent.run({ prompt: "a game", out }))).toMatch(/TRUNCATED|REFUSED/);
      expect(treeOf(out).size).toBe(0);
    }
  });

  it("never writes a refusal that its server calls a normal end", async () => {
    const files = new Map([["a.py", "print(1)\n"]]);
    const text = "I'm sorry, but I can't help with that request.";
    const file = { match: ["# Write a.py"], text };
    const agent = await agentFor({ answers: projectScript(files, { first: [file] }) });
    expect(await codeOf(agent.run({ prompt: "p", out }))).toBe("ERR_AGENT_UNUSABLE");
    const plan = await agentFor({ answers: projectScript(files, { sharedDeps: text }) });
    expect(await codeOf(plan.run({ prompt: "p", out }))).toBe("ERR_AGENT_REFUSED");
    expect(server?.requests).toHaveLength(1);
    expect(treeOf(out).size).toBe(0);
  });

  it("says nothing that a terminal would obey, whatever stands in an answer", async () => {
    const files = new Map([["c.test.js", "throw new Error('\u001b[31mError\u0007');\n"]]);
    const agent = await agentFor(
      { answers: projectScript(files) },
      { repair: 0, verifiers: defaultVerifiers(), sandbox: { level: "process" } },
    );
    const { diagnostics } = await agent.run({ prompt: "p", out }).result;
    expect(diagnostics).toMatchObject([{ code: "verification", path: "c.test.js" }]);
    expect(diagnostics[0]?.message).toMatch(/^[^\p{Cc}]*Error/u);
    expect(diagnostics[0]?.message).not.toMatch(/\p{Cc}/u);
    const left = "a();\n// ... rest of the code \u001b[2J\n";
    const other = await agentFor({
      answers: projectScript(files, { first: [{ match: ["# Write c.test.js"], text: left }] }),
    });
    const error: unknown = await other.run({ prompt: "q", out }).result.catch((e: unknown) => e);
    expect(error instanceof Error ? error.message : "").toMatch(
      /^[^\p{Cc}]*rest of the code\P{Cc}*$/u,
    );
  });

  it.each([
    ["too many files", manyFiles(10_000), {}],
    ["a file that is too large", new Map([["a.txt", "x".repeat(3 * 1024 * 1024)]]), {}],
    ["files that are too large together", manyFiles(5), { maxTotalBytes: 50 }],
  ])("refuses %s, and writes nothing", async (_, files, options) => {
    const agent = await agentFor(
      { answers: projectScript(files, { sharedDeps: "many" }), chunk: 100_000 },
      options,
    );
    expect(await codeOf(agent.run({ prompt: "p", out }))).toBe("ERR_AGENT_LIMIT");
    expect(treeOf(out).size).toBe(0);
  });

  it("keeps to the budget with many calls at once", async () => {
    const files = manyFiles(40);
    const budget = { maxTokens: 60_000, maxOutputTokens: 500 };
    const agent = await agentFor({ answers: projectScript(files) }, { budget });
    const events = await eventsOf(agent.run({ prompt: "parts", out }));
    expect(events.at(-1)).toMatchObject({ type: "finished" });
    const small = await agentFor(
      { answers: projectScript(files) },
      { budget: { ...budget, maxTokens: 4_000 } },
    );
    expect(await codeOf(small.run({ prompt: "parts", out }))).toBe("ERR_AGENT_BUDGET");
    const sent = server?.requests.length ?? 0;
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(20);
  });

  it("does not begin when money is limited and no price is known", async () => {
    const agent = await agentFor({ answers: projectScript(game) }, { budget: { maxCost: 1 } });
    expect(await codeOf(agent.run({ prompt: "a game", out }))).toBe("ERR_AGENT_BUDGET");
    expect(server?.requests).toHaveLength(0);
  });

  it("ends with cancel, and goes on with resume", async () => {
    const agent = await agentFor({ answers: projectScript(game), delay: 20 }, { concurrency: 1 });
    const handle = agent.run({ prompt: "a game", out, runId: "r1" });
    for await (const event of handle)
      if (event.type === "file" && event.done === 3) handle.cancel();
    expect(await codeOf(handle)).toBe("ERR_AGENT_CANCELLED");
    expect(treeOf(out).size).toBe(0);
    const result = await agent.resume("r1", { out }).result;
    expect(result.ok).toBe(true);
    expect(treeOf(out).size).toBe(game.size + 1);
    const asked = server?.requests.map(({ messages }) => messages.at(-1)?.split("\n")[0]) ?? [];
    expect(asked.length - new Set(asked).size).toBeLessThanOrEqual(1);
  });

  it("plays a recorded run again without a server, with the same result", async () => {
    server = await startModelServer({ answers: projectScript(game) });
    const file = join(out, "transcript.ndjson");
    const live = openAICompatible({ baseUrl: server.baseUrl, model: "scripted" });
    const recorded = createAgent({
      provider: recording(live, file, { source: "scripted" }),
      model: "scripted",
    });
    const first = await recorded.run({ prompt: "a game", out, dryRun: true }).result;
    await server.close();
    server = undefined;
    const replayed = createAgent({ provider: replaying(file), model: "scripted" });
    const second = await replayed.run({ prompt: "a game", out, dryRun: true }).result;
    expect(second.contents).toEqual(first.contents);
    expect(second.usage).toEqual(first.usage);
    expect(await codeOf(replayed.run({ prompt: "another", out, dryRun: true }))).toBe(
      "ERR_AGENT_REPLAY",
    );
  });
});

describe("in a folder that has files", () => {
  const files = new Map([["a.txt", "one\ntwo\nthree\nfour\nfive\n"]]);
  const next = new Map([["a.txt", "one\ntwo\nthree\nfour\n5\n"]]);

  it("deletes nothing, and puts its own file beside one that it did not write", async () => {
    writeFileSync(join(out, "a.txt"), "mine\n");
    writeFileSync(join(out, "other.txt"), "mine too\n");
    const agent = await agentFor({ answers: projectScript(files) });
    await agent.run({ prompt: "p", out }).result;
    expect(treeOf(out).get("a.txt")).toBe("mine\n");
    expect(treeOf(out).get("a.txt.new")).toBe(files.get("a.txt"));
    expect(treeOf(out).get("other.txt")).toBe("mine too\n");
  });

  it("joins the changes of a person with those of a new run", async () => {
    await (await agentFor({ answers: projectScript(files) })).run({ prompt: "p", out }).result;
    writeFileSync(join(out, "a.txt"), "ONE\ntwo\nthree\nfour\nfive\n");
    const result = await (
      await agentFor({ answers: projectScript(next) })
    ).run({ prompt: "p", out }).result;
    expect(treeOf(out).get("a.txt")).toBe("ONE\ntwo\nthree\nfour\n5\n");
    expect(result.files.find(({ path }) => path === "a.txt")?.action).toBe("merged");
  });

  it("joins nothing by a base that is damaged", async () => {
    await (await agentFor({ answers: projectScript(files) })).run({ prompt: "p", out }).result;
    writeFileSync(join(out, "a.txt"), "ONE\ntwo\nthree\nfour\nfive\n");
    const bases = join(out, ".fetchwork/base");
    for (const name of readdirSync(bases)) writeFileSync(join(bases, name), "one\ntwo\n");
    await (await agentFor({ answers: projectScript(next) })).run({ prompt: "p", out }).result;
    expect(treeOf(out).get("a.txt")).toBe("ONE\ntwo\nthree\nfour\nfive\n");
    expect(treeOf(out).get("a.txt.new")).toBe(next.get("a.txt"));
  });

  it("keeps a person's change where both touch a line", async () => {
    await (await agentFor({ answers: projectScript(files) })).run({ prompt: "p", out }).result;
    writeFileSync(join(out, "a.txt"), "one\ntwo\nthree\nfour\nfünf\n");
    await (await agentFor({ answers: projectScript(next) })).run({ prompt: "p", out }).result;
    expect(treeOf(out).get("a.txt")).toContain("fünf");
    expect(treeOf(out).get("a.txt.new")).toContain("\n5\n");
  });

  it("replaces its own file that nobody changed", async () => {
    await (await agentFor({ answers: projectScript(files) })).run({ prompt: "p", out }).result;
    await (await agentFor({ answers: projectScript(next) })).run({ prompt: "p", out }).result;
    expect(treeOf(out).get("a.txt")).toBe(next.get("a.txt"));
  });

  it.each([
    ["keep", "mine\n", "ok"],
    ["overwrite", "one\ntwo\nthree\nfour\nfive\n", "ok"],
    ["fail", "mine\n", "ERR_AGENT_CONFLICT"],
  ] as const)("follows the policy %s", async (onConflict, content, code) => {
    writeFileSync(join(out, "a.txt"), "mine\n");
    const agent = await agentFor({ answers: projectScript(files) }, { onConflict });
    expect(await codeOf(agent.run({ prompt: "p", out }))).toBe(code);
    expect(treeOf(out).get("a.txt")).toBe(content);
    if (onConflict === "fail") expect(treeOf(out).size).toBe(1);
    if (onConflict === "overwrite") {
      const kept = readdirSync(join(out, ".fetchwork/replaced"));
      expect(readFileSync(join(out, ".fetchwork/replaced", kept[0] ?? ""), "utf8")).toBe("mine\n");
    }
  });

  it("asks the approver about each change, and obeys", async () => {
    const asked: string[] = [];
    const agent = await agentFor(
      { answers: projectScript(files) },
      {
        approve: ({ path, action }) => (
          asked.push(`${action} ${path}`),
          path === "a.txt" ? "skip" : "apply"
        ),
      },
    );
    await agent.run({ prompt: "p", out }).result;
    expect(asked).toEqual(["created shared_deps.md", "created a.txt"]);
    expect([...treeOf(out).keys()]).toEqual(["shared_deps.md"]);
  });

  it("follows no link out of the folder", async () => {
    const outside = mkdtempSync(join(tmpdir(), "agent-outside-"));
    symlinkSync(outside, join(out, "src"));
    const agent = await agentFor({ answers: projectScript(manyFiles(1)) });
    expect(await codeOf(agent.run({ prompt: "p", out }))).toBe("ERR_AGENT_UNSAFE_PATH");
    expect(readdirSync(outside)).toEqual([]);
    rmSync(outside, { recursive: true });
  });
});

describe("what a run finds in its folder", () => {
  const files = new Map([["a.txt", "one\n"]]);

  it("refuses a run at which somebody works, and asks for nothing", async () => {
    const agent = await agentFor({ answers: projectScript(files), delay: 200 });
    const handle = agent.run({ prompt: "p", out, runId: "r1" });
    for await (const event of handle) if (event.type === "planned") break;
    expect(await codeOf(agent.resume("r1", { out }))).toBe("ERR_AGENT_BUSY");
    expect(await codeOf(agent.run({ prompt: "p", out, runId: "r1" }))).toBe("ERR_AGENT_BUSY");
    expect((await handle.result).ok).toBe(true);
    expect(server?.requests).toHaveLength(3);
    expect(await codeOf(agent.run({ prompt: "p", out, runId: "r1" }))).toBe("ERR_AGENT_JOURNAL");
    expect(await codeOf(agent.resume("r1", { out }))).toBe("ok");
  });

  it("lets two runs write into one folder without losing what one of them wrote", async () => {
    const scripts = [files, new Map([["b.txt", "two\n"]])];
    const agents = [];
    const servers: ModelServer[] = [];
    for (const script of scripts) {
      const one = await startModelServer({ answers: projectScript(script, { sharedDeps: "p" }) });
      servers.push(one);
      const provider = openAICompatible({ baseUrl: one.baseUrl, model: "scripted" });
      agents.push(createAgent({ provider }));
    }
    await Promise.all(agents.map((agent) => agent.run({ prompt: "p", out }).result));
    const manifest = readFileSync(join(out, ".fetchwork/manifest.json"), "utf8");
    expect(Object.keys((JSON.parse(manifest) as { files: object }).files).toSorted()).toEqual([
      "a.txt",
      "b.txt",
      "shared_deps.md",
    ]);
    for (const one of servers) await one.close();
  });

  it("resumes nothing in a folder that is not there, and makes none", async () => {
    const agent = await agentFor({ answers: [] });
    const missing = join(out, "missing");
    expect(await codeOf(agent.resume("r1", { out: missing }))).toBe("ERR_AGENT_JOURNAL");
    expect(await codeOf(agent.edit({ request: "x", out: missing }))).toBe("ERR_AGENT_WRITE");
    await expect(agent.verify(missing)).rejects.toMatchObject({ code: "ERR_AGENT_WRITE" });
    expect(readdirSync(out)).toEqual([]);
  });

  it("goes on with a plan that was given when the process ended after its first entry", async () => {
    const agent = await agentFor({ answers: projectScript(files) });
    await agent.run({ prompt: "p", out, runId: "r1", sharedDeps: "My plan\n" }).result;
    const journal = join(out, ".fetchwork/runs/r1/journal.ndjson");
    writeFileSync(journal, `${readFileSync(journal, "utf8").split("\n")[0]}\n`);
    rmSync(join(out, "shared_deps.md"));
    await agent.resume("r1", { out }).result;
    expect(treeOf(out).get("shared_deps.md")).toBe("My plan\n");
  });

  it("begins again where a process ended before its first entry", async () => {
    const agent = await agentFor({ answers: projectScript(files) });
    mkdirSync(join(out, ".fetchwork/runs/r1"), { recursive: true });
    writeFileSync(join(out, ".fetchwork/runs/r1/journal.ndjson"), "half an ent");
    expect(await codeOf(agent.resume("r1", { out }))).toBe("ERR_AGENT_JOURNAL");
    expect(await codeOf(agent.run({ prompt: "p", out, runId: "r1" }))).toBe("ok");
  });

  it("does not touch what a journal that is a link leads to", async () => {
    const secret = join(out, "secret");
    writeFileSync(secret, "one line without an end");
    mkdirSync(join(out, ".fetchwork/runs/r1"), { recursive: true });
    symlinkSync(secret, join(out, ".fetchwork/runs/r1/journal.ndjson"));
    const agent = await agentFor({ answers: [] });
    expect(await codeOf(agent.resume("r1", { out }))).toBe("ERR_AGENT_UNSAFE_PATH");
    expect(readFileSync(secret, "utf8")).toBe("one line without an end");
  });

  it("keeps the bytes of a file that is no text", async () => {
    const latin = Buffer.from([0xe9, 0x0a]);
    for (const onConflict of ["merge", "overwrite"] as const) {
      writeFileSync(join(out, "a.txt"), latin);
      const agent = await agentFor({ answers: projectScript(files) }, { onConflict });
      await agent.run({ prompt: "p", out }).result;
      if (onConflict === "merge") {
        expect(readFileSync(join(out, "a.txt"))).toEqual(latin);
        expect(treeOf(out).get("a.txt.new")).toBe("one\n");
      } else {
        const replaced = join(out, ".fetchwork/replaced");
        const [kept = ""] = readdirSync(replaced);
        expect(readFileSync(join(replaced, kept))).toEqual(latin);
      }
    }
  });

  it("keeps a person's bytes where a merge of its text would lose them", async () => {
    const text = "one\ntwo\nthree\nfour\nfive\n";
    const first = await agentFor({ answers: projectScript(new Map([["a.txt", text]])) });
    await first.run({ prompt: "p", out }).result;
    const changed = Buffer.concat([Buffer.from([0xe9, 0x0a]), Buffer.from(text)]);
    writeFileSync(join(out, "a.txt"), changed);
    const next = new Map([["a.txt", text.replace("five", "5")]]);
    await (await agentFor({ answers: projectScript(next) })).run({ prompt: "p", out }).result;
    expect(readFileSync(join(out, "a.txt"))).toEqual(changed);
    expect(treeOf(out).get("a.txt.new")).toContain("\n5\n");
  });

  it("counts its own files to no limit, and a plan to that of files before files are paid for", async () => {
    const many = manyFiles(6);
    const script = { answers: projectScript(many, { sharedDeps: "many" }) };
    const small = await agentFor(script, { maxFileBytes: 100 });
    expect(await codeOf(small.run({ prompt: "p", out }))).toBe("ok");
    const long = { answers: projectScript(many, { sharedDeps: "many ".repeat(30) }) };
    const agent = await agentFor(long, { maxFileBytes: 100 });
    expect(await codeOf(agent.run({ prompt: "p", out }))).toBe("ERR_AGENT_LIMIT");
    expect(server?.requests).toHaveLength(1);
  });
});

describe("edit", () => {
  const editing = (edits: unknown) => ({ tool: "edit_files", arguments: { edits } });

  describe("that ended before its time", () => {
    const double = editing([
      { path: "a.js", search: "a = 1", replace: "a = 2" },
      { path: "b.js", search: "b = 1", replace: "b = 2" },
      { path: "c.js", content: "export const c = 2;\n" },
    ]);
    /** An edit that is cancelled when its second file is to be written. */
    const cutEdit = async () => {
      writeFileSync(join(out, "a.js"), "\uFEFFexport const a = 1;\n");
      writeFileSync(join(out, "b.js"), "export const b = 1;\n");
      const agent = await agentFor(
        { answers: [double] },
        {
          approve: ({ path, before }) =>
            path === "b.js" && before === "export const b = 1;\n" && isCut ? "abort" : "apply",
        },
      );
      let isCut = true;
      const handle = agent.edit({ request: "double it", out, runId: "e1" });
      expect(await codeOf(handle)).toBe("ERR_AGENT_CANCELLED");
      expect(treeOf(out).get("a.js")).toBe("\uFEFFexport const a = 2;\n");
      isCut = false;
      return agent;
    };

    it("is resumed without asking again, and is known as an edit", async () => {
      const agent = await cutEdit();
      expect(await listRuns(out)).toMatchObject([
        { runId: "e1", kind: "edit", prompt: "double it", total: 3, finished: false },
      ]);
      const result = await agent.resume("e1", { out }).result;
      expect(server?.requests).toHaveLength(1);
      expect(result.usage.calls).toBe(1);
      expect(result.files.map(({ path, action }) => `${action} ${path}`)).toEqual([
        "updated a.js",
        "updated b.js",
        "created c.js",
      ]);
      expect(treeOf(out).get("b.js")).toBe("export const b = 2;\n");
      expect(treeOf(out).get("c.js")).toBe("export const c = 2;\n");
      expect(await listRuns(out)).toMatchObject([{ finished: true, done: 3 }]);
    });

    it("keeps what a person changed meanwhile, and writes nothing then", async () => {
      const agent = await cutEdit();
      writeFileSync(join(out, "c.js"), "mine\n");
      expect(await codeOf(agent.resume("e1", { out }))).toBe("ERR_AGENT_CONFLICT");
      expect(treeOf(out).get("c.js")).toBe("mine\n");
      expect(treeOf(out).get("b.js")).toBe("export const b = 1;\n");
    });

    it("changes nothing any more when it is over", async () => {
      const agent = await cutEdit();
      await agent.resume("e1", { out }).result;
      writeFileSync(join(out, "b.js"), "export const b = 3;\n");
      expect((await agent.resume("e1", { out }).result).ok).toBe(true);
      expect(treeOf(out).get("b.js")).toBe("export const b = 3;\n");
    });

    it("asks for what was not answered, with what it used before", async () => {
      writeFileSync(join(out, "a.js"), "export const a = 1;\n");
      writeFileSync(join(out, "b.js"), "export const b = 1;\n");
      const agent = await agentFor({
        answers: [{ ...double, fault: { kind: "refusal" }, times: 1 }, double],
      });
      expect(await codeOf(agent.edit({ request: "double it", out, runId: "e1" }))).toBe(
        "ERR_AGENT_REFUSED",
      );
      const result = await agent.resume("e1", { out }).result;
      expect(result.ok).toBe(true);
      expect(result.usage.calls).toBe(2);
      expect(treeOf(out).size).toBe(3);
    });

    it("leaves no trace of a dry run", async () => {
      writeFileSync(join(out, "a.js"), "export const a = 1;\n");
      const one = editing([{ path: "a.js", search: "a = 1", replace: "a = 2" }]);
      const agent = await agentFor({ answers: [one] });
      await agent.edit({ request: "double it", out, dryRun: true }).result;
      expect(readdirSync(out)).toEqual(["a.js"]);
    });
  });

  it("makes no file whose name differs from another's only in case", async () => {
    writeFileSync(join(out, "a.md"), "# A\n");
    const agent = await agentFor({ answers: [editing([{ path: "A.md", content: "# B\n" }])] });
    expect(await codeOf(agent.edit({ request: "x", out }))).toBe("ERR_AGENT_UNUSABLE");
    expect([...treeOf(out).keys()]).toEqual(["a.md"]);
  });

  it("changes what is asked, after telling the model what did not fit", async () => {
    mkdirSync(join(out, "src"));
    writeFileSync(join(out, "src/a.js"), "export const a = 1;\n");
    const good = editing([
      { path: "src/a.js", search: "a = 1", replace: "a = 2" },
      { path: "b.md", content: "# B\n" },
    ]);
    const agent = await agentFor({
      answers: [
        { ...good, match: ["no-match"] },
        editing([{ path: "src/a.js", search: "a = 7", replace: "a = 2" }]),
      ],
    });
    const result = await agent.edit({ request: "make it 2", out }).result;
    expect(result.files.map(({ path, action }) => `${action} ${path}`)).toEqual([
      "updated src/a.js",
      "created b.md",
    ]);
    expect(treeOf(out).get("src/a.js")).toBe("export const a = 2;\n");
  });

  it("writes nothing when the edits break what worked", async () => {
    writeFileSync(join(out, "a.js"), "export const a = 1;\n");
    writeFileSync(join(out, "b.js"), "import { a } from './a.js';\nconsole.log(a);\n");
    const agent = await agentFor({
      answers: [editing([{ path: "a.js", search: "const a", replace: "const z" }])],
    });
    expect(await codeOf(agent.edit({ request: "rename", out }))).toBe("ERR_AGENT_UNUSABLE");
    expect(treeOf(out).get("a.js")).toBe("export const a = 1;\n");
  });
});

describe("verify", () => {
  it("runs the project's tests, finds the fault behind them, and has the file repaired", async () => {
    const files = new Map([
      ["package.json", '{ "name": "sum", "type": "module" }\n'],
      ["src/sum.js", "export const sum = (a, b) => a + b;\n"],
      [
        "test/sum.test.js",
        'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { sum } from "../src/sum.js";\n\ntest("adds", () => {\n  assert.equal(sum(1, 2), 3);\n});\n',
      ],
    ]);
    const wrong = {
      match: ["# Write src/sum.js"],
      text: "export function sum(a, b) {\n  if (b > 0) throw new Error('no');\n  return a;\n}\n",
    };
    const agent = await agentFor(
      { answers: projectScript(files, { first: [wrong] }) },
      { verifiers: defaultVerifiers(), sandbox: { level: "process" } },
    );
    const result = await agent.run({ prompt: "sum", out }).result;
    expect(result).toMatchObject({ ok: true, repairs: 1, sandbox: "process" });
    expect(await agent.verify(out)).toEqual([]);
  });
});
