import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConnectionError, OAuth2Client } from "../src/index.ts";

let server: http.Server;
let site: string;

beforeEach(async () => {
  server = http.createServer((request, response) => {
    if (request.url !== "/never") response.end("answer");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address: AddressInfo | string | null = server.address();
  site = typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "";
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

describe("a connection without a limit of time", () => {
  const clientOf = (): OAuth2Client =>
    new OAuth2Client("id", "secret", { site, connectionOpts: { timeout: 0 } });

  it("gives the answer", async () => {
    expect((await clientOf().request("get", "/")).body).toBe("answer");
  });

  it("gives up when the caller's signal is aborted, and closes the connection", async () => {
    const controller = new AbortController();
    const seen = once(server, "request");
    const answer = clientOf().request("get", "/never", { signal: controller.signal });
    const [request] = await seen;
    const closed = once(request.socket, "close");
    controller.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
    await closed;
  });

  it("tells of a connection that breaks", async () => {
    server.on("request", (request) => request.socket.destroy());
    await expect(clientOf().request("get", "/never")).rejects.toThrow(ConnectionError);
  });
});
