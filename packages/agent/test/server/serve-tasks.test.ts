import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { serveTasks } from "../../src/server/serve-tasks.ts";
import type { Step, Task } from "../../src/server/wire.ts";
import { projectScript } from "../project-script.ts";
import { bodyOf, fetchOnce, notes, post, serveWith, startTasks, upload } from "./task-world.ts";

const token = "a-token-of-some-length";
const authorized = { authorization: `Bearer ${token}` };

function statusWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent: false }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    sent.on("error", reject);
    sent.end();
  });
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tasks-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("where it listens", () => {
  it("listens on port 8000 of the loopback by default", async () => {
    const started = await startTasks({ port: undefined }).catch((error: unknown) => error);
    // Somebody else may have the port; then it is that one that could not be had.
    if (started instanceof Error) expect(started).toMatchObject({ port: 8_000 });
    else expect(started).toMatchObject({ url: "http://127.0.0.1:8000" });
  });
});

describe("who may ask", () => {
  it.each(["0.0.0.0", "::", "192.0.2.1", "example.com"])(
    "refuses to listen on %s without a token",
    async (hostname) => {
      const starting = serveTasks({ hostname, port: 0, store: "sqlite::memory:" });
      await expect(starting).rejects.toMatchObject({ code: "ERR_AGENT_OPTION" });
    },
  );

  it.each(["short", "with a blank in the middle", `${token}\n`, "ü".repeat(20)])(
    "refuses the token %j and does not show it",
    async (wrong) => {
      const error: unknown = await serveTasks({
        token: wrong,
        port: 0,
        store: "sqlite::memory:",
      }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "ERR_AGENT_OPTION" });
      expect(String(error)).not.toContain(wrong.trim());
    },
  );

  it("listens on all addresses with a token, and asks for it", async () => {
    const { server } = await startTasks({ hostname: "0.0.0.0", token });
    const url = `http://127.0.0.1:${server.port}`;
    expect((await fetchOnce(`${url}/agent/tasks`)).status).toBe(401);
    expect((await fetchOnce(`${url}/agent/tasks`, { headers: authorized })).status).toBe(200);
  });

  it.each([
    ["nothing", {}],
    ["another token", { authorization: `Bearer ${token}x` }],
    ["a part of the token", { authorization: `Bearer ${token.slice(0, -1)}` }],
    ["another scheme", { authorization: `Basic ${token}` }],
    ["an empty token", { authorization: "Bearer " }],
  ])("answers %s with 401 for every operation, and changes nothing", async (_, headers) => {
    const { url } = await startTasks({ token });
    const init = { headers: headers as Record<string, string> };
    for (const path of ["/agent/tasks", "/ap/v1/agent/tasks", "/agent/tasks/x/events"]) {
      const response = await fetchOnce(`${url}${path}`, init);
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toMatch(/^Bearer /);
    }
    const created = await fetchOnce(`${url}/agent/tasks`, post({ input: "x" }, init.headers));
    expect(created.status).toBe(401);
    const list = await fetchOnce(`${url}/agent/tasks`, { headers: authorized });
    expect(await list.json()).toMatchObject({ tasks: [] });
  });

  it("shows what is nobody's without a token: the page, the OpenAPI document, its health", async () => {
    const { url } = await startTasks({ token });
    for (const path of ["/", "/assets/page.js", "/openapi.json", "/healthz"]) {
      expect([path, (await fetchOnce(`${url}${path}`)).status]).toEqual([path, 200]);
    }
  });

  it.each(["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "[::2]"])(
    "does not answer for the host %s, whom a DNS answer may have sent here",
    async (host) => {
      const { url } = await startTasks();
      expect(await statusWith(`${url}/agent/tasks`, { host })).toBe(421);
      expect(await statusWith(`${url}/`, { host })).toBe(421);
    },
  );

  it("answers for the hosts that it is told", async () => {
    const { url } = await startTasks({ hosts: ["tasks.example"] });
    expect(await statusWith(`${url}/agent/tasks`, { host: "tasks.example" })).toBe(200);
    expect(await statusWith(`${url}/agent/tasks`, { host: "localhost" })).toBe(200);
  });

  it.each(["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])(
    "refuses a page of %s",
    async (origin) => {
      const { url, model } = await startTasks();
      const init = { ...post({ input: "x" }, { origin }) };
      const response = await fetchOnce(`${url}/agent/tasks`, init);
      expect(response.status).toBe(403);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      expect(model.requests).toEqual([]);
    },
  );

  it("takes its own page", async () => {
    const { url, ask } = await startTasks();
    expect((await ask("/tasks", post({ input: "x" }, { origin: url }))).status).toBe(200);
  });
});

describe("events", () => {
  it("tell everything that happened to a task, each with a number", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    await world.finish(id);
    const response = await world.ask(`/tasks/${id}/events`);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const text = await response.text();
    const types = Array.from(text.matchAll(/^event: (.*)$/gm), ([, type]) => type);
    expect(types).toEqual([
      "task",
      ...Array.from({ length: 4 }, () => ["step.started", "step.completed"]).flat(),
      "task.completed",
    ]);
    const numbers = Array.from(text.matchAll(/^id: (.*)$/gm), ([, number]) => Number(number));
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("go on behind the last one that a client has", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    await world.finish(id);
    const headers = { "last-event-id": "7" };
    const text = await (await world.ask(`/tasks/${id}/events`, { headers })).text();
    expect(Array.from(text.matchAll(/^id: (.*)$/gm), ([, number]) => number)).toEqual(["8", "9"]);
    const wrong = await world.ask(`/tasks/${id}/events`, { headers: { "last-event-id": "x" } });
    expect(wrong.status).toBe(422);
  });

  it("show the text of a running step while it is written", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    const response = await world.ask(`/tasks/${id}/events`);
    const reading = (async () => {
      let text = "";
      for await (const chunk of response.body ?? []) {
        text += new TextDecoder().decode(chunk);
        if (text.includes("step.completed")) break;
      }
      return text;
    })();
    await world.step(id);
    const text = await reading;
    const shown = Array.from(text.matchAll(/^event: text\ndata: (.*)$/gm), ([, data = ""]) => {
      const { text: said } = JSON.parse(data) as { readonly text: string };
      return said;
    });
    expect(shown.join("")).toContain("Shared dependencies");
  });

  it("end with the deletion of the task", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    const response = await world.ask(`/tasks/${id}/events`);
    await world.ask(`/tasks/${id}`, { method: "DELETE" });
    expect(await response.text()).toContain("event: task.deleted");
  });
});

describe("an archive", () => {
  it("has every file, as tar reads it, also with long and foreign names", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    await world.finish(id);
    const long = `${"folder-with-a-long-name/".repeat(8)}deep`;
    const large = "x".repeat(1_500_000);
    await bodyOf(await world.ask(`/tasks/${id}/artifacts`, upload("größe.txt", large, long)));
    await bodyOf(await world.ask(`/tasks/${id}/artifacts`, upload("empty.txt", "")));
    const response = await world.ask(`/tasks/${id}/archive`);
    expect(response.headers.get("content-type")).toBe("application/x-tar");
    const folder = makeFolder();
    writeFileSync(join(folder, "a.tar"), new Uint8Array(await response.arrayBuffer()));
    execFileSync("tar", ["-xf", "a.tar"], { cwd: folder });
    expect(readFileSync(join(folder, "src/main.js"), "utf8")).toBe(notes.get("src/main.js"));
    expect(readFileSync(join(folder, "empty.txt"), "utf8")).toBe("");
    expect(readFileSync(join(folder, long, "größe.txt"), "utf8")).toBe(large);
    expect(readdirSync(folder).toSorted()).toEqual([
      "a.tar",
      "empty.txt",
      "folder-with-a-long-name",
      "shared_deps.md",
      "src",
    ]);
  });

  it("of a task without files is empty", async () => {
    const world = await startTasks();
    const { task_id: id } = await world.create();
    const bytes = await (await world.ask(`/tasks/${id}/archive`)).arrayBuffer();
    expect(new Uint8Array(bytes)).toEqual(new Uint8Array(1_024));
  });
});

describe("a stop and a start", () => {
  it("keep every task, step and file in a SQLite file", async () => {
    const store = `sqlite:${makeFolder()}/tasks.db`;
    const first = await startTasks({ store });
    const { task_id: id } = await first.create();
    await first.step(id);
    const before = await bodyOf<Task>(await first.ask(`/tasks/${id}`));
    await first.server.close();
    const second = await serveWith(first.model, { store });
    expect(await bodyOf<Task>(await second.ask(`/tasks/${id}`))).toEqual(before);
    await second.finish(id);
    expect(first.model.requests).toHaveLength(4);
  });

  it("put a running step back when the server is closed, and tell its client so", async () => {
    const store = `sqlite:${makeFolder()}/tasks.db`;
    const silent = {
      match: ["# Plan\n"],
      tool: null,
      times: 1,
      fault: { kind: "silence" },
    } as const;
    const first = await startTasks({ store }, projectScript(notes, { first: [silent] }));
    const { task_id: id } = await first.create();
    const running = first.ask(`/tasks/${id}/steps`, post());
    await first.asked(1);
    await first.server.close();
    expect((await running).status).toBe(503);
    const second = await serveWith(first.model, { store });
    const { steps } = await bodyOf<{ readonly steps: readonly Step[] }>(
      await second.ask(`/tasks/${id}/steps`),
    );
    expect(steps[0]).toMatchObject({
      status: "created",
      additional_output: { state: "interrupted" },
    });
    expect((await second.step(id)).status).toBe("completed");
  });
});
