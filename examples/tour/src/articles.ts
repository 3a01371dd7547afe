import { strict as assert } from "node:assert";
import type { Endpoint } from "@fetchwork/endpoint";
import type { Client } from "@fetchwork/http";

/** An article of the blog. */
export interface Article {
  readonly id: string;
  readonly title: string;
  readonly content: string;
}

/** Writes an article. */
export async function write(
  client: Client,
  api: Endpoint,
  article: Omit<Article, "id">,
): Promise<Article> {
  const response = await client.send(api("POST /articles", article));
  assert.equal(response.statusCode, 201);
  const written = response.json<Article>();
  assert.equal(response.header("location"), `/articles/${written.id}`);
  assert.deepEqual({ title: written.title, content: written.content }, article);
  return written;
}

/** Lists articles by a word of them. */
export async function find(client: Client, api: Endpoint, q: string): Promise<readonly Article[]> {
  const response = await client.send(api("GET /articles", { q, limit: 10 }));
  assert.equal(response.statusCode, 200);
  const found = response.json<readonly Article[]>();
  assert.equal(response.header("x-total-count"), String(found.length));
  return found;
}

/**
 * Changes a title, if nobody else has changed the article since; a second try with the old
 * version is refused.
 */
export async function retitle(
  client: Client,
  api: Endpoint,
  { id, title }: Omit<Article, "content">,
): Promise<void> {
  const shown = await client.send(api("GET /articles/{id}", { id }));
  const headers = { "if-match": shown.header("etag") ?? "" };
  const change = api("PATCH /articles/{id}", { id, title, headers });
  const changed = await client.send(change);
  assert.equal(changed.statusCode, 200);
  assert.equal(changed.json<Article>().title, title);
  assert.equal((await client.send(change)).statusCode, 412);
}

/** Removes an article. */
export async function remove(client: Client, api: Endpoint, id: string): Promise<void> {
  assert.equal((await client.send(api("DELETE /articles/{id}", { id }))).statusCode, 204);
  assert.equal((await client.send(api("GET /articles/{id}", { id }))).statusCode, 404);
}
