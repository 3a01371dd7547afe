import { request } from "node:http";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { taskCollections } from "../../src/server/task-records.ts";
import { createTaskHandler } from "../../src/server/task-handler.ts";
import { defineAgent } from "../../src/server/task-agent.ts";
import { openStore } from "@fetchwork/documents";
import type { Artifact, Task } from "../../src/server/wire.ts";
import { bodyOf, post, startTasks, upload, type TaskWorld } from "./task-world.ts";

const form = "application/x-www-form-urlencoded";
const json = '{"input":"a game"}';
const echo = defineAgent({
  onTask: () => [{ name: "echo", last: true }],
  onStep: async ({ task }) => ({ output: task.input }),
});

/** Sends headers that `fetch` keeps for itself. */
function send(
  { url }: TaskWorld,
  headers: Readonly<Record<string, string>>,
  { path = "/agent/tasks", method = "POST", body = json } = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    // A server that stops waits a moment for the next request of a connection that is kept.
    const sent = request(`${url}${path}`, { method, headers, agent: false }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    sent.on("error", reject);
    sent.end(method === "GET" ? undefined : body);
  });
}

async function count({ ask }: TaskWorld): Promise<number> {
  const list = await bodyOf<{ readonly tasks: readonly Task[] }>(await ask("/tasks"));
  return list.tasks.length;
}

describe("JSON of another type", () => {
  it.each([
    ["curl -d", { "content-type": form, "user-agent": "curl/8.5.0" }],
    ["a program without a type", {}],
    ["text", { "content-type": "text/plain" }],
    [
      "the server's own page",
      {
        "content-type": "text/plain",
        "sec-fetch-site": "same-origin",
        "user-agent": "Mozilla/5.0",
      },
    ],
    ["a type that is none", { "content-type": ";;" }],
    [
      "a browser that says JSON",
      { "content-type": "application/json", "user-agent": "Mozilla/5.0" },
    ],
  ] as const)("is taken from %s", async (_, headers) => {
    const world = await startTasks({ agent: echo });
    expect(await send(world, headers)).toBe(200);
    expect(await count(world)).toBe(1);
  });

  it.each([form, "text/plain", "multipart/form-data; boundary=x", "application/json", ""])(
    "as %j is never taken from a page of another origin, whatever its browser says",
    async (type) => {
      const world = await startTasks({ agent: echo });
      const foreign = [
        { origin: "http://evil.example" },
        { origin: "null" },
        { origin: "http://localhost:3000", "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        // Nothing that a browser should send, and nothing to rely on.
        { origin: world.url, "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "" },
      ];
      for (const headers of foreign) {
        const typed = type === "" ? headers : { ...headers, "content-type": type };
        expect([headers, await send(world, typed)]).toEqual([headers, 403]);
      }
      expect(await count(world)).toBe(0);
    },
  );

  it.each([
    form,
    "text/plain",
    "text/plain; x=application/json",
    "multipart/form-data; boundary=x",
    "",
  ])("as %j is not taken from a browser that does not say which page asks", async (type) => {
    const world = await startTasks({ agent: echo });
    const old = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:60.0) Gecko/20100101" };
    const headers = type === "" ? old : { ...old, "content-type": type };
    expect(await send(world, headers)).toBe(415);
    expect(await count(world)).toBe(0);
  });

  it("that is empty is not taken from such a browser when it is a form's", async () => {
    const world = await startTasks({ agent: echo });
    const headers = { "user-agent": "Mozilla/5.0", "content-type": form };
    const { task_id: id } = await world.create();
    const path = `/agent/tasks/${id}/steps`;
    expect(await send(world, headers, { path, body: "" })).toBe(415);
    const steps = await bodyOf<{ readonly steps: readonly { readonly status: string }[] }>(
      await world.ask(`/tasks/${id}/steps`),
    );
    expect(steps.steps.map(({ status }) => status)).toEqual(["created"]);
  });

  it("does not keep anybody from following a link to the page or to a file", async () => {
    const world = await startTasks({ agent: echo });
    const headers = { "sec-fetch-site": "cross-site", "user-agent": "Mozilla/5.0" };
    for (const path of ["/", "/agent/tasks"]) {
      expect(await send(world, headers, { path, method: "GET" })).toBe(200);
    }
  });
});

describe("bytes", () => {
  it("that are no UTF-8 inside of a text are refused with 422", async () => {
    const world = await startTasks({ agent: echo });
    const body = Buffer.from('{"input":"a\xffb"}', "latin1");
    expect((await world.ask("/tasks", { method: "POST", body })).status).toBe(422);
  });

  it("of uploads leave nothing in the temporary folder, stored or refused", async () => {
    const folder = mkdtempSync(join(tmpdir(), "uploads-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const world = await startTasks({ agent: echo, maxUploadBytes: 1_000 });
    const { task_id: id } = await world.create();
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const sent = [
      upload("a.txt", "x"),
      upload("a.txt", "x".repeat(1_001)),
      upload("a.txt", "x", "../.."),
      upload("A.txt", "x"),
    ];
    const statuses: number[] = [];
    for (const init of sent) {
      statuses.push((await world.ask(`/tasks/${id}/artifacts`, init)).status);
    }
    expect(statuses).toEqual([200, 413, 422, 422]);
    await expect.poll(() => readdirSync(folder)).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "of an upload whose client leaves are removed, and their file is closed",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "uploads-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const world = await startTasks({ agent: echo });
      const { task_id: id } = await world.create();
      vi.stubEnv("TMPDIR", folder);
      onTestFinished(() => void vi.unstubAllEnvs());
      const openFiles = (): readonly string[] =>
        readdirSync("/proc/self/fd").flatMap((fd) => {
          const path = statSync(`/proc/self/fd/${fd}`, { throwIfNoEntry: false })
            ? readlinkSync(`/proc/self/fd/${fd}`)
            : "";
          return path.startsWith(folder) ? [path] : [];
        });
      const headers = { "content-type": "multipart/form-data; boundary=b" };
      const sent = request(`${world.url}/agent/tasks/${id}/artifacts`, {
        method: "POST",
        headers,
        agent: false,
      });
      sent.on("error", () => {});
      sent.write(
        '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf',
      );
      await vi.waitFor(() => expect(openFiles()).toHaveLength(1));
      sent.destroy();
      await vi.waitFor(() => expect([openFiles(), readdirSync(folder)]).toEqual([[], []]));
    },
  );
});

describe("a body that says it is too long", () => {
  const declared = (
    { url }: TaskWorld,
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<readonly [number | undefined, unknown]> =>
    new Promise((resolve, reject) => {
      const sent = request(
        `${url}${path}`,
        { method: "POST", headers, agent: false },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            resolve([response.statusCode, JSON.parse(Buffer.concat(chunks).toString())]);
            sent.destroy();
          });
        },
      );
      sent.on("error", reject);
      // Nothing of the body is ever sent.
      sent.flushHeaders();
    });

  it.each([
    ["a task", "/agent/tasks", "application/json", "more than 1048576 bytes were sent"],
    ["an upload", "artifacts", "multipart/form-data; boundary=x", "a file has at most 10 bytes"],
  ])("is refused before it comes, as the agent says it: %s", async (_, path, type, message) => {
    const world = await startTasks({ agent: echo, maxUploadBytes: 10 });
    const { task_id: id } = await world.create();
    const place = path === "artifacts" ? `/agent/tasks/${id}/artifacts` : path;
    const headers = { "content-type": type, "content-length": "10000000000" };
    expect(await declared(world, place, headers)).toEqual([
      413,
      { message, code: "too_large", retryable: false },
    ]);
  });

  it("is refused for its token first", async () => {
    const world = await startTasks({ agent: echo, token: "a-token-of-24-characters" });
    const headers = { "content-length": "10000000000" };
    const [status] = await declared(world, "/agent/tasks", headers);
    expect(status).toBe(401);
  });
});

describe("many uploads", () => {
  it("stop with 413 when a task has as many bytes as it may have, replaced files included", async () => {
    const world = await startTasks({ agent: echo, maxTaskBytes: 1_000 });
    const { task_id: id } = await world.create();
    const send = async (name: string, text: string): Promise<number> =>
      (await world.ask(`/tasks/${id}/artifacts`, upload(name, text))).status;
    expect(await send("a.txt", "a".repeat(600))).toBe(200);
    expect(await send("a.txt", "b".repeat(401))).toBe(413);
    expect(await send("a.txt", "b".repeat(400))).toBe(200);
    expect(await send("b.txt", "b")).toBe(413);
    const { task_id: other } = await world.create();
    expect((await world.ask(`/tasks/${other}/artifacts`, upload("b.txt", "b"))).status).toBe(200);
  });
});

describe("a body that breaks off", () => {
  it("is its sender's failure, and none that the server reports", async () => {
    const store = await openStore("sqlite::memory:");
    const reportError = vi.fn();
    await using handler = await createTaskHandler({ store, agent: echo, reportError });
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
      pull: (controller) => controller.error(new Error("aborted")),
    });
    const init = { method: "POST", body, duplex: "half" } as const;
    const asked = new Request("http://localhost/agent/tasks", init);
    const context = { signal: asked.signal, waitUntil: () => undefined };
    type Answer = Parameters<typeof handler.handler>[1];
    const { status } = await handler.handler(asked, context as unknown as Answer);
    expect(status).toBe(422);
    expect(reportError).not.toHaveBeenCalled();
  });
});

describe("additional input", () => {
  it.each([101, 5_000, 400_000])("of %i levels is refused with 422", async (levels) => {
    const world = await startTasks({ agent: echo });
    const nested = `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const body = `{"input":"x","additional_input":{"a":${nested}}}`;
    expect(await send(world, {}, { body })).toBe(422);
    const { task_id: id } = await world.create();
    expect(await send(world, {}, { body, path: `/agent/tasks/${id}/steps` })).toBe(422);
    expect(world.reported).toEqual([]);
  });

  it("of 90 levels is given back as it came", async () => {
    const world = await startTasks({ agent: echo });
    const said = { a: JSON.parse(`${"[".repeat(90)}${"]".repeat(90)}`) as unknown };
    expect((await world.create("x", said)).additional_input).toEqual(said);
  });

  it.each([{ a: "\0" }, { a: ["\ud800"] }, { "\0": 1 }, { a: { "\udc00": 1 } }])(
    "with what no store keeps is refused with 422: %j",
    async (said) => {
      const world = await startTasks({ agent: echo });
      const init = post({ input: "x", additional_input: said });
      expect((await world.ask("/tasks", init)).status).toBe(422);
    },
  );

  it.each(["1e400", "[-1e400]"])(
    "with the endless number %s is refused with 422",
    async (number) => {
      const world = await startTasks({ agent: echo });
      const body = `{"input":"x","additional_input":{"a":${number}}}`;
      expect(await send(world, {}, { body })).toBe(422);
      const { task_id: id } = await world.create();
      expect(await send(world, {}, { body, path: `/agent/tasks/${id}/steps` })).toBe(422);
      expect(world.reported).toEqual([]);
    },
  );

  it("may speak of U+0000 in letters", async () => {
    const world = await startTasks({ agent: echo });
    const text = String.raw`split at \u0000, and at \ud800`;
    const task = await world.create(text, { note: text });
    expect(task).toMatchObject({ input: text, additional_input: { note: text } });
  });
});

describe("addresses and methods", () => {
  it("answers by the address of the loopback that it listens on", async () => {
    const { url } = await startTasks({ agent: echo, hostname: "127.0.0.2" });
    expect((await fetch(`${url}/agent/tasks`)).status).toBe(200);
  });

  it.each(["toString", "constructor", "__proto__"])("knows no method %s", async (method) => {
    const store = await openStore("sqlite::memory:");
    await using handler = await createTaskHandler({ store, agent: echo });
    const asked = new Request("http://localhost/agent/tasks", { method });
    const context = { signal: asked.signal, waitUntil: () => undefined };
    type Answer = Parameters<typeof handler.handler>[1];
    const response = await handler.handler(asked, context as unknown as Answer);
    expect(response.status).toBe(405);
  });
});

describe("events of a client that is elsewhere", () => {
  it("are told from now on when it names one that there is not yet", async () => {
    const world = await startTasks({ agent: echo });
    const { task_id: id } = await world.create();
    const headers = { "last-event-id": "999" };
    const events = await world.ask(`/tasks/${id}/events`, { headers });
    const reading = events.text();
    await world.step(id);
    const numbers = Array.from((await reading).matchAll(/^id: (.*)$/gm), ([, number]) => number);
    expect(numbers).toEqual(["1", "2", "3"]);
  });

  it("are 204 when it has all and the task has ended, so that it does not ask again", async () => {
    const world = await startTasks({ agent: echo });
    const { task_id: id } = await world.create();
    await world.step(id);
    const asked = (last: string): Promise<Response> =>
      world.ask(`/tasks/${id}/events`, { headers: { "last-event-id": last } });
    expect((await asked("2")).status).toBe(200);
    expect((await asked("3")).status).toBe(204);
    expect((await world.ask(`/tasks/${id}/events`)).status).toBe(200);
  });
});

describe("versions of a file", () => {
  it("that are forgotten leave nothing in the store, unless another file has the same content", async () => {
    const store = await openStore("sqlite::memory:");
    const world = await startTasks({ agent: echo, store });
    const { task_id: id } = await world.create();
    const put = async (name: string, text: string): Promise<Artifact> =>
      bodyOf<Artifact>(await world.ask(`/tasks/${id}/artifacts`, upload(name, text)));
    const other = await put("other.txt", "content 0");
    for (let number = 0; number < 103; number += 1) await put("a.txt", `content ${number}`);
    const contents = store.collection(taskCollections.contents);
    // The last hundred, and the one of the other file.
    expect(await contents.count()).toBe(101);
    const kept = await world.ask(`/tasks/${id}/artifacts/${other.artifact_id}`);
    expect(await kept.text()).toBe("content 0");
    const same = await put("a.txt", "content 102");
    const oldest = await world.ask(`/tasks/${id}/artifacts/${same.artifact_id}?version=1`);
    expect(await oldest.text()).toBe("content 3");
  });
});

describe("files that cannot stand next to each other", () => {
  it.each([
    ["a", "A", "it differs from a only in case"],
    ["ﬁle.txt", "file.txt", "it differs from ﬁle.txt only in case"],
    ["docs", "docs/a.txt", "docs is a file"],
    ["docs/deep/a.txt", "Docs", "it is the folder of docs/deep/a.txt"],
    ["a/b", "A/B/c/d.txt", "a/b is a file"],
  ])("are refused with 422: %s, then %s", async (first, second, reason) => {
    const world = await startTasks({ agent: echo });
    const { task_id: id } = await world.create();
    const put = (path: string): Promise<Response> => {
      const slash = path.lastIndexOf("/");
      const folder = slash === -1 ? undefined : path.slice(0, slash);
      return world.ask(`/tasks/${id}/artifacts`, upload(path.slice(slash + 1), "x", folder));
    };
    expect((await put(first)).status).toBe(200);
    const refused = await put(second);
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({
      message: expect.stringContaining(reason) as string,
    });
    expect((await put(first)).status).toBe(200);
    expect((await put(`${first}-other`)).status).toBe(200);
    const { artifacts } = await bodyOf<Task>(await world.ask(`/tasks/${id}`));
    expect(artifacts).toHaveLength(2);
  });

  it("fail the step that writes them", async () => {
    const agent = defineAgent({
      onTask: () => [{ name: "writes" }],
      onStep: async () => ({ files: [{ path: "A.txt/b.txt", content: "x" }] }),
    });
    const world = await startTasks({ agent });
    const { task_id: id } = await world.create();
    await bodyOf(await world.ask(`/tasks/${id}/artifacts`, upload("a.txt", "x")));
    const response = await world.ask(`/tasks/${id}/steps`, post());
    expect(await response.json()).toMatchObject({ code: "ERR_AGENT_UNSAFE_PATH" });
  });
});
