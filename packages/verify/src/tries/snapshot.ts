import type { Planted } from "../world/planted.ts";
import type { Trial } from "./trial.ts";

/** All documents by path and identifier. */
export type Snapshot = ReadonlyMap<string, Planted>;

/** All documents of all resources. */
export async function snapshot({ world }: Trial): Promise<Snapshot> {
  const all = new Map<string, Planted>();
  for (const resource of world.service.resources) {
    const found = await world.store.collection(resource.collection).find({ limit: 1000 });
    for (const document of found)
      all.set(`${resource.path} ${document.id}`, { resource, document });
  }
  return all;
}

/** A document without what every change sets. */
export function textOf(documents: Snapshot, key: string): string | undefined {
  const document = documents.get(key)?.document;
  return document && JSON.stringify({ ...document, version: 0, updatedAt: "" });
}

/** Puts all documents back as they were. */
export async function restore({ world }: Trial, before: Snapshot, after: Snapshot): Promise<void> {
  for (const [key, { document, resource }] of after) {
    const documents = world.store.collection(resource.collection);
    if (!before.has(key)) await documents.remove(document.id);
  }
  for (const [key, { document, resource }] of before) {
    if (textOf(after, key) === textOf(before, key)) continue;
    const { id, version: _version, createdAt: _created, updatedAt: _updated, ...fields } = document;
    const documents = world.store.collection(resource.collection);
    if (after.has(key)) await documents.replace(id, fields);
    else await documents.insert(fields, { id });
  }
}
