import { createContext, text, wrap, type Middleware } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { metrics, metricsAllowAll, type MetricsOptions } from "../../src/observe/metrics.ts";
import { preferredType } from "../../src/observe/preferred-type.ts";
import { prometheusText } from "../../src/observe/prometheus-text.ts";
import { realIp } from "../../src/address/real-ip.ts";
import { hideValues } from "../../src/observe/runtime-figures.ts";

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly peer?: string;
  readonly headers?: Record<string, string>;
}

interface Seen {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
}

async function ask(middleware: Middleware | Middleware[], sent: Sent = {}): Promise<Seen> {
  const { method = "GET", path = "/metrics", peer = "1.2.3.4", headers = {} } = sent;
  const request = new Request(`http://localhost${path}`, { method, headers });
  const handler = wrap(() => text("next"), ...[middleware].flat());
  const context = createContext(request, { peer, reportError: () => undefined });
  const response = await handler(request, context);
  const type = response.headers.get("content-type");
  return { status: response.status, type, body: await response.text() };
}

const json = "application/json; charset=utf-8";
const prometheus =
  "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

// Research A5.
describe("metrics", () => {
  it.each<[string, Middleware, Sent, string]>([
    ["no rules at all", metrics(), {}, "1.2.3.4"],
    ["no rules, from the host itself", metrics({}), { peer: "127.0.0.1" }, "127.0.0.1"],
    ["another address", metrics("5.6.7.8"), {}, "1.2.3.4"],
    ["no address", metrics("5.6.7.8"), { peer: "bad-addr" }, ""],
    [
      "a claimed address",
      metrics({ addresses: ["5.6.7.8"], trustedProxies: [] }),
      { headers: { "x-real-ip": "5.6.7.8" } },
      "1.2.3.4",
    ],
  ])("responds with 403 to %s", async (_, middleware, sent, address) => {
    expect(await ask(middleware, sent)).toEqual({
      status: 403,
      type: json,
      body: `{"error":"ip ${address} rejected"}\n`,
    });
  });

  it.each<[string, Middleware, Sent]>([
    ["a listed address", metrics("1.2.3.4"), {}],
    ["a range", metrics("9.9.9.9", "1.2.0.0/16"), {}],
    ["a prefix", metrics("1.2."), {}],
    ["another path", metrics("1.2."), { path: "/api/METRICS?a=b" }],
    ["a header that is believed", metrics("8.8.8.8"), { headers: { "x-real-ip": "8.8.8.8" } }],
    ["everybody", metricsAllowAll(), { peer: "bad-addr" }],
  ])("responds with JSON to %s", async (_, middleware, sent) => {
    const { status, type, body } = await ask(middleware, sent);
    expect([status, type, body.endsWith("}\n")]).toEqual([200, json, true]);
    expect(JSON.parse(body)).toMatchObject({
      cmdline: expect.arrayContaining([process.argv[0]]),
      process: { pid: process.pid, versions: { node: process.versions.node } },
      memory: { rss: expect.any(Number), heapUsed: expect.any(Number) },
      heap: { total_heap_size: expect.any(Number) },
      eventLoop: { delay: { p99: expect.any(Number) }, utilization: expect.any(Number) },
    });
  });

  it.each<[Sent]>([
    [{ method: "POST" }],
    [{ method: "HEAD" }],
    [{ path: "/metric" }],
    [{ path: "/metrics/" }],
    [{ path: "/xmetrics" }],
    [{ path: "/?/metrics" }],
  ])("passes %j to the handler", async (sent) => {
    const { status, type } = await ask(metricsAllowAll(), sent);
    expect([status, type]).toEqual([200, "text/plain;charset=UTF-8"]);
  });

  it("uses the address that realIp found", async () => {
    const stack = [realIp({ trustedProxies: ["10.0.0.1"] }), metrics("8.8.8.8")];
    const headers = { "x-forwarded-for": "8.8.8.8" };
    expect((await ask(stack, { peer: "10.0.0.1", headers })).status).toBe(200);
    expect((await ask(stack, { peer: "10.0.0.2", headers })).status).toBe(403);
  });

  it.each<[MetricsOptions]>([
    [{ addresses: ["x"] }],
    [{ path: "metrics" }],
    [{ format: JSON.parse('"xml"') }],
    [{ variables: { memory: () => 1 } }],
    [{ variables: { a: JSON.parse("1") } }],
    [{ prometheus: JSON.parse('"text"') }],
  ])("refuses %j", (options) => {
    expect(() => metrics(options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("shows variables, except those that fail", async () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const variables = {
      visits: () => 3,
      big: () => 10n,
      later: async () => Promise.resolve({ a: { b: 1.5 } }),
      broken: () => {
        throw new Error("no");
      },
      cycle: () => cycle,
    };
    const { body } = await ask(metricsAllowAll({ variables }));
    const shown = JSON.parse(body);
    expect(shown).toMatchObject({ visits: 3, big: 10, later: { a: { b: 1.5 } } });
    expect(shown).not.toHaveProperty("broken");
    expect(shown).not.toHaveProperty("cycle");
    const { body: series } = await ask(metricsAllowAll({ variables, format: "prometheus" }));
    expect(series).toContain("\nvisits 3\n");
    expect(series).toContain("\nlater_a_b 1.5\n");
  });

  it.each([
    [undefined, json],
    ["*/*", json],
    ["text/html,application/xhtml+xml,*/*;q=0.8", json],
    ["application/json, text/plain", json],
    ["text/plain", "text/plain; version=0.0.4; charset=utf-8"],
    [prometheus, "application/openmetrics-text; version=1.0.0; charset=utf-8"],
    ["image/png", json],
  ])("responds to Accept: %s with %s", async (accept, type) => {
    const headers = accept === undefined ? {} : { accept };
    expect((await ask(metricsAllowAll(), { headers })).type).toBe(type);
  });

  it("adds the text of prom-client, without offering OpenMetrics", async () => {
    const middleware = metricsAllowAll({ prometheus: async () => "# TYPE a counter\na 1\n\n" });
    const { type, body } = await ask(middleware, { headers: { accept: prometheus } });
    expect(type).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(body.endsWith("\n# TYPE a counter\na 1\n")).toBe(true);
  });
});

describe("prometheusText", () => {
  it.each(["prometheus", "openmetrics"] as const)("is valid %s", async (format) => {
    const variables = {
      visits: () => 1,
      "odd name-1": () => ({
        "2x": Number.NaN,
        inf: -Infinity,
        Inf: Infinity,
        on: true,
        text: "a\nb",
      }),
      odd_name_1: () => ({ _2x: 5 }),
    };
    const { body } = await ask(metricsAllowAll({ format, variables }));
    const lines = body.trimEnd().split("\n");
    if (format === "openmetrics") expect(lines.pop()).toBe("# EOF");
    const seen = new Set<string>();
    for (let index = 0; index < lines.length; index += 3) {
      const [help = "", type = "", sample = ""] = lines.slice(index, index + 3);
      const family = /^# HELP ([a-zA-Z_:][\w:]*) \S.*$/.exec(help)?.[1] ?? "none";
      const kind = new RegExp(`^# TYPE ${family} (counter|gauge)$`).exec(type)?.[1];
      const ending = format === "openmetrics" && kind === "counter" ? "_total" : "";
      expect(sample).toMatch(new RegExp(`^${family}${ending} (NaN|[+-]Inf|-?\\d[\\d.e+-]*)$`));
      expect(seen).not.toContain(family);
      seen.add(family);
    }
    expect([...seen]).toContain("process_resident_memory_bytes");
    expect([...seen]).toContain("nodejs_eventloop_lag_p99_seconds");
  });

  it("has only its end where a runtime reports nothing", () => {
    expect(prometheusText({}, {}, "openmetrics")).toBe("# EOF\n");
  });
});

describe("hideValues", () => {
  it("keeps program, script and names of flags only", () => {
    const argv = [
      "node",
      "/app.js",
      "--token=secret",
      "--token",
      "secret",
      "-p",
      "-psecret",
      "-p=x",
      "https://user:pw@host",
      "--a.b=c",
      "-",
    ];
    expect(hideValues(argv)).toEqual([
      "node",
      "/app.js",
      "--token=***",
      "--token",
      "***",
      "-p",
      "-p***",
      "-p=***",
      "***",
      "--a=***",
      "***",
    ]);
  });
});

describe("preferredType", () => {
  it.each([
    [null, "a/a"],
    ["", "a/a"],
    ["b/b", "b/b"],
    ["a/a;q=0.1, b/b;q=0.2", "b/b"],
    ["a/a;q=0, */*", "b/b"],
    ["b/*;q=0.5, */*;q=0.4", "b/b"],
    ["B/B;Q=0.5;x=y", "b/b"],
    ["a/a;q=2, b/b;q=0.1", "b/b"],
    [",".repeat(60_000), "a/a"],
  ])("%j: %s", (accept, type) => {
    expect(preferredType(accept, ["a/a", "b/b"])).toBe(type);
  });
});
