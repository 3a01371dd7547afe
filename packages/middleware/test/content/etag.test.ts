import { json, text, wrap, type Handler } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { compress, etag } from "../../src/index.ts";

const url = "http://localhost/";

async function tagOf(
  handler: Handler,
  ...options: Parameters<typeof etag>
): Promise<string | null> {
  const response = await wrap(handler, etag(...options))(new Request(url));
  return response.headers.get("etag");
}

describe("etag()", () => {
  it("tags equal bodies equally, whatever they are made of", async () => {
    const bytes = new TextEncoder().encode("hello");
    const tags = await Promise.all(
      [() => text("hello"), () => new Response("hello"), () => new Response(bytes)].map((handler) =>
        tagOf(handler),
      ),
    );
    expect(new Set(tags).size).toBe(1);
    expect(tags[0]).toMatch(/^W\/"[\w-]{27}"$/);
    expect(await tagOf(() => text("other"))).not.toBe(tags[0]);
    expect(await tagOf(() => text("hello"), { strong: true })).toBe(tags[0]?.slice(2));
  });

  it("responds with 304 and without a body to a client that has the tag", async () => {
    const handler = wrap(
      () =>
        json(
          { a: 1 },
          {
            headers: {
              "cache-control": "max-age=5",
              "content-language": "en",
              "set-cookie": "a=b",
            },
          },
        ),
      etag(),
    );
    const first = await handler(new Request(url));
    const tag = String(first.headers.get("etag"));
    expect(await first.json()).toEqual({ a: 1 });
    for (const field of [tag, tag.slice(2), `"x", ${tag}`, "*"]) {
      const second = await handler(new Request(url, { headers: { "if-none-match": field } }));
      expect([second.status, await second.text()]).toEqual([304, ""]);
      expect(second.headers.get("etag")).toBe(tag);
      expect(second.headers.get("cache-control")).toBe("max-age=5");
      expect(second.headers.get("content-type")).toBeNull();
      expect(second.headers.get("content-language")).toBeNull();
      expect(second.headers.getSetCookie()).toEqual(["a=b"]);
    }
    const other = await handler(new Request(url, { headers: { "if-none-match": '"x"' } }));
    expect(other.status).toBe(200);
  });

  it("leaves the tag of the handler alone and compares it", async () => {
    const handler = wrap(() => text("a", { headers: { etag: '"v1"' } }), etag());
    expect((await handler(new Request(url))).headers.get("etag")).toBe('"v1"');
    const request = new Request(url, { headers: { "if-none-match": '"v1"' } });
    expect((await handler(request)).status).toBe(304);
  });

  const untagged: readonly [string, Handler][] = [
    ["a status other than 200", () => text("no", { status: 404 })],
    [
      "events",
      () => new Response("data: 1\n\n", { headers: { "content-type": "text/event-stream" } }),
    ],
    [
      "a stream that is not ready",
      () =>
        new Response(
          new ReadableStream({
            pull: (controller) => {
              setTimeout(() => {
                controller.enqueue(new Uint8Array(1));
                controller.close();
              }, 5);
              return new Promise((resolve) => setTimeout(resolve, 10));
            },
          }),
        ),
    ],
    ["a body over the limit", () => text("x".repeat(101))],
    ["a streamed body over the limit", () => new Response("x".repeat(101))],
    ["no body", () => new Response(null)],
  ];
  it.each(untagged)("does not tag %s", async (_name, handler) => {
    expect(await tagOf(handler, { maxSize: 100 })).toBeNull();
  });

  it("passes a body over the limit on whole", async () => {
    const response = await wrap(
      () => new Response("x".repeat(101)),
      etag({ maxSize: 100 }),
    )(new Request(url));
    expect(await response.text()).toHaveLength(101);
  });

  it("does not judge other methods and preconditions that only the handler can", async () => {
    const handler = wrap(() => text("a", { headers: { etag: '"v"' } }), etag());
    const post = new Request(url, { method: "POST", headers: { "if-none-match": '"v"' } });
    expect((await handler(post)).status).toBe(200);
    const headers = { "if-none-match": '"v"', "if-match": '"w"' };
    expect((await handler(new Request(url, { headers }))).status).toBe(200);
  });

  it("confirms a compressed body inside of compress()", async () => {
    const handler = wrap(() => text("hello ".repeat(1000)), compress(), etag());
    const headers = { "accept-encoding": "gzip" };
    const first = await handler(new Request(url, { headers }));
    expect(first.headers.get("content-encoding")).toBe("gzip");
    const tag = String(first.headers.get("etag"));
    const second = await handler(
      new Request(url, { headers: { ...headers, "if-none-match": tag } }),
    );
    expect(second.status).toBe(304);
  });

  it("refuses options that are wrong", () => {
    expect(() => etag({ maxSize: -1 })).toThrow("maxSize");
    expect(() => etag({ strong: "no" as never })).toThrow("strong");
  });
});
