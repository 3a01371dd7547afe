import type { Stored, Transaction } from "@fetchwork/documents";
import type { Fields } from "../../fields.ts";
import { Problem } from "../../problem.ts";
import type { ResourceCall } from "../../resource/call.ts";
import type { Kept, Referrer } from "../../resource/relations/referrers.ts";
import { view } from "../../view.ts";

/** Runs a hook after the removal of a document. */
export type AfterRemoval = () => Promise<void> | void;

/** Documents that one deletion changes or deletes at most. */
const maxDocuments = 1_000;

/**
 * Does what the relations to a document say of its deletion: refuses it, deletes what belongs to
 * the document, or takes its identifier out. All of it is part of the transaction of the deletion,
 * with the hooks of what is deleted; those after a removal are returned, to be run after the
 * commit.
 *
 * @throws Problem 409 where a relation restricts it, and where it would reach more than 1,000
 * documents.
 */
export async function releaseReferences(
  call: ResourceCall<unknown>,
  transaction: Transaction,
  { resource, id }: { readonly resource: Kept; readonly id: string },
): Promise<readonly AfterRemoval[]> {
  const following: AfterRemoval[] = [];
  const going = new Set([keyOf(resource, id)]);
  let left = maxDocuments;
  let hooksRun = 0;

  await release(resource, id);
  return following;

  async function release(target: Kept, targetId: string): Promise<void> {
    // Again after hooks, which may have added what refers to it.
    for (let before = -1; before !== hooksRun;) {
      before = hooksRun;
      for (const referrer of call.resources.referrersOf(target)) {
        await releaseBy(referrer, targetId);
      }
    }
  }

  async function releaseBy(other: Referrer, targetId: string): Promise<void> {
    const { reference } = other;
    const { field, many, onDelete } = reference;
    const documents = transaction.collection(other.collection);
    const where = { [field]: many ? { contains: targetId } : targetId };
    // Documents that go anyway hold nothing up, so one more than they are tells whether another is
    // there.
    const limit = onDelete === "restrict" ? going.size + 1 : left + going.size + 1;
    const found = (await documents.find({ where, limit })).filter(
      (document) => !going.has(keyOf(other, document.id)),
    );
    if (found.length === 0) return;
    if (onDelete === "restrict") {
      throw new Problem(409, { detail: `${other.plural} refer to it` });
    }
    left -= found.length;
    if (left < 0) {
      throw new Problem(409, { detail: `more than ${maxDocuments} documents belong to it` });
    }
    if (onDelete === "nullify") {
      for (const document of found) {
        await documents.replace(document.id, withoutId(document, reference, targetId));
      }
      return;
    }
    for (const document of found) going.add(keyOf(other, document.id));
    for (const document of found) await remove(other, document, targetId);
  }

  async function remove(other: Referrer, found: Stored<Fields>, targetId: string): Promise<void> {
    const { hooks, reference } = other;
    const documents = transaction.collection(other.collection);
    const hasHooks = hooks.beforeRemove !== undefined || hooks.afterRemove !== undefined;
    // A hook for another document may have changed it, or have given it to another one.
    const current = hasHooks ? await documents.get(found.id) : found;
    if (current === undefined || !refersTo(current, reference, targetId)) {
      going.delete(keyOf(other, found.id));
      return;
    }
    if (hooks.beforeRemove) {
      hooksRun += 1;
      await hooks.beforeRemove({ call, transaction, current });
    }
    await release(other, current.id);
    const isGone = await documents.remove(current.id);
    if (isGone) following.push(() => hooks.afterRemove?.({ call, document: current }));
  }
}

function refersTo(
  document: Stored<Fields>,
  { field, many }: Referrer["reference"],
  id: string,
): boolean {
  const value = document[field];
  return many ? Array.isArray(value) && value.includes(id) : value === id;
}

function withoutId(
  document: Stored<Fields>,
  { field, keepsNull, many }: Referrer["reference"],
  id: string,
): Fields {
  const fields = view(
    document,
    Object.keys(document).filter((name) => !storeFields.has(name) && name !== field),
  );
  const value = document[field];
  if (many && Array.isArray(value)) fields[field] = value.filter((one) => one !== id);
  else if (keepsNull) fields[field] = null;
  return fields;
}

const storeFields: ReadonlySet<string> = new Set(["id", "version", "createdAt", "updatedAt"]);

function keyOf({ collection }: Kept, id: string): string {
  return `${collection.name}/${id}`;
}
