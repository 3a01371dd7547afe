import { openStore } from "@fetchwork/documents";
import { runHandler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import type { Resource } from "@fetchwork/rest";
import type { Sender } from "@fetchwork/webhooks/sender";
import { onTestFinished } from "vitest";
import { app } from "../src/app.ts";
import { type BlogSettings, masterKey, openBlog } from "./open-blog.ts";

export { jwtSecret, masterKey } from "./open-blog.ts";

/** How tests reach the API: by calling it, or over a socket; both with `npm run test:all`. */
export const transports: readonly Transport[] =
  process.env["FETCHWORK_TESTS"] === "all" ? ["memory", "socket"] : ["socket"];
export type Transport = "memory" | "socket";

/** What a test sends. */
export interface Sending {
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: BodyInit;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as Bearer header. */
  readonly token?: string | undefined;
  /** Email and password, sent as HTTP Basic. */
  readonly basic?: readonly [email: string, password: string];
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; `undefined` for an empty body. */
  readonly json: any; // oxlint-disable-line typescript/no-explicit-any -- tests look into it as it comes
}

/** An API with nothing in it, for one test. */
export interface TestApi {
  /** Where it is, over a socket. */
  readonly origin: string;
  readonly sender: Sender;
  send(method: string, path: string, sending?: Sending): Promise<Answer>;
  /** Stores documents with nothing but an identifier, for others to refer to. */
  insert(resource: Resource, ids: readonly string[]): Promise<void>;
  /** Creates a user and signs it in. */
  join(email: string, role?: "user" | "admin"): Promise<{ id: string; token: string }>;
}

/** A database that the tests may empty; without one, the store of each test is in memory. */
const databaseUrl = process.env["TEST_DATABASE_URL"];

/** Opens the API on an empty store, which is closed when the test ends. */
export async function openApi(
  transport: Transport = "memory",
  settings: BlogSettings = {},
): Promise<TestApi> {
  const store = await openStore(databaseUrl || "sqlite::memory:");
  if (databaseUrl) {
    for (const collection of app.collections) {
      await store.collection(collection).removeMany({ where: {} });
    }
  }
  const opened = openBlog(store, settings);
  const { handler } = opened;
  let fetchFrom = async (request: Request): Promise<Response> => runHandler(handler, request);
  let origin = "http://localhost";
  let stop = async (): Promise<void> => undefined;
  if (transport === "socket") {
    const server = await serve(handler, {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
    });
    origin = `http://127.0.0.1:${server.port}`;
    fetchFrom = fetch;
    stop = () => server.close({ gracePeriod: 0 });
  }
  onTestFinished(async () => {
    await stop();
    await opened.stop({ grace: 0 });
    await store.close();
  });

  async function send(method: string, path: string, sending: Sending = {}): Promise<Answer> {
    const { form, json, body, token, basic } = sending;
    const headers = new Headers(sending.headers);
    if (json !== undefined && !headers.has("content-type")) {
      headers.set("content-type", "application/json");
    }
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    if (basic)
      headers.set("authorization", `Basic ${Buffer.from(basic.join(":")).toString("base64")}`);
    const request = new Request(new URL(path, origin), {
      method,
      headers,
      body: form
        ? new URLSearchParams(form)
        : json === undefined
          ? (body ?? null)
          : JSON.stringify(json),
    });
    const response = await fetchFrom(request);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      json: text === "" ? undefined : JSON.parse(text),
    };
  }

  return {
    origin,
    sender: opened.sender,
    send,
    async insert({ collection }, ids) {
      for (const id of ids) await store.collection(collection).insert({}, { id });
    },
    async join(email, role = "user") {
      const password = "123456";
      const form = { email, password, role, access_token: masterKey };
      const created = await send("POST", "/users", { form });
      const session = await send("POST", "/auth", {
        basic: [email, password],
        form: { access_token: masterKey },
      });
      return { id: created.json.id, token: session.json.token };
    },
  };
}
