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
 * Does what the relations to a document say of its deletion: refuses it, deletes what belongs to the document, or takes
 * its identifier out. All of it is part of the transaction of the deletion, with the hooks before and after a removal of
 * what is deleted; those after it are returned, to be run after the commit.
 *
 * @throws Problem 409 where a relation restricts it, and where it would reach more than 1,000 documents.
 */
export async function releaseReferences(
  call: ResourceCall<unknown>,
  transaction: Transaction,
  { resource, id }: { readonly resource: Kept; readonly id: string },
): Promise<readonly AfterRemoval[]> {
  const following: AfterRemoval[] = [];
  const going = new Set([keyOf(resource, id)]);
  let left = maxDocuments;

  await release(resource, id);
  return following;

  async function release(target: Kept, targetId: string): Promise<void> {
    for (const referrer of call.resources.referrersOf(target)) await releaseBy(referrer, targetId);
  }

  async function releaseBy(other: Referrer, targetId: string): Promise<void> {
    const { reference } = other;
    const { field, many, onDelete } = reference;
    const documents = transaction.collection(other.collection);
    const where = { [field]: many ? { contains: targetId } : targetId };
    // Those that go anyway hold nothing up, so one more than they are tells whether another one is there.
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
    for (const document of found) {
      await remove(other, document);
    }
  }

  async function remove(other: Referrer, found: Stored<Fields>): Promise<void> {
    const { hooks } = other;
    const documents = transaction.collection(other.collection);
    // A hook for another document may have changed it.
    const current = hooks.beforeRemove || hooks.afterRemove ? await documents.get(found.id) : found;
    if (current === undefined) return;
    await hooks.beforeRemove?.({ call, transaction, current });
    await release(other, current.id);
    await documents.remove(current.id);
    following.push(() => hooks.afterRemove?.({ call, document: current }));
  }
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
