import { createContext, text, wrap, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  ABORT_HANDLER,
  AbortHandlerError,
  gzip,
  recoverer,
  type RecovererOptions,
} from "../../src/index.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const throwing =
  (error: unknown): Handler =>
  () => {
    throw error;
  };
const rejecting =
  (error: unknown): Handler =>
  async () => {
    throw error;
  };

async function ask(
  handler: Handler,
  init: { path?: string; signal?: AbortSignal } = {},
): Promise<{ response: Response; records: string[] }> {
  const records: string[] = [];
  const request = new Request(`http://localhost${init.path ?? "/failed?secret=1"}`);
  const context = createContext(request, { peer: "192.0.2.1", signal: init.signal });
  const response = await wrap(handler, recoverer({ log: (record) => records.push(record) }))(
    request,
    context,
  );
  return { response, records };
}

it.each([{ log: "stderr" }, { respond: 500 }])("recoverer refuses %s", (options) => {
  expect(() => recoverer(options as unknown as RecovererOptions)).toThrow(
    expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
  );
});

describe("A3: recoverer", () => {
  it.each([
    ["throws", throwing],
    ["rejects", rejecting],
  ])("responds with 500 and logs message and stack when the handler %s", async (_case, make) => {
    const { response, records } = await ask(make(new Error("oh my!")));
    expect(response.status).toBe(500);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toBe("Internal Server Error\n");
    expect(records).toHaveLength(2);
    expect(records[0]).toBe("request panic for /failed from 192.0.2.1, oh my!");
    expect(records[1]).toMatch(/^ {4}Error: oh my!\n {4}at .*recoverer\.test\.ts/);
  });

  it.each([
    ["text", "oh my!", "oh my!"],
    ["undefined", undefined, "undefined"],
    ["nothing that has a text", Object.create(null), "something without a text"],
  ])("logs one record for %s", async (_case, thrown, message) => {
    const { response, records } = await ask(throwing(thrown));
    expect([response.status, records]).toEqual([
      500,
      [`request panic for /failed from 192.0.2.1, ${message}`],
    ]);
  });

  it.each([
    ["ABORT_HANDLER", ABORT_HANDLER],
    ["an AbortHandlerError of one's own", new AbortHandlerError("enough")],
  ])("rethrows %s, and logs nothing", async (_case, sentinel) => {
    for (const make of [throwing, rejecting]) {
      const log = vi.fn();
      const handler = async (): Promise<Response> =>
        wrap(make(sentinel), recoverer({ log }))(new Request("http://localhost/"));
      await expect(handler()).rejects.toBe(sentinel);
      expect(log).not.toHaveBeenCalled();
    }
  });

  it("responds with 500 also outside of gzip, which has sent nothing", async () => {
    const request = new Request("http://localhost/", { headers: { "accept-encoding": "gzip" } });
    const handler = wrap(throwing(new Error("x")), recoverer({ log: () => undefined }), gzip());
    expect((await handler(request)).status).toBe(500);
  });

  it("passes on what did not fail, at once", () => {
    const request = new Request("http://localhost/");
    const response = text("x");
    expect(recoverer()(() => response)(request, createContext(request))).toBe(response);
  });
});

describe("recoverer", () => {
  it("rethrows an abort when the client has left, and no other one", async () => {
    const abort = new DOMException("gone", "AbortError");
    await expect(ask(rejecting(abort), { signal: AbortSignal.abort(abort) })).rejects.toBe(abort);
    expect((await ask(rejecting(abort))).response.status).toBe(500);
    // Node's own reason has another name.
    const gone = Object.assign(new Error("aborted"), { code: "ECONNRESET" });
    await expect(ask(rejecting(gone), { signal: AbortSignal.abort(gone) })).rejects.toBe(gone);
    expect((await ask(rejecting(gone), { signal: AbortSignal.abort(abort) })).response.status).toBe(
      500,
    );
    expect((await ask(rejecting(gone))).response.status).toBe(500);
  });

  it("does not let a client forge records", async () => {
    const { records } = await ask(throwing(new Error("a\nrequest panic for /x\r\n\u001b[2J")), {
      path: "/a%0ab",
    });
    expect(records[0]).toMatch(/^request panic for \/a%0ab from 192\.0\.2\.1, a request panic/);
    for (const record of records) expect(record).not.toContain("\u001b");
    for (const line of (records[1] ?? "").split("\n")) expect(line).toMatch(/^ {4}/);
  });

  it.each<[string, () => unknown, string]>([
    [
      "an error that is its own cause",
      () => {
        const error = new Error("round");
        error.cause = error;
        return error;
      },
      "round",
    ],
    ["a stack that is not text", () => Object.assign(new Error("odd"), { stack: 5 }), "odd"],
    [
      "a message that cannot be read",
      () =>
        Object.defineProperty(new Error("x"), "message", {
          get: () => {
            throw new Error("hidden");
          },
        }),
      "something without a text",
    ],
    [
      "an error that throws whatever it is asked",
      () =>
        new Proxy(new Error("x"), {
          get: () => {
            throw new Error("hidden");
          },
        }),
      "something without a text",
    ],
    ["an object without a text", () => Object.create(null) as unknown, "something without a text"],
  ])("responds with 500 to %s", async (_case, make, message) => {
    const { response, records } = await ask(throwing(make()));
    expect(response.status).toBe(500);
    expect(records[0]).toBe(`request panic for /failed from 192.0.2.1, ${message}`);
  });

  it("responds with the option respond, and survives a log that fails", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const options: RecovererOptions = {
      log: () => {
        throw new Error("disk full");
      },
      respond: (error) => text(String(error), { status: 503 }),
    };
    const response = await wrap(
      throwing("x"),
      recoverer(options),
    )(new Request("http://localhost/"));
    expect([response.status, await response.text()]).toEqual([503, "x"]);
    expect(console.error).toHaveBeenCalled();
  });

  it("survives a log that rejects", async () => {
    const report = vi.spyOn(console, "error").mockReturnValue();
    const log = (): unknown => Promise.reject(new Error("disk full"));
    const response = await wrap(throwing("x"), recoverer({ log }))(new Request("http://h/"));
    expect(response.status).toBe(500);
    await expect.poll(() => report).toHaveBeenCalledTimes(1);
  });

  it("logs to the console by default", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    await wrap(throwing("x"), recoverer())(new Request("http://localhost/"));
    expect(log).toHaveBeenCalledExactlyOnceWith("request panic for / from unknown, x");
  });

  it("leaves a body above the server's limit to the server, which responds with 413", async () => {
    const log = vi.fn();
    const handler = wrap(async (request) => text(await request.text()), recoverer({ log }));
    const options = { port: 0, hostname: "127.0.0.1", signals: false, maxRequestBodySize: 3 };
    const server = await serve(handler, options);
    onTestFinished(() => server.close({ gracePeriod: 0 }));
    const response = await fetch(server.url, { method: "POST", body: "too long" });
    expect(response.status).toBe(413);
    expect(log).not.toHaveBeenCalled();
  });
});
