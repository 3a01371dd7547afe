import { once } from "node:events";
import { request as send } from "node:http";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { text, wrap } from "@fetchwork/http";
import { serve, type RunningServer } from "@fetchwork/http/serve";
import { describe, expect, it } from "vitest";
import { earlyHints, type EarlyLinks } from "../../src/node/early-hints.ts";

const links = ["</app.css>; rel=preload; as=style", '<https://cdn.example>; rel="preconnect"'];

function start(given: EarlyLinks, own?: string): Promise<RunningServer> {
  const headers = own === undefined ? {} : { link: own };
  const handler = wrap(() => text("page", { headers }), earlyHints(given));
  return serve(handler, { port: 0, hostname: "127.0.0.1", signals: false });
}

async function ask(
  server: RunningServer,
  method = "GET",
  path = "",
): Promise<{ hints: unknown; link: unknown }> {
  const client = send(`${server.url}${path}`, { method, agent: false });
  let hints: unknown;
  client.on("information", (info) => {
    hints = [info.statusCode, info.headers["link"]];
  });
  client.end();
  const [response] = await once(client, "response");
  response.resume();
  await once(response, "end");
  return { hints, link: response.headers.link };
}

describe("earlyHints", () => {
  it.each([
    "</a>; rel=preload\r\nX: y",
    "/a; rel=preload",
    "<a b>",
    "</a>, </b>",
    "</a>; rel=\u0100",
    "",
  ])("refuses %j", (link) => {
    expect(() => earlyHints([link])).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("sends 103 with the links, and the same links with the response", async () => {
    await using server = await start(links);
    const value = links.join(", ");
    expect(await ask(server)).toEqual({ hints: [103, value], link: value });
  });

  it("keeps the handler's own Link", async () => {
    await using server = await start(links, "</own>; rel=next");
    expect((await ask(server)).link).toBe("</own>; rel=next");
  });

  it("sends none for other methods, and none without links", async () => {
    await using server = await start((request) => (request.url.endsWith("/a") ? links : undefined));
    expect(await ask(server, "POST", "a")).toEqual({ hints: undefined, link: undefined });
    expect(await ask(server, "GET", "b")).toEqual({ hints: undefined, link: undefined });
    expect((await ask(server, "GET", "a")).hints).toEqual([103, links.join(", ")]);
  });

  it("sends none over HTTP/1.0", async () => {
    await using server = await start(links);
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
    const received = await readText(socket);
    expect(received).toMatch(/^HTTP\/1\.[01] 200 /);
    expect(received).toContain("</app.css>");
  });

  it("only sets the header without a server", async () => {
    const handler = wrap(() => text("page"), earlyHints(links));
    const response = await handler(new Request("http://localhost/"));
    expect(response.headers.get("link")).toBe(links.join(", "));
  });
});
