import { createContextKey, empty, text, wrap, type Middleware } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { basicAuthWithPrompt, bearerAuth, except, headers, reject, some } from "../../src/index.ts";

const marked = headers({ "x-marked": "yes" });

async function isMarked(middleware: Middleware, path: string): Promise<boolean> {
  const response = await wrap(() => text("ok"), middleware)(new Request(`http://localhost${path}`));
  return response.headers.has("x-marked");
}

describe("except()", () => {
  const cases: readonly [string | string[], string, boolean][] = [
    ["/health", "/health", false],
    ["/health", "/health?a=b", false],
    ["/health", "/health/", true],
    ["/health", "/healthy", true],
    ["/public/*", "/public/a/b", false],
    ["/public/*", "/public/", false],
    ["/public/*", "/public", true],
    ["/public/*", "/publicity", true],
    ["/public/*", "/public/../admin", true],
    ["/public/*", "/public/..%2fadmin", true],
    ["/public/*", "/public/%2e%2e/admin", true],
    ["/public/*", "/public//admin", true],
    ["/public/*", "/public/a%5c..%5cadmin", true],
    ["/public/*", "/%70ublic/a", true],
    [["/a", "/b/*"], "/b/c", false],
    [["/a", "/b/*"], "/c", true],
  ];
  it.each(cases)("of %j runs its middlewares for %s: %s", async (paths, path, expected) => {
    expect(await isMarked(except(paths, marked), path)).toBe(expected);
  });

  it("asks a function, which may be asynchronous", async () => {
    expect(
      await isMarked(
        except(() => true, marked),
        "/",
      ),
    ).toBe(false);
    expect(
      await isMarked(
        except(async () => false, marked),
        "/",
      ),
    ).toBe(true);
  });

  it("runs several middlewares in their order", async () => {
    const order: string[] = [];
    const note =
      (name: string): Middleware =>
      (next) =>
      (request, context) => {
        order.push(name);
        return next(request, context);
      };
    await isMarked(except("/x", note("a"), note("b")), "/");
    expect(order).toEqual(["a", "b"]);
  });

  it("refuses paths that it would not match as they are meant", () => {
    for (const path of ["health", "/a*", "/*/b", "/a?b", ""]) {
      expect(() => except(path, marked)).toThrow("/public/*");
    }
    expect(() => except("/")).toThrow("at least one middleware");
  });
});

describe("some()", () => {
  const userKey = createContextKey<string>("user");
  const guards = some(
    basicAuthWithPrompt("anna", "secret"),
    bearerAuth({
      verify: (token) => (token === "right" ? { sub: "token" } : undefined),
      realm: "api",
    }),
  );
  const handler = wrap((_, context) => text(context.get(userKey) ?? "ok"), guards);
  const ask = (authorization?: string): Promise<Response> =>
    Promise.resolve(
      handler(
        new Request(
          "http://localhost/",
          authorization === undefined ? {} : { headers: { authorization } },
        ),
      ),
    );

  it("lets a request pass that one of the guards passes", async () => {
    expect((await ask(`Basic ${btoa("anna:secret")}`)).status).toBe(200);
    expect((await ask("Bearer right")).status).toBe(200);
  });

  it("refuses with the challenges of all guards", async () => {
    const response = await ask();
    expect(response.status).toBe(401);
    const challenges = response.headers.get("www-authenticate");
    expect(challenges).toContain("Basic realm=");
    expect(challenges).toContain('Bearer realm="api"');
    expect((await ask("Bearer wrong")).headers.get("www-authenticate")).toContain("invalid_token");
  });

  it("keeps the response of the handler, also when it looks like a refusal", async () => {
    const inner = wrap(
      () => empty(403, { headers: { "x-own": "1" } }),
      some(
        marked,
        reject(401, "no", () => true),
      ),
    );
    const response = await inner(new Request("http://localhost/"));
    expect([response.status, response.headers.get("x-own")]).toEqual([403, "1"]);
  });

  it("sends another response of a guard as it is", async () => {
    const busy: Middleware = () => () => empty(429);
    const response = await wrap(
      () => text("ok"),
      some(busy, marked),
    )(new Request("http://localhost/"));
    expect(response.status).toBe(429);
  });

  it("needs two guards", () => {
    expect(() => some(marked)).toThrow("at least two guards");
  });
});
