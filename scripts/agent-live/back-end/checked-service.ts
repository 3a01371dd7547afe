import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TestService } from "@fetchwork/service/test";

/** An object of any fields. */
type Fields = Readonly<Record<string, unknown>>;

/** A response that was read. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; `undefined` where it is none. */
  readonly json: unknown;
}

/** What is sent to a path. */
export interface Sent {
  /** Token of the caller. Default: none. */
  readonly as?: string | undefined;
  readonly json?: unknown;
  /** The body as it is. Default: `json`. */
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The service of a changed project, as a check asks it. */
export class CheckedService {
  readonly #service: TestService;
  readonly #folder: string;

  constructor(service: TestService, folder: string) {
    this.#service = service;
    this.#folder = folder;
  }

  get store(): TestService["store"] {
    return this.#service.store;
  }

  /** Runs a job that a module of the project exports. */
  runJob(job: Parameters<TestService["runJob"]>[0]): Promise<unknown> {
    return this.#service.runJob(job);
  }

  /** Absolute path of a file of the project. */
  path(path: string): string {
    return join(this.#folder, path);
  }

  /** Imports a module of the project. */
  async load(path: string): Promise<Fields> {
    assert.ok(existsSync(this.path(path)), `there is no ${path}`);
    return (await import(pathToFileURL(this.path(path)).href)) as Fields;
  }

  /** Sends a request such as `POST /notes`. */
  async send(request: string, { as, json, body, headers = {} }: Sent = {}): Promise<Reply> {
    const [method = "", path = ""] = request.split(" ");
    const response = await this.#service.fetch(path, {
      method,
      redirect: "manual",
      headers: {
        ...(as !== undefined && { authorization: `Bearer ${as}` }),
        ...(json !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parsed(text) };
  }

  /** Sends the same number of requests at once, and returns their statuses in order. */
  async statuses(count: number, send: (index: number) => Promise<Reply>): Promise<number[]> {
    const replies = await Promise.all(Array.from({ length: count }, (_, index) => send(index)));
    return replies.map(({ status }) => status).toSorted((one, other) => one - other);
  }

  /** Makes another user, and returns a token of it. */
  async user(role: "user" | "admin" = "user"): Promise<string> {
    const email = `${role}-${randomUUID()}@example.com`;
    const password = "check-password";
    const master = { access_token: this.#service.masterKey };
    await this.created("POST /users", { json: { email, password, role, ...master } });
    const authorization = `Basic ${btoa(`${email}:${password}`)}`;
    const session = await this.created("POST /auth", { json: master, headers: { authorization } });
    return String(session["token"]);
  }

  /** Sends a request that is to succeed, and returns its JSON, an array of objects. */
  async list(request: string, sent: Sent = {}): Promise<readonly Fields[]> {
    const { status, text, json } = await this.send(request, sent);
    assert.equal(status, 200, `${request} is ${status}: ${text}`);
    assert.ok(Array.isArray(json), `${request} is not an array: ${text}`);
    return json.map((one) => Object(one) as Fields);
  }

  /** Sends a request that is to succeed, and returns its JSON, an object. */
  async created(request: string, sent: Sent = {}): Promise<Fields> {
    const { status, text, json } = await this.send(request, sent);
    assert.ok(status >= 200 && status <= 299, `${request} is ${status}: ${text}`);
    return Object(json) as Fields;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
