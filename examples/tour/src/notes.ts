import { strict as assert } from "node:assert";
import type { Client } from "@fetchwork/http";
import { join } from "./accounts.ts";
import { apiAt } from "./api.ts";

/**
 * Calls the API of the resource that the agent has described: creates a note, finds it, and removes
 * it.
 */
export async function useNotes(client: Client, origin: string, masterKey: string): Promise<void> {
  const user = { email: "grace@example.com", password: "compiler", role: "user" } as const;
  const api = apiAt(origin, await join(client, { origin, masterKey, user }));
  const created = await client.send(api("POST /notes", { text: "Buy a moth net", pinned: true }));
  assert.equal(created.statusCode, 201, created.body);
  const note = created.json<{ readonly id: string; readonly text: string }>();
  assert.match(created.body, /"pinned":true/);
  const found = await client.send(api("GET /notes", { q: "moth" }));
  assert.deepEqual(
    found.json<readonly { readonly id: string }[]>().map(({ id }) => id),
    [note.id],
  );
  const refused = await client.send(api("POST /notes", { pinned: true }));
  assert.equal(refused.statusCode, 400);
  assert.equal(refused.json<{ readonly param?: string }>().param, "text");
  const removed = await client.send(api("DELETE /notes/{id}", { id: note.id }));
  assert.equal(removed.statusCode, 204);
}
