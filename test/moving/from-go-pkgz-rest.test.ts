import type { Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { importBlock } from "./page-block.ts";
// Requests to the service before the move, and its responses as the documentation and the tests of
// go-pkgz/rest have them; null is a header that it does not send.
import record from "./records/go-pkgz-rest.json" with { type: "json" };

interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly response: {
    readonly status: number;
    readonly body: string;
    readonly headers?: Readonly<Record<string, string | null>>;
  };
}

let server: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  // `recoverer` logs to the console.
  vi.spyOn(console, "error").mockReturnValue();
  const { handler } = await importBlock<{ handler: Handler }>("from-go-pkgz-rest.md", "ts");
  server = await serve(handler, { port: 0, hostname: "127.0.0.1" });
});

afterAll(async () => {
  vi.restoreAllMocks();
  await server.close({ gracePeriod: 0 });
});

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(new URL(path, server.url), init);
}

describe("the service of from-go-pkgz-rest.md", () => {
  it.each(record as readonly Exchange[])(
    "responds as the service in Go to $name",
    async ({ request: { path, ...init }, response }) => {
      const responded = await ask(path, init);
      expect([responded.status, await responded.text()]).toEqual([response.status, response.body]);
      const { headers = {} } = response;
      const seen = Object.keys(headers).map((name) => [name, responded.headers.get(name)]);
      expect(Object.fromEntries(seen)).toEqual(headers);
    },
  );

  it("responds with 304 to the tag that it sent", async () => {
    const headers = { "accept-encoding": "identity" };
    const first = await ask("/second/a", { headers });
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\da-f]{40}"$/);
    const second = await ask("/second/a", { headers: { ...headers, "if-none-match": etag } });
    expect([second.status, await second.text()]).toEqual([304, ""]);
  });

  it("sends Vary to other origins and no ETag with errors, as the page says", async () => {
    const other = await ask("/second/a", { headers: { origin: "https://other.example" } });
    expect(other.headers.get("vary")).toContain("Origin");
    expect((await ask("/missing")).headers.get("etag")).toBeNull();
  });

  it("replaces an identifier that is not valid, as the page says", async () => {
    const responded = await ask("/ping", { headers: { "x-request-id": "not valid <b>" } });
    expect(responded.headers.get("x-request-id")).toMatch(/^[\da-f]{40}$/);
  });
});
