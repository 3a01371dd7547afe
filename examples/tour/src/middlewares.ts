import { strict as assert } from "node:assert";
import { gunzipSync } from "node:zlib";
import type { Endpoint } from "@fetchwork/endpoint";
import { Client } from "@fetchwork/http";
import { undiciTransport } from "@fetchwork/http/undici";
import { signInLimit } from "./blog.ts";

/** Asks for an article that it has already: the answer is 304 and has no body. */
export async function getAgain(client: Client, api: Endpoint, id: string): Promise<void> {
  const shown = await client.send(api("GET /articles/{id}", { id }));
  const etag = shown.header("etag") ?? "";
  assert.match(etag, /^"/);
  const headers = { "if-none-match": etag };
  const again = await client.send(api("GET /articles/{id}", { id, headers }));
  assert.deepEqual([again.statusCode, again.body], [304, ""]);
}

/** Gets the list with gzip, as it is on the wire, and without: it is smaller, and the same. */
export async function getCompressed(client: Client, api: Endpoint): Promise<void> {
  const transport = undiciTransport({ decompress: false });
  const raw = new Client({ transport });
  try {
    const request = api("GET /articles", { headers: { "accept-encoding": "gzip" } });
    const compressed = await raw.send(request);
    assert.equal(compressed.header("content-encoding"), "gzip");
    const whole = (await client.send(api("GET /articles"))).bytes();
    assert.ok(compressed.bytes().byteLength < whole.byteLength / 2);
    assert.deepEqual(gunzipSync(compressed.bytes()), Buffer.from(whole));
  } finally {
    await raw.close();
    await transport.close();
  }
}

/** Asks as a browser does before a page of another origin changes something. */
export async function preflight(client: Client, api: Endpoint): Promise<void> {
  const headers = {
    origin: "https://shop.example",
    "access-control-request-method": "PATCH",
    "access-control-request-headers": "authorization,content-type",
  };
  const answer = await client.send(api("OPTIONS /articles/1", { headers }));
  assert.ok(answer.statusCode === 200 || answer.statusCode === 204);
  assert.equal(answer.header("access-control-allow-origin"), "*");
  assert.match(answer.header("access-control-allow-methods") ?? "", /PATCH/);
  assert.match(answer.header("access-control-allow-headers") ?? "", /authorization/i);
  assert.equal(answer.header("access-control-max-age"), "600");
}

/** Guesses until the limit of sign-ins is met; some of them were used before. */
export async function guess(client: Client, api: Endpoint, used: number): Promise<void> {
  const statuses: number[] = [];
  for (let left = signInLimit - used; left >= 0; left -= 1) {
    const answer = await client.send(api("POST /auth", { access_token: `guess ${left}` }));
    statuses.push(answer.statusCode);
    if (left === 0) assert.match(answer.header("retry-after") ?? "", /^\d+$/);
  }
  assert.deepEqual(statuses, [...Array<number>(signInLimit - used).fill(401), 429]);
}
