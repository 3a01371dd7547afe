import { openStore } from "@fetchwork/documents";
import { runHandler } from "@fetchwork/http";
import { createNotesApi, masterKey } from "../notes-api.ts";
import { expect, type Platform } from "../platform.ts";
import { signIn } from "../sign-in.ts";

/**
 * Serves an API on the runtime's own server: a user signs up and in, writes notes, lists and
 * changes them.
 */
export async function smoke(platform: Platform): Promise<void> {
  const store = await openStore("sqlite::memory:");
  const api = createNotesApi(store);
  const listener = await platform.listen((request) => runHandler(api.handler, request, {}));
  const { origin } = listener;
  const token = await signIn(origin, { masterKey, email: "ada@example.com" });
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const create = (body: unknown): Promise<Response> =>
    fetch(`${origin}/notes`, { method: "POST", headers, body: JSON.stringify(body) });

  const refused = await create({ text: "" });
  const problem = (await refused.json()) as { readonly param?: string };
  expect("an empty note", [refused.status, problem.param], [400, "text"]);
  for (const stars of [1, 2, 3]) {
    const made = await create({ text: `Tea number ${stars}`, stars });
    await made.body?.cancel();
    expect("a note", made.status, 201);
  }
  const listed = await fetch(`${origin}/notes?q=tea&stars[gte]=2&sort=-stars&fields=id,stars`);
  const notes = (await listed.json()) as readonly { readonly id: string; readonly stars: number }[];
  expect(
    "a list",
    notes.map(({ stars }) => stars),
    [3, 2],
  );
  expect("its size", listed.headers.get("x-total-count"), "2");

  const url = `${origin}/notes/${notes[0]?.id}`;
  const shown = await fetch(url);
  await shown.body?.cancel();
  const etag = shown.headers.get("etag") ?? "";
  const patch = (): Promise<Response> =>
    fetch(url, { method: "PATCH", headers: { ...headers, "if-match": etag }, body: '{"stars":5}' });
  for (const status of [200, 412]) {
    const changed = await patch();
    await changed.body?.cancel();
    expect("a conditional change", changed.status, status);
  }
  const openApi = (await (await fetch(`${origin}/openapi.json`)).json()) as { openapi: string };
  expect("the OpenAPI document", openApi.openapi.slice(0, 2), "3.");
  await listener.close();
  await store.close();
}
