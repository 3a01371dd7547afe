import { expect } from "vitest";
import { masterKey } from "./api-client.ts";

/** Clients that do the same at the same time. */
const clients = Array.from({ length: 64 }, (_, index) => index);

/** Sends a request to one of the servers, as a load balancer does. */
export async function sendTo(
  origins: readonly string[],
  client: number,
  [method, path]: readonly [method: string, path: string],
  { json, headers = {} }: { json?: unknown; headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  const origin = origins[client % origins.length] ?? "";
  return fetch(new URL(path, origin), {
    method,
    headers: json === undefined ? headers : { "content-type": "application/json", ...headers },
    body: json === undefined ? null : JSON.stringify(json),
  });
}

/** Creates a user and signs it in. */
export async function joinAt(origin: string, email: string): Promise<string> {
  const json = { email, password: "123456", access_token: masterKey };
  expect((await sendTo([origin], 0, ["POST", "/users"], { json })).status).toBe(201);
  const session = await sendTo([origin], 0, ["POST", "/auth"], {
    json: { access_token: masterKey },
    headers: { authorization: `Basic ${btoa(`${email}:123456`)}` },
  });
  const { token } = (await session.json()) as { token: string };
  return token;
}

/** All register one email: one gets it. */
export async function raceForEmail(origins: readonly string[]): Promise<void> {
  const json = { email: "same@example.com", password: "123456", access_token: masterKey };
  const answers = await Promise.all(
    clients.map((client) => sendTo(origins, client, ["POST", "/users"], { json })),
  );
  expect(countsOf(answers)).toEqual({ 201: 1, 409: clients.length - 1 });
}

/** All change one article: with If-Match one of them does, without it nobody's change is lost. */
export async function raceToUpdate(origins: readonly string[]): Promise<void> {
  const token = await joinAt(origins[0] ?? "", "author@example.com");
  const authorization = `Bearer ${token}`;
  const create = ["POST", "/articles"] as const;
  const json = { title: "t", content: "c" };
  const created = await sendTo(origins, 0, create, { json, headers: { authorization } });
  const { id } = (await created.json()) as { id: string };
  const patch = ["PATCH", `/articles/${id}`] as const;
  const etag = created.headers.get("etag") ?? "";

  const conditional = await Promise.all(
    clients.map((client) =>
      sendTo(origins, client, patch, {
        json: { title: `from ${client}` },
        headers: { authorization, "if-match": etag },
      }),
    ),
  );
  expect(countsOf(conditional)).toEqual({ 200: 1, 412: clients.length - 1 });
  const winner = conditional.findIndex(({ status }) => status === 200);
  expect(await articleOf(origins, id)).toMatchObject({ title: `from ${winner}`, content: "c" });

  const free = await Promise.all(
    clients.map((client) =>
      sendTo(origins, client, patch, {
        json: client % 2 === 0 ? { title: `title ${client}` } : { content: `content ${client}` },
        headers: { authorization },
      }),
    ),
  );
  expect(countsOf(free)).toEqual({ 200: clients.length });
  const after = await articleOf(origins, id);
  expect(after).toMatchObject({
    title: expect.stringMatching(/^title \d+$/),
    content: expect.stringMatching(/^content \d+$/),
    etag: expect.stringMatching(new RegExp(`^"${clients.length + 2}~`)),
  });
  const versions = free.map(({ headers }) => headers.get("etag"));
  expect(new Set(versions).size).toBe(clients.length);
}

async function articleOf(origins: readonly string[], id: string): Promise<unknown> {
  const response = await sendTo(origins, 0, ["GET", `/articles/${id}`]);
  const fields = (await response.json()) as Readonly<Record<string, unknown>>;
  return { ...fields, etag: response.headers.get("etag") };
}

function countsOf(answers: readonly Response[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
