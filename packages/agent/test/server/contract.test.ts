import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { openStore } from "@fetchwork/documents";
import { largestPage } from "../../src/server/paging.ts";
import { TaskApi, type TaskApiParts } from "../../src/server/task-api.ts";
import { projectScript } from "../project-script.ts";
import {
  bodyOf,
  notes,
  post,
  serveWith,
  startTasks,
  upload,
  type TaskWorld,
} from "./task-world.ts";

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, ResponseObject | { readonly $ref: string }>>;
}

interface ResponseObject {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

const asset = new URL("../../assets/openapi.json", import.meta.url);
const described = JSON.parse(readFileSync(asset, "utf8")) as Described;
const ajv = new Ajv2020({ strict: false, allErrors: true });
(formats as unknown as (instance: unknown) => void)(ajv);
ajv.addSchema({ ...described, $id: "api" });

const operations = new Map(
  Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      method === "parameters"
        ? []
        : [[operation.operationId, { path, method: method.toUpperCase(), operation }] as const],
    ),
  ),
);

const seen = new Set<string>();

/**
 * Asks for an operation and checks the answer against the document: its status, its type, its body.
 */
async function ask(
  { url }: TaskWorld,
  id: string,
  options: {
    readonly ids?: Readonly<Record<string, string>>;
    readonly query?: string;
    readonly init?: RequestInit;
    readonly prefix?: string;
  } = {},
): Promise<Response> {
  const found = operations.get(id);
  if (found === undefined) throw new Error(`there is no operation ${id}`);
  const { ids = {}, query = "", init, prefix = "" } = options;
  const path = found.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "unknown");
  const target = `${url}${prefix}${path}${query}`;
  const response = await fetch(target, { method: found.method, ...init });
  const status = String(response.status);
  const named = found.operation.responses[status];
  expect(named, `${id} answers ${status}`).toBeDefined();
  seen.add(`${id} ${status}`);
  const object =
    named !== undefined && "$ref" in named
      ? described.components.responses[named.$ref.split("/").at(-1) ?? ""]
      : (named as ResponseObject);
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const content = object?.content;
  if (content === undefined) {
    expect(await response.clone().text()).toBe("");
    return response;
  }
  expect(Object.keys(content)).toContain(type);
  if (type.endsWith("json")) {
    const text = JSON.stringify(content[type]?.schema).replaceAll('"#/', '"api#/');
    const validate = ajv.compile(JSON.parse(text) as object);
    validate(await response.clone().json());
    expect(validate.errors ?? []).toEqual([]);
  }
  return response;
}

describe.each(["", "/ap/v1"])("the OpenAPI document, below %j", (prefix) => {
  let world: TaskWorld;
  let ids: Readonly<Record<string, string>>;

  async function start(): Promise<void> {
    world = await startTasks();
    const task = await world.create();
    const [step] = await world.finish(task.task_id);
    ids = {
      task_id: task.task_id,
      step_id: step?.step_id ?? "",
      artifact_id: step?.artifacts[0]?.artifact_id ?? "",
    };
  }

  it("describes what every operation answers to those that are right", async () => {
    await start();
    const uploaded = upload("a.txt", "x", "docs");
    const right = { createAgentTask: post({ input: "x" }), uploadAgentTaskArtifacts: uploaded };
    for (const id of operations.keys()) {
      if (id === "deleteAgentTask") continue;
      const init = id in right ? right[id as keyof typeof right] : undefined;
      const response = await ask(world, id, { ids, prefix, ...(init && { init }) });
      expect([id, response.status]).toEqual([id, 200]);
      await response.body?.cancel();
    }
    expect((await ask(world, "deleteAgentTask", { ids, prefix })).status).toBe(204);
  });

  it("describes what every operation on a task answers when there is none", async () => {
    await start();
    for (const [id, { path }] of operations) {
      if (!path.includes("{task_id}")) continue;
      const init = id === "uploadAgentTaskArtifacts" ? upload("a", "b") : undefined;
      const response = await ask(world, id, { prefix, ...(init && { init }) });
      expect([id, response.status]).toEqual([id, 404]);
    }
    for (const part of ["step_id", "artifact_id"]) {
      const id = part === "step_id" ? "getAgentTaskStep" : "downloadAgentTaskArtifact";
      const other = { ...ids, [part]: ids["task_id"] ?? "" };
      expect((await ask(world, id, { ids: other, prefix })).status).toBe(404);
    }
  });

  it("describes what every list answers to wrong and to far pages", async () => {
    await start();
    for (const id of ["listAgentTasks", "listAgentTaskSteps", "listAgentTaskArtifacts"]) {
      for (const query of ["?page_size=0", "?current_page=x", "?page_size=99999999999"]) {
        expect((await ask(world, id, { ids, prefix, query })).status).toBe(422);
      }
      for (const query of ["?page_size=1&current_page=2", "?current_page=2147483647"]) {
        expect((await ask(world, id, { ids, prefix, query })).status).toBe(200);
      }
    }
  });

  it("describes what every operation with a body answers to malformed ones", async () => {
    await start();
    const bodies: readonly (readonly [RequestInit, number])[] = [
      [{ ...post({}), body: "{" }, 422],
      [{ ...post({}), body: "7" }, 422],
      [post({ input: 7 }), 422],
      [{ ...post({}), body: '"x"', headers: { "content-type": "text/plain" } }, 422],
      [
        { ...post({}), headers: { "content-type": "text/plain", "user-agent": "Mozilla/5.0" } },
        415,
      ],
      [post({ input: "x" }, { "idempotency-key": "with a blank" }), 400],
      [post({ input: "x".repeat(1_100_000) }), 413],
    ];
    for (const id of ["createAgentTask", "executeAgentTaskStep"]) {
      for (const [init, status] of bodies) {
        expect((await ask(world, id, { ids, prefix, init })).status).toBe(status);
      }
    }
  });

  it("describes what an upload is refused with", async () => {
    await start();
    const id = "uploadAgentTaskArtifacts";
    const small = await serveWith(world.model, { maxUploadBytes: 10 });
    const { task_id } = await small.create();
    const large = upload("a", "x".repeat(11));
    expect((await ask(small, id, { ids: { task_id }, prefix, init: large })).status).toBe(413);
    const larger = upload("a", "x".repeat(70_000));
    const refused = await ask(small, id, { ids: { task_id }, prefix, init: larger });
    expect(await refused.json()).toEqual({
      message: "a file has at most 10 bytes",
      code: "too_large",
      retryable: false,
    });
    expect((await ask(world, id, { ids, prefix, init: post({}) })).status).toBe(415);
    const escaping = upload("a", "x", "../..");
    expect((await ask(world, id, { ids, prefix, init: escaping })).status).toBe(422);
    const query = "?version=0";
    const old = await ask(world, "downloadAgentTaskArtifact", { ids, prefix, query });
    expect(old.status).toBe(422);
    const headers = { "last-event-id": "x" };
    const events = await ask(world, "watchAgentTask", { ids, prefix, init: { headers } });
    expect(events.status).toBe(422);
  });

  it("describes what every operation answers to those without the token and from other pages", async () => {
    await start();
    const closed = await serveWith(world.model, { token: "0123456789abcdef" });
    const headers = { origin: "http://evil.example" };
    for (const [id, { method }] of operations) {
      expect((await ask(closed, id, { prefix })).status).toBe(401);
      expect((await ask(world, id, { prefix, init: { method, headers } })).status).toBe(403);
    }
  });

  it("describes what every operation answers under a name that is not the server's", async () => {
    await start();
    const token = "0123456789abcdef";
    const all = await serveWith(world.model, { hostname: "0.0.0.0", token });
    const misled = { ...all, url: `http://127.0.0.2:${all.server.port}` };
    for (const id of operations.keys()) {
      expect((await ask(misled, id, { prefix })).status).toBe(421);
    }
  });

  it("describes what every operation answers when the store fails", async () => {
    const store = await openStore("sqlite::memory:");
    const broken = await startTasks({ store });
    const { task_id } = await broken.create();
    await store.close();
    const right = {
      createAgentTask: post({ input: "x" }),
      uploadAgentTaskArtifacts: upload("a", ""),
    };
    for (const [id, { method }] of operations) {
      const init = id in right ? right[id as keyof typeof right] : { method };
      expect((await ask(broken, id, { ids: { task_id }, prefix, init })).status).toBe(500);
    }
    expect(broken.reported.length).toBeGreaterThanOrEqual(operations.size);
  });

  it("describes what a key that is in use answers", async () => {
    await start();
    let statuses: readonly number[] = [];
    // On a busy machine they may come one after the other, so with another key again.
    for (let round = 0; round < 20 && !statuses.includes(409); round += 1) {
      const init = post({ input: "x" }, { "idempotency-key": `key-${round}` });
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => ask(world, "createAgentTask", { prefix, init })),
      );
      statuses = answers.map(({ status }) => status);
    }
    expect(new Set(statuses)).toEqual(new Set([200, 409]));
  });

  it("describes what a client gets that knows all events of a task that has ended", async () => {
    await start();
    const headers = { "last-event-id": "9" };
    const response = await ask(world, "watchAgentTask", { ids, prefix, init: { headers } });
    expect(response.status).toBe(204);
  });
});

describe("failed steps in the OpenAPI document", () => {
  it.each([
    [402, { budget: { maxTokens: 300 } }, undefined],
    [429, {}, { kind: "status", status: 429 }],
    [502, {}, { kind: "refusal" }],
    [504, { idleTimeout: 100 }, { kind: "silence" }],
  ] as const)("describes %i", async (status, options, fault) => {
    const first = fault === undefined ? [] : [{ match: ["# Plan\n"], tool: null, fault }];
    const retry = { attempts: 1 };
    const world = await startTasks({ retry, ...options }, projectScript(notes, { first }));
    const { task_id } = await world.create();
    const response = await ask(world, "executeAgentTaskStep", { ids: { task_id } });
    expect(response.status).toBe(status);
  });

  it("describes 503 for a server that stops", async () => {
    const silent = { match: ["# Plan\n"], tool: null, fault: { kind: "silence" } } as const;
    const world = await startTasks({}, projectScript(notes, { first: [silent] }));
    const { task_id } = await world.create();
    const running = ask(world, "executeAgentTaskStep", { ids: { task_id } });
    await world.asked(1);
    await world.server.close({ gracePeriod: 0 });
    expect((await running).status).toBe(503);
  });

  it("describes 409 for canceled tasks and 500 for failures of ours", async () => {
    const world = await startTasks({
      agent: {
        onTask: () => [{ name: "fails" }],
        onStep: () => Promise.reject(new Error("of ours")),
      },
    });
    const { task_id } = await world.create();
    const ids = { task_id };
    expect((await ask(world, "executeAgentTaskStep", { ids })).status).toBe(500);
    await ask(world, "cancelAgentTask", { ids });
    expect((await ask(world, "executeAgentTaskStep", { ids })).status).toBe(409);
    expect((await ask(world, "runAgentTask", { ids })).status).toBe(409);
  });
});

describe("every answer that is described", () => {
  it("was given above", () => {
    const all = [...operations].flatMap(([id, { operation }]) =>
      Object.keys(operation.responses).map((status) => `${id} ${status}`),
    );
    expect(all.filter((answer) => !seen.has(answer))).toEqual([]);
  });
});

describe("the document itself", () => {
  it("has the nine operations of the protocol and five of ours", () => {
    expect(operations.size).toBe(14);
  });

  it("has every route of the server", () => {
    const routes = [...new TaskApi({} as TaskApiParts).routes()].flatMap(([shape, methods]) =>
      Object.keys(methods).map((method) => `${method} ${shape}`),
    );
    const inDocument = [...operations.values()].map(({ method, path }) => {
      const [, part, one] = path
        .replace(/^\/agent\/tasks/, "")
        .split("/")
        .slice(1);
      const task = path.includes("{task_id}") && "task";
      const shape = [task, part, one !== undefined && "one"].filter(Boolean).join(" ");
      return `${method} ${shape}`;
    });
    expect(inDocument.toSorted()).toEqual(routes.toSorted());
  });

  it("is served as JSON", async () => {
    const { url } = await startTasks();
    expect(await bodyOf(await fetch(`${url}/openapi.json`))).toEqual(described);
  });

  it("says how long a page of a list may be", () => {
    const pagination = described.components.schemas["Pagination"];
    const page_size = { type: "integer", minimum: 1, maximum: largestPage };
    expect(pagination).toMatchObject({ properties: { page_size } });
  });

  it("has only schemas that are valid", () => {
    const { schemas } = described.components;
    for (const name of Object.keys(schemas)) {
      expect(() => ajv.compile({ $ref: `api#/components/schemas/${name}` })).not.toThrow();
    }
  });
});
