import { deriveRequest, text, wrap, type Handler } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { bearer } from "../src/index.ts";

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

  it("sends a token, or what a function gives each time", async () => {
    let count = 0;
    expect(await ask(bearer("t0ken=="))).toBe("Bearer t0ken==");
    expect(await ask(bearer(() => "sync"))).toBe("Bearer sync");
    const middleware = bearer(async () => `t${(count += 1)}`);
    expect([await ask(middleware), await ask(middleware)]).toEqual(["Bearer t1", "Bearer t2"]);
  });

  it("leaves the caller's own Authorization, and the caller's request, alone", async () => {
    const own = new Request(url, { headers: { authorization: "Basic a" } });
    const plain = new Request(url);
    expect(await ask(bearer("t"), own)).toBe("Basic a");
    await ask(bearer("t"), plain);
    expect(plain.headers.has("authorization")).toBe(false);
    expect(await ask(bearer("t"), deriveRequest(plain, { headers: { a: "1" } }))).toBe("Bearer t");
  });

  it("keeps the token from other origins", async () => {
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
