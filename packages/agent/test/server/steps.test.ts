import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { AgentError } from "../../src/errors.ts";
import { defaultVerifiers } from "../../src/verify/node-verifiers.ts";
import type { Artifact, Step, Task } from "../../src/server/wire.ts";
import { editScript } from "../edit-script.ts";
import { manyFiles, projectScript } from "../project-script.ts";
import type { ScriptedAnswer } from "../model-server.ts";
import { bodyOf, notes, post, startTasks, textOf, upload } from "./task-world.ts";

const planFault = (fault: ScriptedAnswer["fault"], times = 1): readonly ScriptedAnswer[] =>
  projectScript(notes, {
    first: [{ match: ["# Plan\n"], tool: null, times, ...(fault !== undefined && { fault }) }],
  });

describe("a step that fails", () => {
  it.each([
    ["the model's server is overloaded", { kind: "status", status: 429 }, 429],
    ["the model's server fails", { kind: "status", status: 500 }, 502],
    ["the key is wrong", { kind: "status", status: 401 }, 502],
    ["the model refuses", { kind: "refusal" }, 502],
    ["the answer is cut", { kind: "length" }, 502],
  ] as const)("is put back and told when %s", async (_, fault, status) => {
    const { create, ask, step } = await startTasks({ retry: { attempts: 1 } }, planFault(fault));
    const { task_id: id } = await create();
    const response = await ask(`/tasks/${id}/steps`, post());
    expect(response.status).toBe(status);
    const failure = await response.json();
    expect(failure).toMatchObject({ code: expect.stringMatching(/^ERR_AGENT_/) as string });
    const { steps } = await bodyOf<{ readonly steps: readonly Step[] }>(
      await ask(`/tasks/${id}/steps`),
    );
    expect(steps).toMatchObject([
      {
        status: "created",
        is_last: false,
        additional_output: { state: "failed", attempts: 1, last_error: failure },
      },
    ]);
    expect(await bodyOf<Task>(await ask(`/tasks/${id}`))).toMatchObject({
      state: "failed",
      last_error: failure,
    });
    expect(await step(id)).toMatchObject({
      status: "completed",
      additional_output: { attempts: 2 },
    });
    expect(await bodyOf<Task>(await ask(`/tasks/${id}`))).toMatchObject({
      state: "working",
      last_error: null,
    });
  });

  it("is told when the plan is a refusal in words, which is not kept as one", async () => {
    const sharedDeps = "I'm sorry, but I can't help with that.";
    const world = await startTasks({}, projectScript(notes, { sharedDeps }));
    const { task_id: id } = await world.create();
    const response = await world.ask(`/tasks/${id}/steps`, post());
    expect(await response.json()).toMatchObject({ code: "ERR_AGENT_REFUSED" });
    expect((await bodyOf<Task>(await world.ask(`/tasks/${id}`))).artifacts).toEqual([]);
  });

  it("tells how long the model's server wants to be left alone", async () => {
    const fault = { kind: "status", status: 429, headers: { "retry-after": "7" } } as const;
    const { create, ask } = await startTasks({ retry: { attempts: 1 } }, planFault(fault));
    const { task_id: id } = await create();
    const response = await ask(`/tasks/${id}/steps`, post());
    expect(response.headers.get("retry-after")).toBe("7");
  });

  it("is 402 when the task's budget has no room, also when an earlier step used it up", async () => {
    const world = await startTasks({ budget: { maxTokens: 3_000, maxOutputTokens: 512 } });
    const { task_id: low } = await world.create("a list", { max_tokens: 300 });
    const first = await world.ask(`/tasks/${low}/steps`, post());
    expect(first.status).toBe(402);
    expect(world.model.requests).toEqual([]);
    const { task_id: id } = await world.create("a list", { max_tokens: 1_000_000 });
    await world.step(id);
    expect(world.model.requests[0]?.maxTokens).toBe(512);
  });

  it("says nothing of an error that is not ours, and reports it", async () => {
    const secret = new Error("password hunter2");
    const world = await startTasks({
      agent: {
        onTask: () => [{ name: "fails" }],
        onStep: () => Promise.reject(secret),
      },
    });
    const { task_id: id } = await world.create();
    const response = await world.ask(`/tasks/${id}/steps`, post());
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("hunter2");
    expect(world.reported).toEqual([secret]);
  });

  it("is told with what can be kept of its message", async () => {
    const world = await startTasks({
      agent: {
        onTask: () => [{ name: "fails" }],
        onStep: () => Promise.reject(new AgentError("ERR_AGENT_PROVIDER", "a\0b\ud800")),
      },
    });
    const { task_id: id } = await world.create();
    expect((await world.ask(`/tasks/${id}/steps`, post())).status).toBe(502);
    const task = await bodyOf<Task>(await world.ask(`/tasks/${id}`));
    expect(task.last_error).toMatchObject({ message: "a\ufffdb\ufffd" });
    expect(world.reported).toEqual([]);
  });

  it("cannot write outside of the task", async () => {
    const world = await startTasks({
      agent: {
        onTask: () => [{ name: "writes" }],
        onStep: async () => ({ files: [{ path: "../../etc/passwd", content: "x" }] }),
      },
    });
    const { task_id: id } = await world.create();
    const response = await world.ask(`/tasks/${id}/steps`, post());
    expect(await response.json()).toMatchObject({ code: "ERR_AGENT_UNSAFE_PATH" });
    expect((await bodyOf<Task>(await world.ask(`/tasks/${id}`))).artifacts).toEqual([]);
  });
});

describe("a step that works", () => {
  it("may say what no store keeps, which is shown as U+FFFD; files keep it", async () => {
    const hostile = "a\0b\ud800c";
    const world = await startTasks({
      agent: {
        onTask: () => [{ name: "says" }],
        onStep: async ({ name }) => ({
          output: hostile,
          additionalOutput: { list: [{ [hostile]: hostile }, 1, null] },
          files: [{ path: "a.bin", content: "a\0b" }],
          next: name === "says" ? [{ name: "next", data: { hostile } }] : [],
        }),
      },
    });
    const { task_id: id } = await world.create();
    const step = await world.step(id);
    const shown = "a\ufffdb\ufffdc";
    expect(step.output).toBe(shown);
    expect(step.additional_output["list"]).toEqual([{ [shown]: shown }, 1, null]);
    const [file] = step.artifacts;
    if (file !== undefined) expect(await textOf(world, id, file)).toBe("a\0b");
    expect((await world.step(id)).is_last).toBe(true);
  });
});

describe("what steps use", () => {
  it("is counted for the task, whether they work or fail", async () => {
    let isFailing = true;
    const world = await startTasks({
      agent: {
        onTask: () => [{ name: "spends" }, { name: "spends too" }],
        onStep: async ({ spend }) => {
          spend({ inputTokens: 3, outputTokens: 2, cost: 0.5, calls: 1 });
          if (!isFailing) return { output: "x".repeat(1_048_577) };
          throw new AgentError("ERR_AGENT_PROVIDER", "no");
        },
      },
    });
    const { task_id: id } = await world.create();
    const usage = async (): Promise<Task["usage"]> =>
      (await bodyOf<Task>(await world.ask(`/tasks/${id}`))).usage;
    await world.ask(`/tasks/${id}/steps`, post());
    expect(await usage()).toEqual({ inputTokens: 3, outputTokens: 2, cost: 0.5, calls: 1 });
    isFailing = false;
    // What is longer than a mebibyte is not kept as output.
    expect((await world.step(id)).output).toBeNull();
    expect(await usage()).toEqual({ inputTokens: 6, outputTokens: 4, cost: 1, calls: 2 });
  });

  it.each([{ maxFileBytes: 55 }, { maxTotalBytes: 110 }])("is within %j", async (limits) => {
    const world = await startTasks(limits);
    const { task_id: id } = await world.create();
    await world.step(id);
    await world.step(id);
    const responses = [
      await world.ask(`/tasks/${id}/steps`, post()),
      await world.ask(`/tasks/${id}/steps`, post()),
    ];
    const last = responses.at(-1);
    expect(last?.status).toBe(422);
    expect(await last?.json()).toMatchObject({ code: "ERR_AGENT_LIMIT" });
  });

  it("is counted of a change too, which leaves nothing in the temporary folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "changes-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const edits = [{ path: "src/store.js", search: "milk", replace: "bread" }];
    const answers = [...projectScript(notes), ...editScript(edits)];
    const world = await startTasks({}, answers);
    const { task_id: id } = await world.create();
    await world.finish(id);
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    await world.step(id, { input: "bread", additional_input: { continue: true } });
    const { usage } = await bodyOf<Task>(await world.ask(`/tasks/${id}`));
    expect(usage.calls).toBe(world.model.requests.length);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is counted of a change that fails, next to an upload longer than what is changed", async () => {
    const edits = [{ path: "src/store.js", search: "no such line", replace: "bread" }];
    const answers = [...projectScript(notes), ...editScript(edits)];
    const world = await startTasks({}, answers);
    const { task_id: id } = await world.create();
    await world.finish(id);
    await world.ask(`/tasks/${id}/artifacts`, upload("rows.csv", "1,2\n".repeat(1_000_000)));
    const said = { input: "bread", additional_input: { continue: true } };
    const response = await world.ask(`/tasks/${id}/steps`, post(said));
    expect(await response.json()).toMatchObject({ code: "ERR_AGENT_UNUSABLE" });
    const { usage } = await bodyOf<Task>(await world.ask(`/tasks/${id}`));
    expect(usage.calls).toBe(world.model.requests.length);
  });

  it("never is a file for the plan, even if the model lists it", async () => {
    const files = new Map([["Shared_Deps.md", "# other\n"], ...notes]);
    const world = await startTasks({}, projectScript(files));
    const { task_id: id } = await world.create();
    await world.step(id);
    const { output } = await world.step(id);
    expect(output).toBe("File paths are: src/store.js, src/main.js");
  });
});

describe("several steps at once", () => {
  it("write independent files at the same time, each once", async () => {
    const files = manyFiles(12);
    const answers = projectScript(files).map((answer) =>
      answer.match?.[0]?.startsWith("Answer") === true ? { ...answer, delay: 500 } : answer,
    );
    const world = await startTasks({ concurrency: 4 }, answers);
    const { task_id: id } = await world.create();
    await world.step(id);
    await world.step(id);
    const steps = await Promise.all(Array.from({ length: 12 }, () => world.step(id)));
    expect(new Set(steps.map(({ name }) => name)).size).toBe(12);
    expect(steps.filter(({ is_last: last }) => last)).toHaveLength(1);
    expect(world.model.peak).toBe(4);
    expect(world.model.requests).toHaveLength(14);
    const task = await bodyOf<Task>(await world.ask(`/tasks/${id}`));
    expect(task.state).toBe("completed");
    expect(task.artifacts).toHaveLength(13);
  });

  it("wait for the files that they use, and see them", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    await world.step(id);
    await world.step(id);
    const [one, other] = await Promise.all([world.step(id), world.step(id)]);
    expect([one.name, other.name].toSorted()).toEqual([
      "Generate code for src/main.js",
      "Generate code for src/store.js",
    ]);
    const [, , , asked] = world.model.requests;
    expect(asked?.messages.join("\n")).toContain(notes.get("src/store.js"));
  });

  it("pass with one key run one step", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    const path = `/tasks/${id}/steps`;
    const key = { "idempotency-key": "first" };
    const first = await world.ask(path, post(undefined, key));
    const second = await world.ask(path, post(undefined, key));
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await second.text()).toBe(await first.text());
    expect(world.model.requests).toHaveLength(1);
    const other = await world.ask(path, post({ input: "other" }, key));
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({ message: expect.any(String) as string });
    const wrong = await world.ask(path, post(undefined, { "idempotency-key": "a b" }));
    expect(wrong.status).toBe(400);
  });

  it("of which one failed are run again with the same key", async () => {
    const fault = { kind: "status", status: 500 } as const;
    const world = await startTasks({ retry: { attempts: 1 } }, planFault(fault));
    const { task_id: id } = await world.create();
    const init = post(undefined, { "idempotency-key": "k" });
    expect((await world.ask(`/tasks/${id}/steps`, init)).status).toBe(502);
    expect((await world.ask(`/tasks/${id}/steps`, init)).status).toBe(200);
  });
});

describe("verify", () => {
  const broken = 'export const note = ["buy milk"];\n';
  const repairing: readonly ScriptedAnswer[] = projectScript(notes, {
    first: [
      { match: ["# Repair src/"], text: notes.get("src/store.js") ?? "" },
      { match: ["Answer with the source of src/store.js."], text: broken, times: 1 },
    ],
  });

  it("is the last step, and says when nothing is wrong", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create("notes", { verify: "static" });
    const steps = await world.finish(id);
    expect(steps.at(-1)).toMatchObject({
      name: "verify",
      is_last: true,
      output: "No error was found.",
      additional_output: { verified: true, diagnostics: [] },
    });
    expect(steps.filter(({ is_last: last }) => last)).toHaveLength(1);
  });

  it("does not say that nothing is wrong where nothing was checked", async () => {
    const program = new Map([["main.py", "print(1)\n"]]);
    const world = await startTasks({}, projectScript(program));
    const { task_id: id } = await world.create("notes", { verify: "static" });
    const last = (await world.finish(id)).at(-1);
    expect(last?.output).toBe("Nothing was checked. Not checked: main.py");
    expect(last?.additional_output).toMatchObject({ checked: 0, unchecked: ["main.py"] });
    expect(last?.additional_output).not.toHaveProperty("verified");
  });

  it("adds repairs of the files that are wrong, and verifies again", async () => {
    const repaired = new Map([
      ["src/store.js", notes.get("src/store.js") ?? ""],
      ["src/main.js", 'import { note } from "./store.js";\nconsole.log(note.length);\n'],
    ]);
    const world = await startTasks({}, [
      { match: ["# Repair src/main.js"], text: repaired.get("src/main.js") ?? "" },
      ...repairing.slice(1),
    ]);
    const { task_id: id } = await world.create("notes", { verify: "static" });
    const steps = await world.finish(id);
    expect(steps.map(({ name }) => name).slice(4)).toEqual([
      "verify",
      "Repair src/main.js",
      "verify",
    ]);
    expect(steps[4]).toMatchObject({ is_last: false, additional_output: { verified: false } });
    expect(steps.at(-1)).toMatchObject({ is_last: true, additional_output: { verified: true } });
    const main = steps[5]?.artifacts[0];
    expect(main?.versions).toBe(2);
    if (main !== undefined) {
      expect(await textOf(world, id, main)).toBe(repaired.get("src/main.js"));
    }
  });

  it("repairs a file by edits, which keep the rest of it", async () => {
    const [was, is] = ["import { notes } from", "import { note as notes } from"].map(
      (head) => `${head} "./store.js";\n`,
    );
    const edits = [{ search: was, replace: is }];
    const world = await startTasks({}, [
      { match: ["# Repair src/main.js"], arguments: { edits } },
      ...repairing.slice(1),
    ]);
    const { task_id: id } = await world.create("notes", { verify: "static" });
    const steps = await world.finish(id);
    expect(steps.at(-1)?.additional_output).toMatchObject({ verified: true });
    expect(steps[5]?.output).toBe(notes.get("src/main.js")?.replace(was ?? "", is ?? ""));
  });

  it("repairs nothing where no round of repair is wanted", async () => {
    const world = await startTasks({}, repairing);
    const { task_id: id } = await world.create("notes", { verify: "static", repair: 0 });
    const last = (await world.finish(id)).at(-1);
    expect(last).toMatchObject({ name: "verify", additional_output: { verified: false } });
    expect(world.model.requests).toHaveLength(4);
  });

  it("ends when repairs do not help, and does not pretend", async () => {
    const useless = 'import { nothing } from "./store.js";\nconsole.log(nothing);\n';
    const world = await startTasks({}, [
      { match: ["# Repair src/main.js"], text: useless },
      ...repairing.slice(1),
    ]);
    const { task_id: id } = await world.create("notes", { verify: "static", repair: 5 });
    const last = (await world.finish(id)).at(-1);
    expect(last).toMatchObject({
      name: "verify",
      output: expect.stringContaining('does not export "notes"') as string,
      additional_output: { verified: false },
    });
    expect(world.model.requests).toHaveLength(5);
    // Nothing is better about it: the file is as it was before.
    expect(last?.artifacts).toMatchObject([{ file_name: "main.js", versions: 3 }]);
    const [main] = last?.artifacts ?? [];
    if (main !== undefined) expect(await textOf(world, id, main)).toBe(notes.get("src/main.js"));
  });

  it("runs programs only where the server has verifiers", async () => {
    const { ask } = await startTasks();
    const init = post({ input: "x", additional_input: { verify: "run" } });
    expect((await ask("/tasks", init)).status).toBe(422);
    const world = await startTasks({ verifiers: defaultVerifiers() });
    const { task_id: id } = await world.create("notes", { verify: "run" });
    expect((await world.finish(id)).at(-1)?.additional_output).toMatchObject({
      level: "run",
      verified: true,
    });
  });

  it.each([
    { model: "" },
    { model: "a\nb" },
    { concurrency: 0 },
    { verify: "maybe" },
    { repair: -1 },
    { max_cost: 0 },
    { max_tokens: "many" },
  ])("refuses the additional input %j with 422", async (additional) => {
    const { ask } = await startTasks();
    const response = await ask("/tasks", post({ input: "x", additional_input: additional }));
    expect(response.status).toBe(422);
  });
});

describe("the end of a task", () => {
  const slow = (): readonly ScriptedAnswer[] => [
    { match: ["# Plan\n"], tool: null, fault: { kind: "silence" } },
  ];

  it("comes at once when it is canceled while a step runs", async () => {
    const world = await startTasks({}, slow());
    const { task_id: id } = await world.create();
    const running = world.ask(`/tasks/${id}/steps`, post());
    await world.asked(1);
    const canceled = await bodyOf<Task>(await world.ask(`/tasks/${id}/cancel`, post()));
    expect(canceled.state).toBe("canceled");
    expect((await running).status).toBe(409);
    const again = await world.ask(`/tasks/${id}/steps`, post());
    expect(again.status).toBe(409);
    expect((await world.ask(`/tasks/${id}/run`, post())).status).toBe(409);
    const { steps } = await bodyOf<{ readonly steps: readonly Step[] }>(
      await world.ask(`/tasks/${id}/steps`),
    );
    expect(steps).toMatchObject([{ status: "created", additional_output: { state: "canceled" } }]);
  });

  it("leaves a completed task completed when it is canceled", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    await world.finish(id);
    const task = await bodyOf<Task>(await world.ask(`/tasks/${id}/cancel`, post()));
    expect(task.state).toBe("completed");
  });

  it("leaves nothing when it is deleted, also while a step runs", async () => {
    const world = await startTasks({}, slow());
    const { task_id: id } = await world.create();
    const running = world.ask(`/tasks/${id}/steps`, post());
    await world.asked(1);
    expect((await world.ask(`/tasks/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await running).status).toBe(409);
    expect((await world.ask(`/tasks/${id}`)).status).toBe(404);
    expect((await world.ask(`/tasks/${id}`, { method: "DELETE" })).status).toBe(404);
    expect(world.reported).toEqual([]);
  });

  it("is not the end of a step when its client goes away", async () => {
    const world = await startTasks({}, projectScript(notes));
    const { task_id: id } = await world.create();
    const controller = new AbortController();
    const gone = world.ask(`/tasks/${id}/steps`, { ...post(), signal: controller.signal });
    await world.asked(1);
    controller.abort();
    await gone.catch(() => undefined);
    const events = await world.ask(`/tasks/${id}/events`);
    for await (const chunk of events.body ?? []) {
      if (new TextDecoder().decode(chunk).includes("step.completed")) break;
    }
    const { steps } = await bodyOf<{ readonly steps: readonly Step[] }>(
      await world.ask(`/tasks/${id}/steps`),
    );
    expect(steps[0]?.status).toBe("completed");
  });
});

describe("a task that the server runs by itself", () => {
  it("is finished without a step request", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create("notes", { run: true });
    const events = await (await world.ask(`/tasks/${id}/events`)).text();
    expect(events).toContain("event: task.completed");
    const task = await bodyOf<Task>(await world.ask(`/tasks/${id}`));
    expect(task.state).toBe("completed");
    expect(task.artifacts.map(({ file_name: name }: Artifact) => name)).toContain("main.js");
  });

  it("stops at a step that fails, and goes on when it is run again", async () => {
    const fault = { kind: "status", status: 500 } as const;
    const world = await startTasks({ retry: { attempts: 1 } }, planFault(fault));
    const { task_id: id } = await world.create();
    await bodyOf<Task>(await world.ask(`/tasks/${id}/run`, post()));
    const failed = await world.ask(`/tasks/${id}/events`);
    for await (const chunk of failed.body ?? []) {
      if (new TextDecoder().decode(chunk).includes("step.failed")) break;
    }
    expect((await bodyOf<Task>(await world.ask(`/tasks/${id}`))).state).toBe("failed");
    expect(world.model.requests).toHaveLength(1);
    await bodyOf<Task>(await world.ask(`/tasks/${id}/run`, post()));
    expect(await (await world.ask(`/tasks/${id}/events`)).text()).toContain("task.completed");
    expect(world.model.requests).toHaveLength(5);
  });
});

it("every call of a task asks the model that the environment names", async () => {
  const world = await startTasks({ provider: undefined });
  vi.stubEnv("FETCHWORK_BASE_URL", world.model.baseUrl);
  vi.stubEnv("FETCHWORK_MODEL", "of-the-environment");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { task_id: id } = await world.create();
  await world.finish(id);
  const models = world.model.requests.map(({ model }) => model);
  expect([...new Set(models)]).toEqual(["of-the-environment"]);
  expect(models.length).toBeGreaterThan(2);
});
