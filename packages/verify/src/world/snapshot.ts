import type { Store } from "@fetchwork/documents";
import type { Resource } from "@fetchwork/rest";
import type { Service } from "@fetchwork/service";
import type { Planted } from "./planted.ts";

/** Where the documents of a service are. */
interface Documents {
  readonly service: Service;
  readonly store: Store;
}

/** All documents by path and identifier. */
export type Snapshot = ReadonlyMap<string, Planted>;

/** Result of work, and the changes that it made. */
export interface Undone<Result> {
  readonly result: Result;
  readonly before: Snapshot;
  readonly after: Snapshot;
}

/** Does something, and puts all documents back as they were. */
export async function undo<Result>(
  documents: Documents,
  work: () => Promise<Result>,
): Promise<Undone<Result>> {
  const before = await snapshot(documents);
  const result = await work();
  const after = await snapshot(documents);
  await restore(documents, before, after);
  return { result, before, after };
}

/** All documents of all resources. */
export async function snapshot({ service, store }: Documents): Promise<Snapshot> {
  const all = new Map<string, Planted>();
  for (const resource of service.resources) {
    const found = await store.collection(resource.collection).find({ limit: 1000 });
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

/** Documents of a resource that have been created. */
export function createdIn(
  { after, before }: Undone<unknown>,
  resource: Resource,
): readonly Planted["document"][] {
  return [...after].flatMap(([key, one]) =>
    one.resource === resource && !before.has(key) ? [one.document] : [],
  );
}

async function restore({ store }: Documents, before: Snapshot, after: Snapshot): Promise<void> {
  for (const [key, { document, resource }] of after) {
    if (!before.has(key)) await store.collection(resource.collection).remove(document.id);
  }
  for (const [key, { document, resource }] of before) {
    if (textOf(after, key) === textOf(before, key)) continue;
    const { id, version: _version, createdAt: _created, updatedAt: _updated, ...fields } = document;
    const documents = store.collection(resource.collection);
    if (after.has(key)) await documents.replace(id, fields);
    else await documents.insert(fields, { id });
  }
}
