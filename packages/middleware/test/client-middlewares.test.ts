import { Client, json, mockTransport, toFetch, wrap } from "@fetchwork/http";
import { expect, it } from "vitest";
import { bearer, retry, timeout } from "@fetchwork/middleware";

const url = "http://api.test/x";

it("retry, bearer and timeout wrap the client of @fetchwork/http", async () => {
  const seen: (string | null)[] = [];
  const client = new Client({
    transport: mockTransport(async (request) => {
      seen.push(request.headers.get("authorization"));
      return json({ body: await request.text() }, { status: seen.length === 1 ? 503 : 200 });
    }),
  });
  const api = wrap(
    toFetch(client),
    retry({ baseDelay: 0 }),
    bearer(() => "t"),
    timeout(5000),
  );
  const response = await api(new Request(url, { method: "PUT", body: "b" }));
  expect([response.status, await response.json()]).toEqual([200, { body: "b" }]);
  expect(seen).toEqual(["Bearer t", "Bearer t"]);
});
