import { deriveRequest, runHandler, text, wrap, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { bearer, requestHeaders, trace } from "../../src/index.ts";

const url = "http://localhost/";

describe("bearer", () => {
  const seen: Handler = ({ headers }) => text(headers.get("authorization") ?? "none");
  const ask = async (
    middleware: ReturnType<typeof bearer>,
    request = new Request(url),
  ): Promise<string> => (await wrap(seen, middleware)(request)).text();

  it.each([
    ["an empty token", ""],
    ["a token with a line break", "a\r\nb"],
    ["a token with a space", "a b"],
    ["no token", undefined],
  ])("refuses %s, and does not show it", async (_case, token) => {
    expect(() => bearer(token as string)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
    if (token) {
      expect(() => bearer(token)).not.toThrow(token);
      await expect(ask(bearer(async () => token))).rejects.toThrow(/bearer token/);
    }
  });

  it.each(["https://a.com/", "a.com", "https://A.com", "null"])(
    "refuses the origin %s",
    (origin) => {
      expect(() => bearer("t", { origins: [origin] })).toThrow(/origin/);
    },
  );

  it("sends a token, or what a function returns each time", async () => {
    let count = 0;
    expect(await ask(bearer("t0ken=="))).toBe("Bearer t0ken==");
    expect(await ask(bearer(() => "sync"))).toBe("Bearer sync");
    const middleware = bearer(async () => `t${(count += 1)}`);
    expect([await ask(middleware), await ask(middleware)]).toEqual(["Bearer t1", "Bearer t2"]);
  });

  it("keeps the caller's own Authorization, and does not change the caller's request", async () => {
    const own = new Request(url, { headers: { authorization: "Basic a" } });
    const plain = new Request(url);
    expect(await ask(bearer("t"), own)).toBe("Basic a");
    await ask(bearer("t"), plain);
    expect(plain.headers.has("authorization")).toBe(false);
    expect(await ask(bearer("t"), deriveRequest(plain, { headers: { a: "1" } }))).toBe("Bearer t");
  });

  it("fails every request to a server that it wraps, because it protects nothing", async () => {
    const refusal = expect.objectContaining({ code: "ERR_MIDDLEWARE_SERVER" });
    const handler = vi.fn<Handler>(() => text("secret"));
    for (const layers of [[bearer("t")], [requestHeaders("a:1"), bearer("t")]]) {
      const reportError = vi.fn();
      const guarded = wrap(handler, ...layers);
      const options = { port: 0, hostname: "127.0.0.1", signals: false, reportError };
      const server = await serve(guarded, options);
      onTestFinished(() => server.close({ gracePeriod: 0 }));
      for (const headers of [{}, { authorization: "Bearer t" }]) {
        const response = await fetch(server.url, { headers });
        expect([response.status, await response.text()]).toEqual([
          500,
          expect.not.stringContaining("secret"),
        ]);
      }
      expect(reportError).toHaveBeenCalledWith(refusal);
      // Runtimes without a server of ours.
      await expect(async () => runHandler(guarded, new Request(url))).rejects.toThrow(refusal);
    }
    expect(handler).not.toHaveBeenCalled();
  });

  it("adds the token to what a server's handler sends, also with the context of the server", async () => {
    const api = wrap(
      seen,
      trace({ forward: true }),
      requestHeaders("a:1"),
      bearer("t", { origins: ["http://upstream.example"] }),
    );
    const proxy: Handler = (_request, context) =>
      api(new Request("http://upstream.example/"), context);
    const server = await serve(proxy, { port: 0, hostname: "127.0.0.1", signals: false });
    onTestFinished(() => server.close({ gracePeriod: 0 }));
    expect(await (await fetch(server.url)).text()).toBe("Bearer t");
    const response = await runHandler(proxy, new Request(url), { peer: "192.0.2.1" });
    expect(await response.text()).toBe("Bearer t");
  });

  it("does not send the token to other origins", async () => {
    const middleware = bearer("t", { origins: ["https://api.example.com"] });
    expect(await ask(middleware, new Request("https://api.example.com/x"))).toBe("Bearer t");
    for (const other of [
      "http://api.example.com/",
      "https://api.example.com:8443/",
      "https://api.example.com.evil.com/",
      "https://evil.com/https://api.example.com",
    ]) {
      expect(await ask(middleware, new Request(other))).toBe("none");
    }
  });
});
