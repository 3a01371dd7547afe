import { serve } from "@fetchwork/http/serve";
import { onTestFinished } from "vitest";
import {
  testService,
  type TestService,
  type TestServiceOptions,
} from "../src/testing/test-service.ts";
import { app } from "./notes-service.ts";

/** How tests reach the API: by calling it, or over a socket; both with `npm run test:all`. */
export const transports: readonly Transport[] =
  process.env["FETCHWORK_TESTS"] === "all" ? ["memory", "socket"] : ["socket"];
export type Transport = "memory" | "socket";

/** What a test sends. */
export interface Sending {
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
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

/** The API of `notes-service.ts` with nothing in it, for one test. */
export interface TestApi {
  readonly service: TestService;
  /** Where it is, over a socket. */
  readonly origin: string;
  send(method: string, path: string, sending?: Sending): Promise<Answer>;
  /** Creates a user and signs it in. */
  join(email: string, role?: "user" | "admin"): Promise<{ id: string; token: string }>;
}

/** Opens the API, which is closed when the test ends. */
export async function openApi(
  transport: Transport = "memory",
  settings: TestServiceOptions["settings"] = {},
): Promise<TestApi> {
  const service = await testService(app, { settings });
  const access_token = service.masterKey;
  let origin = "http://localhost";
  let fetchFrom = service.fetch;
  if (transport === "socket") {
    const options = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 };
    const server = await serve(service.handler, options);
    onTestFinished(() => server.close({ gracePeriod: 0 }));
    origin = `http://127.0.0.1:${server.port}`;
    fetchFrom = (path, init) => fetch(new URL(path, origin), init);
  }
  async function send(method: string, path: string, sending: Sending = {}): Promise<Answer> {
    const { form, json, token, basic } = sending;
    const headers = new Headers(sending.headers);
    if (json !== undefined) headers.set("content-type", "application/json");
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    if (basic) headers.set("authorization", `Basic ${btoa(basic.join(":"))}`);
    const text = json === undefined ? null : JSON.stringify(json);
    const body = form ? new URLSearchParams(form) : text;
    const response = await fetchFrom(path, { method, headers, body });
    const answer = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      json: answer === "" ? undefined : JSON.parse(answer),
    };
  }
  return {
    service,
    origin,
    send,
    async join(email, role = "user") {
      const password = "123456";
      const form = { email, password, role, access_token };
      const created = await send("POST", "/users", { form });
      const basic = [email, password] as const;
      const session = await send("POST", "/auth", { basic, form: { access_token } });
      return { id: created.json.id, token: session.json.token };
    },
  };
}
