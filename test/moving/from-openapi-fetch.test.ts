import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { importBlock } from "./page-block.ts";
// What the code before the move sent and printed, with openapi-fetch 0.17.0.
import record from "./records/openapi-fetch.json" with { type: "json" };

interface Arrived {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

let server: Server;
let arrived: Arrived[];

beforeEach(async () => {
  arrived = [];
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, url: path = "", headers } = request;
      const { accept, authorization, "content-type": type } = headers;
      arrived.push({
        method,
        path,
        headers: { authorization, "content-type": type, accept },
        body,
      });
      response.setHeader("content-type", "application/json");
      response.statusCode = path.endsWith("/404") ? 404 : 200;
      const title = body === "" ? "Hello" : (JSON.parse(body) as { title: string }).title;
      const post = { id: "123", title };
      response.end(JSON.stringify(path.endsWith("/404") ? { message: "no such post" } : post));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(() => {
  server.close();
  server.closeAllConnections();
});

describe("the code after the move of from-openapi-fetch.md", () => {
  it("sends and prints what the code before it did, and knows errors by status", async () => {
    const printed = vi.spyOn(console, "log").mockReturnValue();
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await importBlock("from-openapi-fetch.md", "ts", { "https://blog.example.com": origin });
    const lines = printed.mock.calls;
    printed.mockRestore();
    expect(arrived.slice(0, 2)).toEqual(record.arrived);
    expect(lines).toEqual([...record.lines, ["no such post"]]);
    expect(arrived.slice(2).map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /posts/404",
    ]);
  });
});
