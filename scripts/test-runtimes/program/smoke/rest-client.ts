import { createClient, ProblemError } from "@fetchwork/rest/client";
import type { NoteRoutes } from "../notes-api.ts";
import { expect, type Platform } from "../platform.ts";
import { signIn } from "../sign-in.ts";

const masterKey = "a-master-key-of-some-length-for-the-smoke-test";

/**
 * Calls an API, which Node serves, from the runtime: creates, lists, changes, and hears of a
 * refusal.
 */
export async function smoke({ name, peer }: Platform): Promise<void> {
  const email = `${name}-${crypto.randomUUID()}@example.com`;
  const token = await signIn(peer, { masterKey, email });
  const client = createClient<NoteRoutes>({ baseUrl: peer, token });
  const text = crypto.randomUUID();
  const { data, etag } = await client.notes.create({ text, stars: 4 });
  const listed = await client.notes.list({ q: text });
  expect(
    "a list",
    listed.data.map(({ stars }) => stars),
    [4],
  );
  const changed = await client.notes.update(data.id, { stars: 5 }, { ifMatch: etag });
  expect("a change", changed.data.stars, 5);
  const error: unknown = await client.notes.create({ text: "" }).catch((caught: unknown) => caught);
  expect("a refusal", error instanceof ProblemError && [error.status, error.param], [400, "text"]);
}
