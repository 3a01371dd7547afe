import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import { recording, replaying } from "../src/models/transcript.ts";
import { createAgent } from "../src/run/create-agent.ts";
import type { AgentOptions } from "../src/run/agent-options.ts";
import type { AgentEvent, RunHandle } from "../src/run/agent-event.ts";
import { defaultVerifiers } from "../src/verify/node-verifiers.ts";
import { editScript } from "./edit-script.ts";
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
    const main = server?.requests.find(({ task }) => task.startsWith("# Write src/main.js"));
    expect(main?.messages.join("\n")).toContain("export class Game");
  });

  it("writes independent files at the same time, as many as allowed", async () => {
    const files = manyFiles(24);
    const peakOf = async (concurrency: number): Promise<number | undefined> => {
      const agent = await agentFor({ answers: projectScript(files), delay: 50 }, { concurrency });
      await agent.run({ prompt: "parts", out, dryRun: true }).result;
      return server?.peak;
    };
    expect(await peakOf(8)).toBe(8);
    expect(await peakOf(1)).toBe(1);
  });

  it("finds a wrong first answer and repairs the file that has it, and no other", async () => {
    const wrong = {
      match: ["Answer with the source of src/math.js.", "# Write src/math.js"],
      text: "export const clip = 1;\nexport const lerp = 2;\n",
    };
    const agent = await agentFor({ answers: projectScript(game, { first: [wrong] }) });
    const events = await eventsOf(agent.run({ prompt: "a game", out }));
    expect(events.at(-1)).toMatchObject({ type: "finished", result: { ok: false } });
    const repaired = server?.requests.filter(({ task }) => task.startsWith("# Repair"));
    expect(new Set(repaired?.map(({ task }) => task.split("\n")[0]))).toEqual(
      new Set(["# Repair src/game.js"]),
    );
  });

  it("writes a program that has an empty file, and asks for nothing twice", async () => {
    const files = new Map([
      ["app/__init__.py", ""],
      ["app/main.py", "print(1)\n"],
    ]);
    const agent = await agentFor({ answers: projectScript(files) });
    const result = await agent.run({ prompt: "p", out }).result;
    expect(result.files.map(({ path, bytes }) => `${path} ${bytes}`)).toContain(
      "app/__init__.py 0",
    );
    expect(treeOf(out).get("app/__init__.py")).toBe("");
    expect(treeOf(out).get("app/main.py")).toBe("print(1)\n");
    expect(server?.requests).toHaveLength(4);
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
    expect(server?.requests.filter(({ task }) => task.startsWith("# Repair"))).not.toHaveLength(0);
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
    const edit = (search: string) => ({ edits: [{ search, replace: "" }] });
    const repairsOf = (): readonly string[] =>
      (server?.requests ?? []).flatMap(({ task }) => (task.startsWith("# Repair") ? [task] : []));

    it("changes what is wrong and keeps the rest of the file", async () => {
      const repair = { match: ["# Repair src/render.js"], arguments: edit(wrongLine) };
      const agent = await agentFor({ answers: projectScript(game, { first: [repair, wrong] }) });
      const result = await agent.run({ prompt: "a game", out }).result;
      expect(result).toMatchObject({ ok: true, repairs: 1 });
      expect(treeOf(out).get("src/render.js")).toBe(good);
      expect(repairsOf()).toEqual([expect.stringContaining("Answer with edits.")]);
    });

    it.each([
      ["does not fit", edit("no such line\n"), "no-match"],
      ["is not whole", { edits: [{ search: "a\n" }] }, "not whole"],
      ["fits in several places", edit("}\n"), "several-matches"],
    ])("asks again when an edit %s", async (_, call, complaint) => {
      const repair = { match: ["Answer with edits."], arguments: call, times: 1 };
      const agent = await agentFor({ answers: projectScript(game, { first: [repair, wrong] }) });
      const result = await agent.run({ prompt: "a game", out }).result;
      expect(result).toMatchObject({ ok: true, repairs: 1 });
      expect(treeOf(out).get("src/render.js")).toBe(good);
      expect(repairsOf()).toHaveLength(2);
      const said = server?.requests.findLast(({ task }) => task.startsWith("# Repair"));
      expect(said?.messages.join("\n")).toContain(complaint);
    });
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
    const asked = server?.requests.map(({ task }) => task.split("\n")[0]) ?? [];
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

  it("deletes nothing, and puts its own file next to one that it did not write", async () => {
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

  it.skipIf(process.platform === "win32")("keeps the mode of a program that is moved", async () => {
    for (const name of ["same.sh", "edited.sh"]) {
      writeFileSync(join(out, name), `echo ${name}\n`);
      chmodSync(join(out, name), 0o755);
    }
    const calls = [
      { name: "move", arguments: { from: "same.sh", to: "bin/renamed.sh" } },
      { name: "move", arguments: { from: "edited.sh", to: "bin/edited.sh" } },
      { name: "edit", arguments: { path: "bin/edited.sh", search: "echo", replace: "cat" } },
      { name: "write", arguments: { path: "bin/new.sh", content: "true\n" } },
    ];
    const answers = [
      { last: "user", calls },
      { last: "tool", text: "It is done." },
    ] as const;
    const agent = await agentFor({ answers });
    await agent.edit({ request: "x", out }).result;
    const modes = ["renamed.sh", "edited.sh", "new.sh"].map(
      (name) => statSync(join(out, "bin", name)).mode & 0o111,
    );
    expect(modes).toEqual([0o111, 0o111, 0]);
  });

  it("tells the model of files that are there and are not part of the program, and goes on", async () => {
    writeFileSync(join(out, ".gitignore"), "local.json\n");
    writeFileSync(join(out, "local.json"), "{}\n");
    writeFileSync(join(out, "a.js"), "1;\n");
    const edits = [
      { path: "local.json", content: "{ }\n" },
      { path: "a.js", search: "1;", replace: "2;" },
    ];
    const agent = await agentFor({ answers: editScript(edits) });
    await agent.edit({ request: "x", out }).result;
    expect(Object.fromEntries(treeOf(out))).toMatchObject({ "a.js": "2;\n", "local.json": "{}\n" });
    expect(server?.requests.at(-1)?.messages.join("\n")).toContain("local.json is there, but");
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
    expect((await agent.verify(out)).diagnostics).toEqual([]);
  });

  it("runs a program with its pictures and other files that are no text, or long", async () => {
    writeFileSync(join(out, "package.json"), '{ "name": "bytes", "type": "module" }\n');
    writeFileSync(join(out, "picture.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]));
    writeFileSync(join(out, "long.csv"), "1,2\n".repeat(600_000));
    writeFileSync(join(out, "empty.txt"), "full\n");
    const test = (emptied: number): string =>
      `import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

test("has its files", () => {
  const sizes = ["picture.png", "long.csv", "empty.txt"].map((path) => readFileSync(path).length);
  assert.deepEqual(sizes, [5, 2400000, ${emptied}]);
});
`;
    writeFileSync(join(out, "bytes.test.js"), test(5));
    const edits = [
      { path: "empty.txt", search: "full\n", replace: "" },
      { path: "bytes.test.js", search: "2400000, 5]", replace: "2400000, 0]" },
    ];
    const agent = await agentFor(
      { answers: editScript(edits) },
      { verifiers: defaultVerifiers(), sandbox: { level: "process" } },
    );
    expect((await agent.verify(out)).diagnostics).toEqual([]);
    const edited = await agent.edit({ request: "Empty it", out }).result;
    expect([edited.ok, edited.diagnostics]).toEqual([true, []]);
  });

  it("runs a program with the packages that are installed in its folder, and leaves them there", async () => {
    mkdirSync(join(out, "node_modules/dep"), { recursive: true });
    writeFileSync(join(out, "node_modules/dep/index.js"), "module.exports = 7;\n");
    writeFileSync(join(out, "package.json"), '{ "dependencies": { "dep": "1.0.0" } }\n');
    writeFileSync(
      join(out, "dep.test.js"),
      'const assert = require("node:assert");\nconst dep = require("dep");\nassert.equal(dep, 7);\n',
    );
    const agent = await agentFor(
      { answers: [] },
      { verifiers: defaultVerifiers(), sandbox: { level: "process" } },
    );
    expect((await agent.verify(out)).diagnostics).toEqual([]);
    expect(existsSync(join(out, "node_modules/dep/index.js"))).toBe(true);
  });

  it("says which sources are more than it reads", async () => {
    for (const name of "abcde") writeFileSync(join(out, `${name}.js`), "");
    const agent = await agentFor({ answers: [] }, { maxFiles: 1 });
    expect((await agent.verify(out)).diagnostics).toMatchObject([
      { path: "e.js", message: "it was not checked: only 4 files are read (four times maxFiles)" },
    ]);
  });

  it("says which sources it could not read, and nothing of pictures", async () => {
    writeFileSync(join(out, "latin.js"), Buffer.from("const a = 'gr\xfc\xdfe';\n", "latin1"));
    writeFileSync(join(out, "zero.css"), "a\0b");
    writeFileSync(join(out, "long.ts"), "x".repeat(300));
    writeFileSync(join(out, "empty.js"), "");
    writeFileSync(join(out, "picture.png"), Buffer.from([0x89, 0x50, 0]));
    const agent = await agentFor({ answers: [] }, { maxFileBytes: 200 });
    const { diagnostics: found, ...rest } = await agent.verify(out);
    expect(found.map(({ path, severity, message }) => [path, severity, message])).toEqual(
      ["latin.js", "long.ts", "zero.css"].map((path) => [
        path,
        "warning",
        "it was not checked: it is not UTF-8 text, or longer than 200 bytes",
      ]),
    );
    expect(rest).toEqual({ ok: true, checked: 1, unchecked: ["latin.js", "long.ts", "zero.css"] });
  });

  it("does not say that a program was run of which nothing could be", async () => {
    const files = new Map([["index.html", "<!doctype html><title>Page</title>\n"]]);
    const edits = [{ path: "index.html", search: "Page", replace: "Other" }];
    const agent = await agentFor(
      {
        answers: [...editScript(edits), ...projectScript(files)],
      },
      { verifiers: defaultVerifiers(), sandbox: { level: "process" } },
    );
    const run = agent.run({ prompt: "page", out });
    const levels: unknown[] = [];
    for await (const event of run) if (event.type === "checked") levels.push(event.level);
    const results = [await run.result, await agent.edit({ request: "x", out }).result];
    expect([...levels, ...results.map(({ sandbox }) => sandbox)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
