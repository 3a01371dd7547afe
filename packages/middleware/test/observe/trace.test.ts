import { createContext, text, wrap, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { getTraceID, trace, type TraceOptions } from "../../src/observe/trace.ts";

const showId: Handler = (_, context) => text(getTraceID(context));

async function ask(options: TraceOptions, id?: string): Promise<[string | null, string]> {
  const headers: [string, string][] = id === undefined ? [] : [["x-request-id", id]];
  const request = new Request("http://localhost/", { headers });
  const response = await wrap(showId, trace(options))(request);
  return [response.headers.get("x-request-id"), await response.text()];
}

describe("trace", () => {
  it.each<[string, object]>([
    ["a header that is not a token", { header: "x request id" }],
    ["a generator that is not a function", { generate: "id" }],
  ])("refuses %s", (_, options) => {
    expect(() => trace(options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it.each([
    ["spaces", "a b"],
    ["a list of two fields", "a, b"],
    ["an escape character", "a\u001b[31m".replace("\u001b", "%1b")],
    ["quotes", '"a"'],
    ["markup", "<script>"],
    ["a length over 255", "a".repeat(256)],
    ["nothing", ""],
  ])("replaces an identifier with %s", async (_, id) => {
    const [header, seen] = await ask({}, id);
    expect(header).toMatch(/^[\da-f]{40}$/);
    expect(seen).toBe(header);
  });

  it.each([
    // Research A7: kept verbatim, in the response and the context.
    "1234567",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "req_aB=./+:@~",
    "a".repeat(255),
  ])("keeps %s", async (id) => {
    expect(await ask({}, id)).toEqual([id, id]);
  });

  it("makes different identifiers of 40 hexadecimal digits", async () => {
    const ids = new Set<string>();
    for (let index = 0; index < 500; index += 1) ids.add((await ask({}))[1]);
    expect(ids.size).toBe(500);
    for (const id of ids) expect(id).toMatch(/^[\da-f]{40}$/);
  });

  it("replaces every identifier with the option", async () => {
    expect((await ask({ trust: false }, "mine"))[1]).toMatch(/^[\da-f]{40}$/);
  });

  it("uses another header and another generator", async () => {
    const handler = wrap(showId, trace({ header: "Trace", generate: () => "7" }));
    const response = await handler(new Request("http://localhost/"));
    expect(response.headers.get("trace")).toBe("7");
    expect(response.headers.get("x-request-id")).toBeNull();
  });

  it("uses the identifier of an outer trace(), and keeps the handler's header", async () => {
    const handler = wrap(showId, trace(), trace({ trust: false }));
    const response = await handler(new Request("http://localhost/"));
    expect(response.headers.get("x-request-id")).toBe(await response.text());
    const own = wrap(() => text("", { headers: { "x-request-id": "own" } }), trace());
    const received = await own(new Request("http://localhost/"));
    expect(received.headers.get("x-request-id")).toBe("own");
  });

  it("sends the identifier of the context with the requests of a client", async () => {
    const echo: Handler = (request) => text(request.headers.get("x-request-id") ?? "none");
    await using server = await serve(echo, {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
    });
    const request = new Request(server.url);
    const client = trace({ forward: true })((request) => fetch(request));
    const response = await client(request, createContext(request, { requestId: "of-the-server" }));
    expect(await response.text()).toBe("of-the-server");
    expect(response.headers.get("x-request-id")).toBe("of-the-server");
  });

  it("does not change the request by default", async () => {
    const request = new Request("http://localhost/");
    const handler: Handler = (given) => text(String(given === request));
    expect(await (await trace()(handler)(request, createContext(request))).text()).toBe("true");
  });

  it("never lets through what could break out of a header, a log or a page", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary-ascii" }), async (id) => {
        let request: Request;
        try {
          request = new Request("http://localhost/", { headers: { "x-request-id": id } });
        } catch {
          return; // The platform refuses it already.
        }
        const response = await wrap(showId, trace())(request);
        expect(await response.text()).toMatch(/^[\w\-=.:+/@~]{1,255}$/);
      }),
    );
  });
});

describe("getTraceID", () => {
  it("is empty without trace", async () => {
    const response = await wrap(showId)(new Request("http://localhost/"));
    expect(await response.text()).toBe("");
  });
});
