import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import { createAgent } from "../src/run/create-agent.ts";
import type { AgentEvent } from "../src/run/agent-event.ts";
import { nodeTest } from "../src/verify/node-verifiers.ts";
import { withCopy } from "../src/verify/program-copy.ts";
import { createSandbox } from "../src/verify/sandbox.ts";
import { startModelServer, type ScriptedAnswer } from "./model-server.ts";

async function world(answers: readonly ScriptedAnswer[]) {
  const out = mkdtempSync(join(tmpdir(), "run-tool-"));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  const model = await startModelServer({ answers });
  onTestFinished(() => model.close());
  writeFileSync(join(out, "package.json"), '{"type":"module"}\n');
  writeFileSync(join(out, "sum.js"), "export const sum = (a, b) => a - b;\n");
  writeFileSync(
    join(out, "sum.test.js"),
    'import assert from "node:assert";\nimport { test } from "node:test";\nimport { sum } from "./sum.js";\ntest("adds", () => assert.equal(sum(2, 2), 4));\n',
  );
  const provider = openAICompatible({ baseUrl: model.baseUrl, model: "scripted" });
  const agent = createAgent({
    provider,
    verifiers: [nodeTest()],
    sandbox: { level: "process" },
  });
  return { out, model, agent };
}

const call = (name: string, input: unknown) => ({ name, arguments: input });
const edit = call("edit", { path: "sum.js", search: "a - b", replace: "a + b" });
const run = (command: string, seconds?: number) =>
  call("run", { command, ...(seconds !== undefined && { seconds }) });

it("the tool run runs commands on the program as it is changed, and keeps nothing of what they write", async () => {
  const { out, model, agent } = await world([
    { last: "user", calls: [run("node --test --test-reporter=tap; echo left > left.txt")] },
    {
      last: "tool",
      match: ["not ok 1 - adds"],
      times: 1,
      calls: [edit, run("node --test --test-reporter=tap; ls")],
    },
    { last: "tool", match: ["# pass 1", "sum.test.js"], text: "It adds now." },
  ]);
  const handle = agent.edit({ request: "Let it add", out });
  const tools: AgentEvent[] = [];
  for await (const event of handle) if (event.type === "tool") tools.push(event);
  expect(await handle.result).toMatchObject({ ok: true, repairs: 0 });
  expect(tools).toMatchObject([{ name: "run" }, { name: "edit" }, { name: "run" }]);
  expect(readFileSync(join(out, "sum.js"), "utf8")).toContain("a + b");
  expect(existsSync(join(out, "left.txt"))).toBe(false);
  const told = model.requests.at(-1)?.messages.join("\n") ?? "";
  expect(told).not.toContain("left.txt\n");
  expect(told).not.toContain("fetchwork-agent-");
});

it("the tool run ends a command that takes too long, and cuts output that is too long", async () => {
  const { model, out, agent } = await world([
    { last: "user", calls: [run("sleep 30", 1), run("seq 1 100000"), edit] },
    { last: "tool", text: "It is done." },
  ]);
  await agent.edit({ request: "Let it add", out }).result;
  const told = model.requests.at(-1)?.messages.join("\n") ?? "";
  expect(told).toContain("It took too long.");
  expect(told).toMatch(/… \d+ characters are left out …/);
  expect(told.length).toBeLessThan(30_000);
});

it("the tool run offers no command where nothing may be run", async () => {
  const { model, out } = await world([
    { last: "user", calls: [run("touch made.txt"), call("read", { path: "sum.js" }), edit] },
    { last: "tool", match: ["unavailable tool 'run'"], text: "It is done." },
  ]);
  const provider = openAICompatible({ baseUrl: model.baseUrl, model: "scripted" });
  await createAgent({ provider }).edit({ request: "Let it add", out }).result;
  expect(readFileSync(join(out, "sum.js"), "utf8")).toContain("a + b");
});

it.each([
  ["elsewhere", "keys", ""],
  ["in another folder of packages", "other/node_modules", "key"],
])(
  "the tool run shows a folder that node_modules links to %s only where it has that name",
  async (_, place, shown) => {
    const home = mkdtempSync(join(tmpdir(), "run-tool-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const [from, target] = [join(home, "program"), join(home, place)];
    for (const path of [from, target]) mkdirSync(path, { recursive: true });
    writeFileSync(join(target, "id"), "key");
    symlinkSync(target, join(from, "node_modules"));
    const sandbox = await createSandbox({ level: "process" });
    const told = await withCopy(new Map([["a.js", ""]]), { sandbox, from }, (cwd, inside) =>
      inside.exec(["cat", "node_modules/id"], { cwd }),
    );
    expect(told.stdout).toBe(shown);
  },
);
