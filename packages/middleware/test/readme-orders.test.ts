import { readFileSync } from "node:fs";
import { text, wrap, type Handler, type Middleware } from "@fetchwork/http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { codeBlocks } from "../../../scripts/markdown.ts";
import * as middleware from "../src/index.ts";

const root = new URL("../../../", import.meta.url);
const origin = "https://app.example.com";

/**
 * The middlewares of the stacks in a Markdown file that have `cors` among them, as its reader
 * builds them.
 */
function stacksOf(file: string): (readonly Middleware[])[] {
  const blocks = codeBlocks(readFileSync(new URL(file, root), "utf8"), "ts");
  return blocks.flatMap((block) =>
    [...block.matchAll(/= wrap\(\n([\s\S]*?)^\);/gm)].flatMap(([, list = ""]) => {
      // Prettier puts each argument on separate lines; the first is the handler.
      const [, ...lines] = list.split(/,\n(?= {2}\S)/);
      const source = lines.join(",");
      if (!source.includes("cors(")) return [];
      // The documentation is the input of this test.
      // oxlint-disable-next-line typescript/no-implied-eval
      const build: (exported: object) => Middleware[] = new Function(
        `{ ${Object.keys(middleware).join(", ")} }`,
        `return [${source}];`,
      ) as never;
      return [build(middleware)];
    }),
  );
}

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(console, "log").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(["packages/middleware/README.md", "docs/middlewares.md"])(
  "the order of middlewares in %s",
  (file) => {
    const ask = (handler: Handler, init: RequestInit = {}): Promise<Response[]> =>
      Promise.all(
        stacksOf(file).map(async (stack) => {
          const request = new Request("http://localhost/x", init);
          request.headers.set("origin", origin);
          return wrap(handler, ...stack)(request);
        }),
      );
    const fails: Handler = () => {
      throw new Error("oh");
    };
    const reads: Handler = async (request) => text(String(await middleware.decodeJSON(request)));

    it("has at least one stack with cors()", () => {
      expect(stacksOf(file).length).toBeGreaterThan(0);
    });

    it.each<[string, number, Handler, RequestInit]>([
      ["a 200", 200, () => text("x"), {}],
      ["a 500", 500, fails, {}],
      [
        "a refusal of bad input",
        400,
        reads,
        { method: "POST", body: "{", headers: { "sec-fetch-site": "same-origin" } },
      ],
      ["a refusal of another path", 404, () => middleware.sendErrorJSON(404, "x"), {}],
    ])(
      "puts the headers of cors(), secure() and trace() on %s",
      async (_case, status, handler, init) => {
        for (const response of await ask(handler, init)) {
          expect(response.status).toBe(status);
          expect(Object.fromEntries(response.headers)).toMatchObject({
            "access-control-allow-origin": origin,
            "x-frame-options": "DENY",
            "x-content-type-options": "nosniff",
            "x-request-id": expect.any(String),
            vary: expect.stringContaining("Origin"),
          });
        }
      },
    );

    it("responds to a preflight with the headers of cors() and trace()", async () => {
      const headers = { "access-control-request-method": "PUT" };
      for (const response of await ask(fails, { method: "OPTIONS", headers })) {
        expect(response.status).toBe(204);
        expect(Object.fromEntries(response.headers)).toMatchObject({
          "access-control-allow-origin": origin,
          "access-control-allow-methods": expect.stringContaining("PUT"),
          "x-request-id": expect.any(String),
        });
      }
    });
  },
);

it("crossOriginProtection() in docs/middlewares.md lets pages that cors() allows change things, and no others", async () => {
  const [stack = []] = stacksOf("docs/middlewares.md");
  const ask = async (from: string) => {
    const request = new Request("http://localhost/x", {
      method: "POST",
      headers: { origin: from },
    });
    const { headers, status } = await wrap(() => text("x"), ...stack)(request);
    return [status, headers.get("access-control-allow-origin")];
  };
  expect(await ask(origin)).toEqual([200, origin]);
  expect(await ask("https://other.example.com")).toEqual([403, null]);
});
