import * as api from "@opentelemetry/api";
import { createContext, finishContext, text, wrap, type Handler } from "@fetchwork/http";
import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTelemetry, type OpenTelemetryOptions } from "../../src/index.ts";

interface Recorded {
  name: string;
  readonly kind: api.SpanKind | undefined;
  readonly attributes: Record<string, unknown>;
  readonly parent: string | undefined;
  readonly exceptions: unknown[];
  status: api.SpanStatusCode;
  ended: boolean;
}

let spans: Recorded[] = [];

/** A provider that keeps what it is told; the SDK would bring ten packages. */
const provider: api.TracerProvider = {
  getTracer: () => ({
    startSpan(name, options, context) {
      const recorded: Recorded = {
        name,
        kind: options?.kind,
        attributes: { ...options?.attributes },
        parent: context && api.trace.getSpanContext(context)?.traceId,
        exceptions: [],
        status: api.SpanStatusCode.UNSET,
        ended: false,
      };
      spans.push(recorded);
      const span = api.trace.wrapSpanContext(api.INVALID_SPAN_CONTEXT);
      return Object.assign(span, {
        setAttribute(key: string, value: unknown) {
          recorded.attributes[key] = value;
          return span;
        },
        updateName(newName: string) {
          recorded.name = newName;
          return span;
        },
        setStatus({ code }: api.SpanStatus) {
          recorded.status = code;
          return span;
        },
        recordException: (error: unknown) => void recorded.exceptions.push(error),
        end: () => {
          recorded.ended = true;
        },
      });
    },
    startActiveSpan: () => {
      throw new Error("not used");
    },
  }),
};

const storage = new AsyncLocalStorage<api.Context>();
const manager: api.ContextManager = {
  active: () => storage.getStore() ?? api.ROOT_CONTEXT,
  with: (context, run, self, ...given) => storage.run(context, () => run.apply(self, given)),
  bind: (_context, target) => target,
  enable: () => manager,
  disable: () => manager,
};

/** Reads `traceparent` as the SDK's does. */
const propagator: api.TextMapPropagator = {
  inject: () => undefined,
  extract(context, carrier, getter) {
    const [, traceId = "", spanId = ""] = String(getter.get(carrier, "traceparent")).split("-");
    return traceId === ""
      ? context
      : api.trace.setSpanContext(context, { traceId, spanId, traceFlags: 1, isRemote: true });
  },
  fields: () => ["traceparent"],
};

beforeEach(() => {
  spans = [];
  api.trace.setGlobalTracerProvider(provider);
  api.context.setGlobalContextManager(manager);
  api.propagation.setGlobalPropagator(propagator);
});

afterEach(() => {
  api.trace.disable();
  api.context.disable();
  api.propagation.disable();
});

async function run(
  handler: Handler,
  options?: OpenTelemetryOptions,
  request = new Request("http://localhost:8080/a/7?secret=1", {
    headers: { "user-agent": "test" },
  }),
): Promise<Recorded | undefined> {
  await (await wrap(handler, openTelemetry(api, options))(request)).text();
  return spans[0];
}

it.each<[string, unknown, unknown]>([
  ["no API", undefined, {}],
  ["a route that is no function", api, { route: "/a" }],
  ["a query of 1", api, { query: 1 }],
])("refuses %s", (_case, given, options) => {
  expect(() => openTelemetry(given as typeof api, options as OpenTelemetryOptions)).toThrow(
    expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
  );
});

describe("openTelemetry", () => {
  it("makes a server span that ends with the body", async () => {
    const request = new Request("http://localhost:8080/a/7?secret=1", {
      headers: { "user-agent": "test" },
    });
    const context = createContext(request, { peer: "10.0.0.1", ip: "192.0.2.1" });
    await wrap(() => text("body"), openTelemetry(api))(request, context);
    expect(spans[0]?.ended).toBe(false);
    finishContext(context, { status: 200, bytes: 4 });
    expect(spans[0]).toMatchObject({
      name: "GET",
      kind: api.SpanKind.SERVER,
      ended: true,
      status: api.SpanStatusCode.UNSET,
    });
    expect(spans[0]?.attributes).toEqual({
      "http.request.method": "GET",
      "http.response.status_code": 200,
      "http.response.body.size": 4,
      "url.scheme": "http",
      "url.path": "/a/7",
      "server.address": "localhost",
      "server.port": 8080,
      "client.address": "192.0.2.1",
      "network.peer.address": "10.0.0.1",
      "user_agent.original": "test",
    });
  });

  it("names the route, and the query with the option", async () => {
    const span = await run(() => text("x"), { route: () => "/a/:id", query: true });
    expect(span?.name).toBe("GET /a/:id");
    expect(span?.attributes).toMatchObject({ "http.route": "/a/:id", "url.query": "secret=***" });
  });

  it("continues the trace of the caller, and is active in the handler", async () => {
    const headers = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
    let isActive: boolean | undefined;
    const handler: Handler = async () => {
      await Promise.resolve();
      isActive = api.trace.getSpan(api.context.active()) !== undefined;
      return text("x");
    };
    const span = await run(handler, {}, new Request("https://localhost/", { headers }));
    expect([span?.parent, isActive]).toEqual(["0af7651916cd43dd8448eb211c80319c", true]);
    expect(span?.attributes).toMatchObject({ "url.scheme": "https", "server.port": 443 });
  });

  it("records errors, and passes them on", async () => {
    const error = new RangeError("broken");
    const fails: Handler[] = [
      () => {
        throw error;
      },
      async () => {
        throw error;
      },
    ];
    for (const handler of fails) {
      spans = [];
      await expect(run(handler)).rejects.toBe(error);
      expect(spans[0]).toMatchObject({
        status: api.SpanStatusCode.ERROR,
        exceptions: [error],
        ended: true,
      });
      expect(spans[0]?.attributes["error.type"]).toBe("RangeError");
    }
  });

  it.each([
    [200, api.SpanStatusCode.UNSET, undefined],
    [404, api.SpanStatusCode.UNSET, undefined],
    [503, api.SpanStatusCode.ERROR, "503"],
  ])("maps status %i to the span status %i", async (status, code, type) => {
    const span = await run(() => text("x", { status }));
    expect([span?.status, span?.attributes["error.type"]]).toEqual([code, type]);
  });

  it("keeps unknown methods out of the names of spans", async () => {
    const span = await run(
      () => text("x"),
      {},
      new Request("http://localhost/", { method: "BREW" }),
    );
    expect(span?.name).toBe("HTTP");
    expect(span?.attributes).toMatchObject({
      "http.request.method": "_OTHER",
      "http.request.method_original": "BREW",
    });
  });

  it("makes no span for a request that the option excludes", async () => {
    expect(
      await run(() => text("x"), { when: ({ url }) => url.endsWith("/ping") }),
    ).toBeUndefined();
  });
});
