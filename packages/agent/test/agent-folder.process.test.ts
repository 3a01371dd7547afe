import {
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
import type { RunHandle } from "../src/run/agent-event.ts";
import type { AgentOptions } from "../src/run/agent-options.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { listRuns } from "../src/run/list-runs.ts";
import { defaultVerifiers, nodeTest } from "../src/verify/node-verifiers.ts";
import { editScript } from "./edit-script.ts";
import { startModelServer, type ModelServer, type ModelServerOptions } from "./model-server.ts";
import { manyFiles, projectScript } from "./project-script.ts";

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

const codeOf = (handle: RunHandle): Promise<unknown> =>
  handle.result.then(
    () => "ok",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
  );

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

  it("keeps the bytes of a file that is not text", async () => {
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
  describe("that ended before its time", () => {
    const double = editScript([
      { path: "a.js", search: "a = 1", replace: "a = 2" },
      { path: "b.js", search: "b = 1", replace: "b = 2" },
      { path: "c.js", content: "export const c = 2;\n" },
    ]);
    /** An edit that is cancelled when its second file is to be written. */
    const cutEdit = async () => {
      writeFileSync(join(out, "a.js"), "\uFEFFexport const a = 1;\n");
      writeFileSync(join(out, "b.js"), "export const b = 1;\n");
      const agent = await agentFor(
        { answers: double },
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
      expect(server?.requests).toHaveLength(2);
      expect(result.usage.calls).toBe(2);
      expect(result.files.map(({ path, action }) => `${action} ${path}`)).toEqual([
        "updated a.js",
        "updated b.js",
        "created c.js",
      ]);
      expect(treeOf(out).get("b.js")).toBe("export const b = 2;\n");
      expect(treeOf(out).get("c.js")).toBe("export const c = 2;\n");
      expect(await listRuns(out)).toMatchObject([{ finished: true, done: 3 }]);
    });

    it("keeps what a person changed in the meantime, and writes nothing then", async () => {
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
        answers: [{ fault: { kind: "refusal" }, times: 1 }, ...double],
      });
      expect(await codeOf(agent.edit({ request: "double it", out, runId: "e1" }))).toBe(
        "ERR_AGENT_REFUSED",
      );
      const result = await agent.resume("e1", { out }).result;
      expect(result.ok).toBe(true);
      expect(result.usage.calls).toBe(3);
      expect(treeOf(out).size).toBe(3);
    });

    it("leaves no trace of a dry run", async () => {
      writeFileSync(join(out, "a.js"), "export const a = 1;\n");
      const one = editScript([{ path: "a.js", search: "a = 1", replace: "a = 2" }]);
      const agent = await agentFor({ answers: one });
      await agent.edit({ request: "double it", out, dryRun: true }).result;
      expect(readdirSync(out)).toEqual(["a.js"]);
    });
  });

  it("makes no file whose name differs from another's only in case", async () => {
    writeFileSync(join(out, "a.md"), "# A\n");
    const agent = await agentFor({ answers: editScript([{ path: "A.md", content: "# B\n" }]) });
    expect(await codeOf(agent.edit({ request: "x", out }))).toBe("ERR_AGENT_UNUSABLE");
    expect([...treeOf(out).keys()]).toEqual(["a.md"]);
  });

  it("changes what is asked, after telling the model what did not fit", async () => {
    mkdirSync(join(out, "src"));
    writeFileSync(join(out, "src/a.js"), "export const a = 1;\n");
    const good = editScript([
      { path: "src/a.js", search: "a = 1", replace: "a = 2" },
      { path: "b.md", content: "# B\n" },
    ]);
    const bad = editScript([{ path: "src/a.js", search: "a = 7", replace: "a = 2" }]);
    const told = { last: "tool", match: ["does not stand in the file"], times: 1 } as const;
    const agent = await agentFor({
      answers: [...good.slice(0, 1).map((one) => ({ ...one, ...told })), ...bad],
    });
    const result = await agent.edit({ request: "make it 2", out }).result;
    expect(result.files.map(({ path, action }) => `${action} ${path}`)).toEqual([
      "updated src/a.js",
      "created b.md",
    ]);
    expect(treeOf(out).get("src/a.js")).toBe("export const a = 2;\n");
  });

  describe("of a program that has faults", () => {
    const double = editScript([{ path: "a.js", search: "a = 1", replace: "a = 2" }]);
    const test = (name: string, value: number): string =>
      `import assert from "node:assert";\nimport { test } from "node:test";\nimport { a } from "../a.js";\ntest("${name}", () => assert.equal(a, ${value}));\n`;
    beforeEach(() => {
      writeFileSync(join(out, "package.json"), '{"type":"module"}\n');
      writeFileSync(join(out, "a.js"), "export const a = 1;\n");
      writeFileSync(join(out, "old.js"), "import './missing.js';\n");
      mkdirSync(join(out, "test"));
    });

    it("counts none of them, and says that there are some", async () => {
      const agent = await agentFor({ answers: double });
      const result = await agent.edit({ request: "double it", out }).result;
      expect(result).toMatchObject({ ok: true, diagnostics: [], knownErrors: 1 });
      expect(treeOf(out).get("a.js")).toBe("export const a = 2;\n");
    });

    it("runs the program in spite of them, and counts no test that failed before", async () => {
      writeFileSync(join(out, "test/a.test.js"), test("has always failed", 7).replace("a,", "8,"));
      const agent = await agentFor(
        { answers: double },
        { verifiers: [nodeTest()], sandbox: { level: "process" } },
      );
      const result = await agent.edit({ request: "double it", out }).result;
      expect(result).toMatchObject({
        ok: true,
        diagnostics: [],
        knownErrors: 2,
        sandbox: "process",
      });
    });

    it("checks the types of an edit in spite of a test that failed before", async () => {
      writeFileSync(join(out, "test/a.test.js"), test("has always failed", 7).replace("a,", "8,"));
      writeFileSync(
        join(out, "tsconfig.json"),
        '{"compilerOptions":{"types":[],"allowJs":false},"include":["*.ts"]}\n',
      );
      writeFileSync(join(out, "b.ts"), "export const b: number = 1;\n");
      const agent = await agentFor(
        { answers: editScript([{ path: "b.ts", search: "= 1", replace: "= 'one'" }]) },
        { verifiers: defaultVerifiers(), sandbox: { level: "process" } },
      );
      const result = await agent.edit({ request: "make it a word", out }).result;
      expect(result).toMatchObject({ ok: false, knownErrors: 2 });
      expect(result.diagnostics.map(({ path, message }) => [path, message.slice(0, 6)])).toEqual([
        ["b.ts", "TS2322"],
      ]);
    }, 60_000);

    it("counts a test that fails since the edit", async () => {
      writeFileSync(join(out, "test/a.test.js"), test("is one", 1));
      const agent = await agentFor(
        { answers: double },
        { verifiers: [nodeTest()], sandbox: { level: "process" } },
      );
      const result = await agent.edit({ request: "double it", out, runId: "e1" }).result;
      expect(result).toMatchObject({ ok: false, knownErrors: 1 });
      expect(result.diagnostics.map(({ code, path }) => [code, path])).toEqual([
        ["verification", "a.js"],
      ]);
      // The edit is written, and is not what was there before it.
      expect(await agent.resume("e1", { out }).result).toMatchObject({ ok: false, knownErrors: 1 });
    });
  });

  it("applies the edits of every call in an answer", async () => {
    writeFileSync(join(out, "a.js"), "export const a = 1;\n");
    writeFileSync(join(out, "b.js"), "export const b = 1;\n");
    const answers = editScript([
      { path: "a.js", search: "a = 1", replace: "a = 2" },
      { path: "b.js", search: "b = 1", replace: "b = 2" },
    ]);
    const agent = await agentFor({ answers });
    await agent.edit({ request: "double it", out }).result;
    expect(Object.fromEntries(treeOf(out))).toEqual({
      "a.js": "export const a = 2;\n",
      "b.js": "export const b = 2;\n",
    });
    expect(server?.requests).toHaveLength(2);
  });

  it("applies the edits of a call once that an answer repeats", async () => {
    writeFileSync(join(out, "a.js"), "export const a = 1;\n");
    const edit = { path: "a.js", search: "a = 1", replace: "a = 1 + 1" };
    const agent = await agentFor({ answers: editScript([edit, edit, edit]) });
    await agent.edit({ request: "add one", out }).result;
    expect(treeOf(out).get("a.js")).toBe("export const a = 1 + 1;\n");
  });

  it("takes no edits from a call of a tool of another name", async () => {
    writeFileSync(join(out, "a.js"), "export const a = 1;\n");
    const edits = [{ path: "a.js", search: "a = 1", replace: "a = 2" }];
    const agent = await agentFor({
      answers: [
        { last: "user", calls: [{ name: "create_files", arguments: { edits } }] },
        { last: "tool", match: ["unavailable tool 'create_files'"], text: "I cannot." },
      ],
    });
    expect(await codeOf(agent.edit({ request: "double it", out }))).toBe("ERR_AGENT_UNUSABLE");
    expect(treeOf(out).get("a.js")).toBe("export const a = 1;\n");
  });

  it.each([
    [
      "no line is like it",
      { path: "a.js", search: "export const a = 7;", replace: "export const a = 2;" },
      "`search` does not stand in the file.",
    ],
    [
      "some lines are like it",
      { path: "a.js", search: "// one\nexport const a = 7;", replace: "" },
      "`search` does not stand in the file. Most like it is: // one export const a = 1;",
    ],
    [
      "the file is a secret",
      { path: ".env", search: "KEY=7\nA=1", replace: "" },
      ".env is protected: people change it themselves.",
    ],
  ])("says why nothing was changed when %s", async (_, change, reason) => {
    writeFileSync(join(out, "a.js"), "// one\nexport const a = 1;\n");
    writeFileSync(join(out, ".env"), "A=1\nKEY=secret\n");
    const agent = await agentFor({ answers: editScript([change]) });
    await expect(agent.edit({ request: "x", out }).result).rejects.toMatchObject({
      code: "ERR_AGENT_UNUSABLE",
      message: `the model changed nothing, and said: It is done. The last refusal of a tool: ${reason}`,
    });
    const asked = server?.requests.flatMap(({ messages }) => messages).join("\n");
    expect(asked).not.toContain("KEY=secret");
  });

  it("tells the model of faults that its changes make, and takes what repairs them", async () => {
    writeFileSync(join(out, "a.js"), "export const a = 1;\n");
    writeFileSync(join(out, "b.js"), "import { a } from './a.js';\nconsole.log(a);\n");
    const rename = editScript([{ path: "a.js", search: "const a", replace: "const z" }]);
    const repair = editScript(
      [{ path: "b.js", content: "import { z } from './a.js';\nconsole.log(z);\n" }],
      ["These faults are new since your changes", 'b.js:1 a.js does not export "a"'],
    );
    const agent = await agentFor({ answers: [...repair.slice(0, 1), ...rename] });
    const result = await agent.edit({ request: "rename", out }).result;
    expect(result).toMatchObject({
      ok: true,
      repairs: 1,
      diagnostics: [],
      summary: "It is done.",
    });
    expect(treeOf(out).get("b.js")).toContain("import { z }");
  });

  it("keeps the changes with the fewest faults, and says what is left", async () => {
    writeFileSync(join(out, "a.js"), "export const a = 1;\n");
    writeFileSync(join(out, "b.js"), "import { a } from './a.js';\nconsole.log(a);\n");
    const rename = editScript([{ path: "a.js", search: "const a", replace: "const z" }]);
    const worse = editScript(
      [{ path: "c.js", content: "import './d.js';\nlet (;\n" }],
      ["# Check"],
    );
    const agent = await agentFor({ answers: [...worse.slice(0, 1), ...rename] }, { repair: 1 });
    const result = await agent.edit({ request: "rename", out }).result;
    expect(result).toMatchObject({ ok: false, repairs: 1, diagnostics: [{ path: "b.js" }] });
    expect([...treeOf(out).keys()]).toEqual(["a.js", "b.js"]);
  });

  it("removes and moves files", async () => {
    writeFileSync(join(out, "a.js"), "export const a = 1;\n");
    writeFileSync(join(out, "b.js"), "export const b = 1;\n");
    const calls = [
      { name: "remove", arguments: { path: "a.js" } },
      { name: "move", arguments: { from: "b.js", to: "src/c.js" } },
    ];
    const agent = await agentFor({
      answers: [
        { last: "user", calls },
        { last: "tool", text: "It is done." },
      ],
    });
    const { files } = await agent.edit({ request: "x", out }).result;
    expect(files.map(({ path, action }) => `${action} ${path}`).toSorted()).toEqual([
      "created src/c.js",
      "removed a.js",
      "removed b.js",
    ]);
    expect(Object.fromEntries(treeOf(out))).toEqual({ "src/c.js": "export const b = 1;\n" });
  });

  it.each([
    ".git/hooks/pre-commit",
    ".husky/pre-commit",
    ".github/workflows/ci.yml",
    ".vscode/tasks.json",
    "../out.js",
    "/etc/x",
    ".fetchwork/runs/x",
  ])("does not write %s", async (path) => {
    const agent = await agentFor({ answers: editScript([{ path, content: "x" }]) });
    expect(await codeOf(agent.edit({ request: "x", out }))).toBe("ERR_AGENT_UNUSABLE");
    expect([...treeOf(out).keys()]).toEqual([]);
  });

  it("tells the model the instructions of the repository", async () => {
    writeFileSync(join(out, "AGENTS.md"), "Write names in Latin.\n");
    writeFileSync(join(out, "a.js"), "export const a = 1;\n");
    const agent = await agentFor({
      answers: editScript(
        [{ path: "a.js", search: "= 1", replace: "= 2" }],
        ["# Instructions of the repository", "## AGENTS.md", "Write names in Latin."],
      ),
    });
    expect((await agent.edit({ request: "double it", out }).result).ok).toBe(true);
  });

  it("changes no file that was not read", async () => {
    writeFileSync(join(out, "a.js"), `${"// much\n".repeat(3_000)}export const a = 1;\n`);
    const agent = await agentFor({
      answers: [
        { last: "user", calls: [{ name: "write", arguments: { path: "a.js", content: "" } }] },
        { last: "tool", match: ["Read a.js before you change it."], text: "It is done." },
      ],
    });
    expect(await codeOf(agent.edit({ request: "x", out }))).toBe("ERR_AGENT_UNUSABLE");
  });

  it("asks a model without tools for all edits in one answer", async () => {
    writeFileSync(join(out, "a.js"), "export const a = 1;\n");
    const edits = [{ path: "a.js", search: "a = 1", replace: "a = 2" }];
    const status = { kind: "status", status: 400 } as const;
    const agent = await agentFor({
      answers: [
        { tool: "edit", fault: { ...status, body: { error: { message: "no tools" } } } },
        { tool: "edit_files", fault: status },
        { tool: null, text: JSON.stringify({ edits }) },
      ],
    });
    writeFileSync(join(out, "b.js"), `const key = "AKIA${"B".repeat(16)}";\n`);
    for (const name of ["README.md", "readme.md"]) writeFileSync(join(out, name), "");
    await agent.edit({ request: "double it", out }).result;
    expect(treeOf(out).get("a.js")).toBe("export const a = 2;\n");
    const asked = server?.requests.flatMap(({ messages }) => messages).join("\n");
    expect(asked).toContain("b.js");
    expect(asked).not.toContain("AKIA");
  });
});
