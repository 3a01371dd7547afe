import {
  Client,
  deriveRequest,
  json,
  mockTransport,
  toFetch,
  wrap,
  type Middleware,
} from "@fetchwork/http";
import { describe, expect, it } from "vitest";

const url = "http://api.test/x?a=1";

describe("toFetch", () => {
  it("refuses what is not a client", () => {
    expect(() => toFetch({} as Client)).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_OPTION" }),
    );
  });

  it("carries method, URL, headers, a streamed body and the response", async () => {
    const client = new Client({
      headers: { "x-default": "1" },
      transport: mockTransport(async (request) =>
        json(
          {
            method: request.method,
            url: request.url,
            default: request.headers.get("x-default"),
            body: await request.text(),
          },
          { status: 201, headers: { "x-a": "1" } },
        ),
      ),
    });
    const response = await toFetch(client)(new Request(url, { method: "POST", body: "b" }));
    expect([response.status, response.headers.get("x-a")]).toEqual([201, "1"]);
    expect(await response.json()).toEqual({ method: "POST", url, default: "1", body: "b" });
  });

  it("is wrapped by middlewares, and takes what they derive", async () => {
    const bearer: Middleware = (next) => (request, context) =>
      next(deriveRequest(request, { headers: { authorization: "Bearer t" } }), context);
    const client = new Client({
      transport: mockTransport(({ headers }) =>
        json({ authorization: headers.get("authorization") }),
      ),
    });
    const api = wrap(toFetch(client), bearer);
    expect(await (await api(new Request(url))).json()).toEqual({ authorization: "Bearer t" });
  });

  it("ends with the request's signal", async () => {
    const controller = new AbortController();
    const client = new Client({
      transport: mockTransport(() => {
        controller.abort();
        return new Promise<Response>(() => undefined);
      }),
    });
    const promise = toFetch(client)(new Request(url, { signal: controller.signal }));
    await expect(promise).rejects.toMatchObject({ name: "AbortError" });
  });

  it.each([
    ["follow", 200],
    ["manual", 302],
  ] as const)("with redirect %s answers %i", async (redirect, status) => {
    const client = new Client({
      transport: mockTransport((request) =>
        request.url === url
          ? new Response(null, { status: 302, headers: { location: "/y" } })
          : json({}),
      ),
    });
    expect((await toFetch(client)(new Request(url, { redirect }))).status).toBe(status);
  });

  it("with redirect error fails on one", async () => {
    const client = new Client({
      transport: mockTransport(
        () => new Response(null, { status: 302, headers: { location: "/y" } }),
      ),
    });
    const promise = toFetch(client)(new Request(url, { redirect: "error" }));
    await expect(promise).rejects.toMatchObject({ name: "RedirectError" });
  });
});
