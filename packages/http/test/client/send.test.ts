import {
  buildRequestObject,
  buildResponse,
  Client,
  json,
  makeRequest,
  mockTransport,
  RestResponse,
} from "@fetchwork/http";
import { describe, expect, it } from "vitest";

describe("the three steps", () => {
  it("together do what send does", async () => {
    const client = new Client({
      transport: mockTransport(async (request) =>
        json({ url: request.url, body: await request.text() }, { status: 404 }),
      ),
    });
    const built = buildRequestObject({
      method: "POST",
      baseUrl: "http://h/x",
      queryParams: { a: 1 },
      body: "b",
    });
    const raw = await makeRequest(built, client);
    const response = buildResponse(raw);
    expect(response).toBeInstanceOf(RestResponse);
    expect([response.statusCode, response.json()]).toEqual([
      404,
      { url: "http://h/x?a=1", body: "b" },
    ]);
  });

  it("follow redirects with the options of the client", async () => {
    const client = new Client({
      transport: mockTransport(
        () => new Response(null, { status: 302, headers: { location: "/" } }),
      ),
      redirect: 1,
    });
    await expect(
      makeRequest(buildRequestObject({ baseUrl: "http://h/" }), client),
    ).rejects.toMatchObject({
      name: "RedirectError",
    });
  });
});
