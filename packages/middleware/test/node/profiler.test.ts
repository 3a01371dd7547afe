import { once } from "node:events";
import { connect } from "node:net";
import { createContext, text, wrap, type Middleware } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { describe, expect, it } from "vitest";
import { profiler, type ProfilerOptions } from "../../src/node/profiler.ts";

interface Sent {
  readonly method?: string;
  readonly peer?: string;
  readonly headers?: Record<string, string>;
}

async function ask(middleware: Middleware, path: string, sent: Sent = {}): Promise<Response> {
  const { method = "GET", peer = "127.0.0.1", headers = {} } = sent;
  const request = new Request(`http://localhost${path}`, { method, headers });
  const handler = wrap(() => text("next"), middleware);
  return handler(request, createContext(request, { peer }));
}

const open = profiler("127.0.0.1");

describe("profiler", () => {
  it.each<[ProfilerOptions]>([
    [{ addresses: ["x"] }],
    [{ path: "debug" }],
    [{ path: "/debug/" }],
    [{ maxSeconds: 0 }],
    [{ maxSeconds: 3601 }],
    [{ variables: { heap: () => 1 } }],
  ])("refuses %j", (options) => {
    expect(() => profiler(options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  // Research A5; Go's is open without rules, decision 2A.6.
  it.each<[string, Middleware, Sent]>([
    ["without rules", profiler(), {}],
    ["without rules, as options", profiler({}), {}],
    ["of another address", profiler("9.9.9.9"), {}],
    [
      "of a claimed address",
      profiler({ addresses: ["9.9.9.9"], trustedProxies: [] }),
      { headers: { "x-real-ip": "9.9.9.9" } },
    ],
  ])("responds with 403 to everything %s", async (_, middleware, sent) => {
    for (const path of [
      "/pprof/",
      "/pprof/profile",
      "/pprof/heap?snapshot=1",
      "/pprof/x",
      "/vars",
    ]) {
      const response = await ask(middleware, path, sent);
      expect([response.status, await response.text()]).toEqual([
        403,
        '{"error":"ip \\"127.0.0.1\\" rejected"}\n',
      ]);
    }
  });

  it("responds with 500 when there is no address", async () => {
    expect((await ask(open, "/vars", { peer: "bad-addr" })).status).toBe(500);
  });

  it("lists what there is", async () => {
    const response = await ask(open, "/pprof/");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toContain("no-store");
    expect(await response.text()).toContain("Types of profiles available");
  });

  it("responds to /vars with figures and variables", async () => {
    const middleware = profiler({ allowAll: true, variables: { visits: () => 3 } });
    const response = await ask(middleware, "/vars");
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    const body = await response.text();
    expect(body).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(body)).toMatchObject({ visits: 3, process: { pid: process.pid } });
  });

  it("serves below another path and passes the rest to the handler", async () => {
    const middleware = profiler({ path: "/debug", allowAll: true });
    expect((await ask(middleware, "/debug/vars")).headers.get("content-type")).toContain("json");
    for (const path of ["/vars", "/pprof/", "/debug/varsx", "/debug/pprof", "/"]) {
      expect(await (await ask(middleware, path)).text()).toBe("next");
    }
  });

  it("hides the values on the command line", async () => {
    expect(await (await ask(open, "/pprof/cmdline")).text()).toMatch(/^[^\0]+\0[^\0]+/);
  });

  it("counts what keeps the event loop alive", async () => {
    for (const name of ["goroutine", "resources"]) {
      const counts: unknown = await (await ask(open, `/pprof/${name}`)).json();
      expect(Object.values(Object(counts)).every((count) => typeof count === "number")).toBe(true);
    }
  });

  it("refuses other methods and unknown profiles", async () => {
    const response = await ask(open, "/pprof/profile", { method: "POST" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET"]);
    expect((await ask(open, "/pprof/symbol")).status).toBe(404);
    expect((await ask(open, "/pprof/constructor")).status).toBe(404);
  });

  it.each(["", "-1", "61", "1e1", "abc", "0x1", "99999999"])(
    "responds with 400 to ?seconds=%s",
    async (seconds) => {
      expect((await ask(open, `/pprof/profile?seconds=${seconds}`)).status).toBe(400);
    },
  );

  it.each([
    ["profile", "cpuprofile", ["nodes", "samples", "timeDeltas"]],
    ["heap", "heapprofile", ["head", "samples"]],
    ["allocs", "heapprofile", ["head", "samples"]],
    ["block", "json", ["p99", "max", "count"]],
  ])("takes %s", async (name, ending, members) => {
    const response = await ask(open, `/pprof/${name}?seconds=0.05`);
    expect(response.headers.get("content-disposition")).toBe(
      `attachment; filename="${name}.${ending}"`,
    );
    const profile: unknown = await response.json();
    for (const member of members) expect(profile).toHaveProperty(member.replace(".", "\\."));
  });

  it("responds with 409 while another profile is taken, and ends one whose client has left", async () => {
    await using server = await serve(
      wrap(() => text("next"), open),
      {
        port: 0,
        hostname: "127.0.0.1",
        signals: false,
        gracePeriod: 0,
      },
    );
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    await once(socket, "connect");
    socket.write("GET /pprof/profile?seconds=60 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await expect
      .poll(async () => (await fetch(`${server.url}pprof/block?seconds=0`)).status)
      .toBe(409);
    expect((await fetch(`${server.url}pprof/heap?snapshot=1`)).status).toBe(409);
    socket.destroy();
    await expect
      .poll(async () => (await fetch(`${server.url}pprof/block?seconds=0`)).status)
      .toBe(200);
  });

  it("streams a heap snapshot", async () => {
    const response = await ask(open, "/pprof/heap?snapshot=1");
    let size = 0;
    let start = "";
    for await (const chunk of response.body ?? []) {
      if (size === 0) start = Buffer.from(chunk).toString("utf8", 0, 12);
      size += chunk.byteLength;
    }
    expect(start).toBe('{"snapshot":');
    expect(size).toBeGreaterThan(100_000);
    expect((await ask(open, "/pprof/block?seconds=0")).status).toBe(200);
  });

  it("frees the place of a snapshot whose reader has left", async () => {
    const response = await ask(open, "/pprof/heap?snapshot=1");
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await expect.poll(async () => (await ask(open, "/pprof/block?seconds=0")).status).toBe(200);
  });
});
