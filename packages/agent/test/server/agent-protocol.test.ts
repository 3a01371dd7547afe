import { request } from "node:http";
import { describe, expect, it } from "vitest";
import type { Artifact, Step, Task } from "../../src/server/wire.ts";
import type { Pagination } from "../../src/server/paging.ts";
import { editScript } from "../edit-script.ts";
import { projectScript } from "../project-script.ts";
import { bodyOf, notes, post, startTasks, textOf, upload } from "./task-world.ts";

interface Lists {
  readonly tasks: readonly Task[];
  readonly steps: readonly Step[];
  readonly artifacts: readonly Artifact[];
  readonly pagination: Pagination;
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

describe("the Agent Protocol", () => {
  it("creates a task with the input, empty additional input and no artifacts", async () => {
    const { ask } = await startTasks();
    const task = await bodyOf<Task>(await ask("/tasks", post({ input: "a game" })));
    expect(task).toMatchObject({ input: "a game", additional_input: {}, artifacts: [] });
    expect(task.task_id).toMatch(uuid);
  });

  it("returns additional input back as it came", async () => {
    const { create } = await startTasks();
    const said = { language: "German", nested: { list: [1, null, "ü"] } };
    expect((await create("a game", said)).additional_input).toEqual(said);
  });

  it("serves both prefixes from the same tasks", async () => {
    const { url, create } = await startTasks();
    const { task_id: id } = await create();
    const response = await fetch(`${url}/ap/v1/agent/tasks/${id}`);
    expect((await bodyOf<Task>(response)).task_id).toBe(id);
    const created = await bodyOf<Task>(
      await fetch(`${url}/ap/v1/agent/tasks`, post({ input: "x" })),
    );
    expect((await fetch(`${url}/agent/tasks/${created.task_id}`)).status).toBe(200);
  });

  it("answers a step without body and content type with 200", async () => {
    const { create, ask } = await startTasks();
    const { task_id: id } = await create();
    const response = await ask(`/tasks/${id}/steps`, { method: "POST" });
    expect(await bodyOf<Step>(response)).toMatchObject({
      task_id: id,
      name: "plan",
      status: "completed",
      is_last: false,
    });
  });

  it("runs plan, file list and one step for each file, the last of which is marked", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    const steps = await world.finish(id);
    expect(steps.map(({ name, is_last: last }) => [name, last])).toEqual([
      ["plan", false],
      ["specify_file_paths", false],
      ["Generate code for src/store.js", false],
      ["Generate code for src/main.js", true],
    ]);
    expect(steps.every(({ status }) => status === "completed")).toBe(true);
    expect(steps[1]?.output).toBe("File paths are: src/store.js, src/main.js");
    expect(steps[2]?.output).toBe(notes.get("src/store.js"));
  });

  it("returns each file as an artifact of its step and of the task", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    const steps = await world.finish(id);
    const own = steps[3]?.artifacts ?? [];
    expect(own).toMatchObject([
      { file_name: "main.js", relative_path: "src", agent_created: true },
    ]);
    const { artifacts } = await bodyOf<Lists>(await world.ask(`/tasks/${id}/artifacts`));
    expect(artifacts.map(({ file_name: name }) => name)).toEqual([
      "shared_deps.md",
      "store.js",
      "main.js",
    ]);
    expect(artifacts[0]?.relative_path).toBe(".");
    const task = await bodyOf<Task>(await world.ask(`/tasks/${id}`));
    expect(task.artifacts).toEqual(artifacts);
    for (const artifact of own) {
      expect(await textOf(world, id, artifact)).toBe(notes.get("src/main.js"));
    }
  });

  it("lists steps as objects, in their order, by pages", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    await world.finish(id);
    const { steps, pagination } = await bodyOf<Lists>(
      await world.ask(`/tasks/${id}/steps?current_page=2&page_size=3`),
    );
    expect(steps.map(({ name }) => name)).toEqual(["Generate code for src/main.js"]);
    expect(pagination).toEqual({
      total_items: 4,
      total_pages: 2,
      current_page: 2,
      page_size: 3,
    });
  });

  it("gets each step by its own id", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    for (const step of await world.finish(id)) {
      const same = await bodyOf<Step>(await world.ask(`/tasks/${id}/steps/${step.step_id}`));
      expect(same).toEqual(step);
    }
  });

  it("answers a step after the last one with that one, and asks no model", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    const last = (await world.finish(id)).at(-1);
    const asked = world.model.requests.length;
    expect(await world.step(id)).toEqual(last);
    expect(await world.step(id, { input: "more" })).toEqual(last);
    expect(world.model.requests).toHaveLength(asked);
  });

  it("changes a finished task in other words, when nothing came of the first ones", async () => {
    const changed = (search: string, match: string) =>
      editScript([{ path: "src/store.js", search, replace: "buy bread" }], [match]);
    const world = await startTasks({}, [
      ...projectScript(notes),
      ...changed("is not there", "an impossible change"),
      ...changed("buy milk", "bread instead"),
    ]);
    const { task_id: id } = await world.create();
    await world.finish(id);
    const path = `/tasks/${id}/steps`;
    const said = { input: "an impossible change", additional_input: { continue: true } };
    expect((await world.ask(path, post(said))).status).toBe(502);
    expect((await world.ask(path, post())).status).toBe(502);
    const step = await world.step(id, { ...said, input: "bread instead" });
    expect(step).toMatchObject({ name: "edit", input: "bread instead", status: "completed" });
    expect(step.artifacts).toMatchObject([{ file_name: "store.js", versions: 2 }]);
  });

  it("goes on with a finished task when the step says to continue", async () => {
    const edit = { path: "src/store.js", search: "buy milk", replace: "buy bread" };
    const world = await startTasks({}, [...projectScript(notes), ...editScript([edit])]);
    const { task_id: id } = await world.create();
    const before = (await world.finish(id)).at(-1);
    const step = await world.step(id, {
      input: "bread instead of milk",
      additional_input: { continue: true },
    });
    expect(step).toMatchObject({ name: "edit", status: "completed", is_last: true });
    const [artifact] = step.artifacts;
    expect(artifact).toMatchObject({ file_name: "store.js", versions: 2 });
    if (artifact === undefined) return;
    expect(await textOf(world, id, artifact)).toBe('export const notes = ["buy bread"];\n');
    const file = `/tasks/${id}/artifacts/${artifact.artifact_id}`;
    const old = await world.ask(`${file}?version=1`);
    expect(await old.text()).toBe('export const notes = ["buy milk"];\n');
    const changes = await world.ask(`${file}?since=1`);
    expect(await changes.text()).toBe(
      '--- a/src/store.js\n+++ b/src/store.js\n@@ -1,1 +1,1 @@\n-export const notes = ["buy milk"];\n+export const notes = ["buy bread"];\n',
    );
    expect((await world.ask(`${file}?since=3`)).status).toBe(404);
    expect((await world.ask(`${file}?since=0`)).status).toBe(422);
    const earlier = await bodyOf<Step>(
      await world.ask(`/tasks/${id}/steps/${before?.step_id ?? ""}`),
    );
    expect(earlier.is_last).toBe(false);
  });

  it("uploads a file and downloads the same bytes", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    const bytes = new Uint8Array(3_000_000).map((_, index) => (index * 7 + (index >> 8)) & 0xff);
    const artifact = await bodyOf<Artifact>(
      await world.ask(`/tasks/${id}/artifacts`, upload("picture.bin", bytes, "data/in")),
    );
    expect(artifact).toMatchObject({
      file_name: "picture.bin",
      relative_path: "data/in",
      agent_created: false,
      size: bytes.length,
    });
    const response = await world.ask(`/tasks/${id}/artifacts/${artifact.artifact_id}`);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(response.headers.get("content-disposition")).toContain('filename="picture.bin"');
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
  });

  it("returns an upload without a folder without a relative path", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    const answer = await world.ask(`/tasks/${id}/artifacts`, upload("a.txt", ""));
    expect(await bodyOf<Artifact>(answer)).toMatchObject({ relative_path: null, size: 0 });
  });

  it("tolerates a GET with a JSON body", async () => {
    const { url, create } = await startTasks();
    const { task_id: id } = await create();
    for (const path of ["/agent/tasks", `/agent/tasks/${id}`, `/agent/tasks/${id}/steps`]) {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const body = JSON.stringify({ input: "x" });
        const headers = { "content-type": "application/json", "content-length": body.length };
        const sent = request(
          `${url}${path}`,
          { method: "GET", headers, agent: false },
          (response) => {
            response.resume();
            response.on("end", () => resolve(response.statusCode));
          },
        );
        sent.on("error", reject);
        sent.end(body);
      });
      expect(status).toBe(200);
    }
  });

  it("lists tasks in the order of their creation and counts the pages", async () => {
    const { create, ask } = await startTasks();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push((await create(`task ${count}`)).task_id);
    const first = await bodyOf<Lists>(await ask("/tasks?page_size=2"));
    const last = await bodyOf<Lists>(await ask("/tasks?page_size=2&current_page=3"));
    const beyond = await bodyOf<Lists>(await ask("/tasks?page_size=2&current_page=4"));
    expect(first.tasks.map(({ task_id: id }) => id)).toEqual(ids.slice(0, 2));
    expect(last.tasks.map(({ task_id: id }) => id)).toEqual(ids.slice(4));
    expect(last.pagination).toEqual({
      total_items: 5,
      total_pages: 3,
      current_page: 3,
      page_size: 2,
    });
    expect(beyond.tasks).toEqual([]);
  });

  it("has no pages where there is nothing", async () => {
    const { ask } = await startTasks();
    expect((await bodyOf<Lists>(await ask("/tasks"))).pagination).toEqual({
      total_items: 0,
      total_pages: 0,
      current_page: 1,
      page_size: 10,
    });
  });
});

describe("what the Agent Protocol refuses", () => {
  it.each([
    ["no body", { method: "POST" }],
    ["an empty object", post({})],
    ["a blank input", post({ input: " \n" })],
    ["a null input", post({ input: null })],
    ["an input of another type", post({ input: 7 })],
    ["additional input of another type", post({ input: "x", additional_input: null })],
    ["a list", { ...post({}), body: "[]" }],
    ["malformed JSON", { ...post({}), body: '{"input":' }],
    ["text that is not UTF-8", { ...post({}), body: new Uint8Array([0x22, 0xff, 0x22]) }],
    ["U+0000", post({ input: "a\0b" })],
  ])("refuses a task with %s with 422 and a message", async (_, init) => {
    const { ask } = await startTasks();
    const response = await ask("/tasks", init);
    expect(response.status).toBe(422);
    expect(await response.json()).toEqual({
      message: expect.any(String) as string,
      code: "invalid",
      retryable: false,
    });
  });

  it("refuses a malformed step with 422 and runs nothing", async () => {
    const { ask, create, model } = await startTasks();
    const { task_id: id } = await create();
    const response = await ask(`/tasks/${id}/steps`, { ...post({}), body: "{" });
    expect(response.status).toBe(422);
    expect(model.requests).toEqual([]);
  });

  it.each(["nonsense", "0190a3f0-0000-7000-8000-000000000000", "..", "%00", "é"])(
    "answers the unknown task %s with 404 and a message",
    async (id) => {
      const { ask } = await startTasks();
      const path = `/tasks/${encodeURIComponent(id).replace("..", "%2e%2e")}`;
      const asked = [
        ask(`${path}x`),
        ask(`${path}x/steps`),
        ask(`${path}x/steps`, post()),
        ask(`${path}x/steps/1`),
        ask(`${path}x/artifacts`),
        ask(`${path}x/artifacts`, upload("a", "b")),
        ask(`${path}x/artifacts/1`),
      ];
      for (const response of await Promise.all(asked)) {
        expect(response.status).toBe(404);
        expect(await response.json()).toMatchObject({ message: "there is no such task" });
      }
    },
  );

  it("answers unknown steps and artifacts, and those of another task, with 404", async () => {
    const world = await startTasks();
    const [one, other] = [await world.create(), await world.create()];
    const step = await world.step(one.task_id);
    const [artifact] = step.artifacts;
    for (const path of [
      `/tasks/${one.task_id}/steps/nonsense`,
      `/tasks/${other.task_id}/steps/${step.step_id}`,
      `/tasks/${one.task_id}/artifacts/${step.step_id}`,
      `/tasks/${other.task_id}/artifacts/${artifact?.artifact_id ?? ""}`,
    ]) {
      const response = await world.ask(path);
      expect([path, response.status]).toEqual([path, 404]);
    }
  });

  it.each(["0", "-1", "abc", "1.5", "", "2147483648", "1&page_size=2", "1e3", "+1"])(
    "refuses the page size %j with 422",
    async (size) => {
      const { ask, create } = await startTasks();
      const { task_id: id } = await create();
      for (const path of ["/tasks", `/tasks/${id}/steps`, `/tasks/${id}/artifacts`]) {
        expect((await ask(`${path}?page_size=${size}`)).status).toBe(422);
        expect(
          (await ask(`${path}?current_page=${size.replace("page_size", "current_page")}`)).status,
        ).toBe(422);
      }
    },
  );

  it("takes the largest page size and says how many it returns", async () => {
    const { ask } = await startTasks();
    const { pagination } = await bodyOf<Lists>(await ask("/tasks?page_size=2147483647"));
    expect(pagination.page_size).toBe(1_000);
  });

  it.each(["../../..", "/etc", "a/../..", "..\\..", "C:\\", "a\0b", ".git", "nul"])(
    "refuses an upload into %j with 422",
    async (folder) => {
      const { ask, create } = await startTasks();
      const { task_id: id } = await create();
      const response = await ask(`/tasks/${id}/artifacts`, upload("passwd", "x", folder));
      expect(response.status).toBe(422);
      const { artifacts } = await bodyOf<Lists>(await ask(`/tasks/${id}/artifacts`));
      expect(artifacts).toEqual([]);
    },
  );

  it("takes the name of an upload without its folders", async () => {
    const { ask, create } = await startTasks();
    const { task_id: id } = await create();
    for (const name of ["../../evil.txt", "C:\\temp\\evil.txt"]) {
      const response = await ask(`/tasks/${id}/artifacts`, upload(name, "x"));
      expect((await bodyOf<Artifact>(response)).file_name).toBe("evil.txt");
    }
  });

  it("refuses an upload without a file, with two files, and of another form", async () => {
    const { ask, create } = await startTasks();
    const { task_id: id } = await create();
    const none = new FormData();
    none.append("relative_path", "a");
    const two = new FormData();
    two.append("file", new Blob(["a"]), "a.txt");
    two.append("file", new Blob(["b"]), "b.txt");
    const other = new FormData();
    other.append("upload", new Blob(["a"]), "a.txt");
    const path = `/tasks/${id}/artifacts`;
    for (const body of [none, two, other]) {
      expect((await ask(path, { method: "POST", body })).status).toBe(422);
    }
    expect((await ask(path, post({ file: "a" }))).status).toBe(415);
    const headers = { "content-type": "multipart/form-data" };
    expect((await ask(path, { method: "POST", headers, body: "x" })).status).toBe(415);
    const cut = { "content-type": "multipart/form-data; boundary=x" };
    const body = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc';
    expect((await ask(path, { method: "POST", headers: cut, body })).status).toBe(422);
  });

  it("refuses an upload beyond the limit with 413 and keeps nothing of it", async () => {
    const { ask, create } = await startTasks({ maxUploadBytes: 1_000 });
    const { task_id: id } = await create();
    const path = `/tasks/${id}/artifacts`;
    expect((await ask(path, upload("fits.bin", "x".repeat(1_000)))).status).toBe(200);
    expect((await ask(path, upload("a.bin", "x".repeat(1_001)))).status).toBe(413);
    const large = await ask(path, upload("b.bin", "x".repeat(200_000))).catch(() => undefined);
    // Node closes the connection of who goes on sending.
    expect([413, undefined]).toContain(large?.status);
    const { artifacts } = await bodyOf<Lists>(await ask(path));
    expect(artifacts.map(({ file_name: name }) => name)).toEqual(["fits.bin"]);
  });

  it("refuses a JSON body beyond a mebibyte with 413", async () => {
    const { ask } = await startTasks();
    expect((await ask("/tasks", post({ input: "x".repeat(1_100_000) }))).status).toBe(413);
  });

  it("refuses other methods with 405 and says which there are", async () => {
    const { ask } = await startTasks();
    const response = await ask("/tasks", { method: "PUT" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, POST, HEAD");
    expect(await response.json()).toEqual({
      message: "GET, POST, HEAD is expected",
      code: "method",
      retryable: false,
    });
  });
});
