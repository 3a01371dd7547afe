import { text, wrap, type Handler } from "@fetchwork/http";
import { describe, expect, it, vi } from "vitest";
import { blackWords, blackWordsFn } from "../../src/access/black-words.ts";

const echo: Handler = async (request) => text(await request.text());
const post = (body: BodyInit): Request => {
  const init = { method: "POST", body, duplex: "half" };
  return new Request("http://h/", init);
};

describe("blackWords", () => {
  it.each<[string, () => unknown]>([
    ["an empty word", () => blackWords(["a", ""])],
    ["a limit below zero", () => blackWords(["a"], { limit: -1 })],
    ["words that are no function", () => Reflect.apply(blackWordsFn, undefined, [["a"]])],
  ])("refuses %s", (_, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }));
  });

  const words = ["bad1", "bad2", "$where"];
  const refused = '{"error":"one of blacklisted words detected"}\n';
  it.each([
    // Research A6.
    ["", 200, ""],
    ["blah blah body", 200, "blah blah body"],
    ["blah blah … bad", 200, "blah blah … bad"],
    ["blah … bad1", 403, refused],
    ["blah bad2 body bad", 403, refused],
    ['{"a": {"$where": "x"}}', 403, refused],
    ["xBAD1x", 403, refused],
  ])("responds to a body of %j with %s", async (body, status, expected) => {
    for (const middleware of [blackWords(words), blackWordsFn(() => [...words, ""])]) {
      const response = await wrap(echo, middleware)(post(body));
      expect([response.status, await response.text()]).toEqual([status, expected]);
    }
  });

  it("finds a word that two chunks share", async () => {
    const body = new Blob(["xx ba"])
      .stream()
      .pipeThrough(new TransformStream({ flush: (end) => end.enqueue(new Uint8Array([100, 49])) }));
    const response = await wrap(echo, blackWords(words))(post(body));
    expect(response.status).toBe(403);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it("responds with 400 when the body cannot be read, and does not run the handler", async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
    const handler = vi.fn(echo);
    const response = await wrap(handler, blackWords(words))(post(body));
    expect([response.status, await response.text()]).toEqual([
      400,
      '{"error":"can\'t read request body"}\n',
    ]);
    expect(handler).not.toHaveBeenCalled();
  });

  it("responds with 413 above its limit, which can be removed", async () => {
    const long = "x".repeat(1_048_577);
    expect((await wrap(echo, blackWords(words))(post(long))).status).toBe(413);
    expect((await wrap(echo, blackWords(words, { limit: 3 }))(post("1234"))).status).toBe(413);
    const unlimited = blackWords(words, { limit: Infinity });
    expect(await (await wrap(echo, unlimited)(post(long))).text()).toBe(long);
  });

  it("calls a function for the words at each request with a body", async () => {
    let words = ["one"];
    const handler = wrap(
      echo,
      blackWordsFn(() => words),
    );
    expect((await handler(post("one"))).status).toBe(403);
    words = ["two"];
    expect((await handler(post("one"))).status).toBe(200);
    expect((await handler(new Request("http://h/"))).status).toBe(200);
  });

  it("passes bytes that are not text on unchanged", async () => {
    const bytes = new Uint8Array([0, 255, 128, 10]);
    const handler: Handler = async (request) => new Response(await request.arrayBuffer());
    const response = await wrap(handler, blackWords(words))(post(bytes));
    expect(await response.bytes()).toEqual(bytes);
  });
});
