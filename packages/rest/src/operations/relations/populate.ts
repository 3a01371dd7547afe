import type { Stored, UntypedWhere } from "@fetchwork/documents";
import { readerAt } from "../../account.ts";
import type { Fields } from "../../fields.ts";
import { listLimits } from "../../plan/list-limits.ts";
import type { PopulateTree } from "../../plan/populate-parameter.ts";
import { allows } from "../../plan/resource-access.ts";
import { referenceOf, relationOf } from "../../plan/resource-graph.ts";
import { Problem } from "../../problem.ts";
import type { ResourceCall } from "../../resource/call.ts";
import type { Inverse, Reference, Resource } from "../../resource/resource.ts";
import { readOwners } from "../owners.ts";
import { identifiersIn } from "./check-references.ts";

/** Maximum shown documents of one relation; others stay identifiers, or are left out. */
const maxDocuments = 1_000;

/** Documents and how they are shown, in the same order. */
export interface ShownDocuments {
  readonly resource: Resource;
  readonly documents: readonly Stored<Fields>[];
  readonly rows: readonly Fields[];
}

/**
 * Shows with documents what belongs to them: in the place of an identifier its document as the
 * caller sees it, the identifier itself where the caller may not see it, unless its field is not
 * shown, and `null` where there is none.
 *
 * Each relation is read at once for all documents of its level.
 *
 * @param tree - Relations to follow, as `readPopulate` returns them.
 */
export async function populate(
  call: ResourceCall<unknown>,
  { resource, documents, rows }: ShownDocuments,
  tree: PopulateTree,
): Promise<readonly Fields[]> {
  const populated = rows.map((row) => ({ ...row }));
  for (const [name, following] of tree) {
    const relation = relationOf(resource, name);
    if (!relation || documents.length === 0) continue;
    const value =
      "inverse" in relation
        ? await followInverse(call, { resource, documents, relation, following })
        : await followReference(call, { resource, documents, relation, following });
    for (const [index, document] of documents.entries()) {
      const row = populated[index];
      const found = value(document);
      if (row && found !== undefined) row[name] = found;
    }
  }
  return populated;
}

type ValueOf = (document: Stored<Fields>) => unknown;

/** A relation of documents, and the relations to follow from where it leads. */
interface Followed<Kind extends Inverse | Reference> {
  readonly resource: Resource;
  readonly documents: readonly Stored<Fields>[];
  readonly relation: Kind;
  readonly following: PopulateTree;
}

async function followReference(
  call: ResourceCall<unknown>,
  { resource, documents, relation, following }: Followed<Reference>,
): Promise<ValueOf> {
  const target = relation.to();
  const ids = [
    ...new Set(documents.flatMap((document) => identifiersIn(document, relation))),
  ].slice(0, maxDocuments);
  const found = await readerOf(call).collection(target.collection).getMany(ids);
  const there = found.filter((document) => document !== undefined);
  const shown = await showAll(callFor(target, call), { target, documents: there, following });
  const asked = new Map(ids.map((id, index) => [id, found[index] !== undefined]));
  // The field of the owner shows the public view of the user instead of the identifier.
  const isShown = relation.field !== resource.owner;
  const valueOf = (id: string): unknown =>
    shown.get(id) ?? (asked.get(id) === false ? null : isShown ? id : undefined);

  return (document) => {
    if (resource.views.hides(relation.field, call, document)) return undefined;
    const own = identifiersIn(document, relation);
    if (relation.many) return own.map(valueOf).filter((value) => value !== undefined);
    return own[0] === undefined ? undefined : valueOf(own[0]);
  };
}

/** Shows documents whose rule and hooks let the caller see them, by identifier. */
async function showAll(
  call: ResourceCall<unknown>,
  {
    target,
    documents,
    following,
  }: {
    readonly target: Resource;
    readonly documents: readonly Stored<Fields>[];
    readonly following: PopulateTree;
  },
): Promise<ReadonlyMap<string, Fields>> {
  const seen: Stored<Fields>[] = [];
  const rows: Fields[] = [];
  const owners = await readOwners(call, { resource: target, documents });
  for (const document of documents) {
    const row = await showOne(document);
    if (!row) continue;
    seen.push(document);
    rows.push(row);
  }
  const whole =
    following.size === 0
      ? rows
      : await populate(call, { resource: target, documents: seen, rows }, following);
  return new Map(seen.map(({ id }, index) => [id, whole[index] ?? {}]));

  async function showOne(document: Stored<Fields>): Promise<Fields | undefined> {
    const own = { ...call, params: { id: document.id }, document };
    return unlessRefused(async () => {
      if (!(await allows(target, "show", { call: own, document }))) return undefined;
      const row = target.present(document, own);
      const shown = owners ? owners.show(document, row) : row;
      await target.hooks.beforeShow?.({ call: own, id: document.id });
      return (await target.hooks.afterShow?.({ call: own, document, shown })) ?? shown;
    });
  }
}

/** A rule or a hook that refuses by a `Problem` hides what it is asked for, and nothing else. */
async function unlessRefused<R>(work: () => Promise<R> | R): Promise<R | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return undefined;
    throw error;
  }
}

async function followInverse(
  call: ResourceCall<unknown>,
  { resource, documents, relation, following }: Followed<Inverse>,
): Promise<ValueOf> {
  const target = relation.to();
  const reference = referenceOf(relation, resource);
  const own = { ...callFor(target, call), params: {}, document: undefined };
  const question = { call: own, document: undefined };
  const isListed = await unlessRefused(() => allows(target, "list", question));
  if (isListed !== true) return () => undefined;
  // The field tells which documents lead here.
  if (target.views.hides(reference.field, own)) return () => undefined;
  const limits = await listLimits(target, own);
  const groups = await findGroups(call, { documents, relation, reference, limits });
  const all = [...new Map([...groups.values()].flat().map((one) => [one.id, one])).values()];
  const shown = await showAll(own, { target, documents: all, following });
  return ({ id }) => groups.get(id)?.flatMap((one) => shown.get(one.id) ?? []);
}

/**
 * Finds what leads to each document: with one query for all, and one for each that it has not
 * served wholly. Documents for which nothing is left of those that are shown have no group.
 */
async function findGroups(
  call: ResourceCall<unknown>,
  {
    documents,
    relation: { limit, to },
    reference,
    limits,
  }: {
    readonly documents: readonly Stored<Fields>[];
    readonly relation: Inverse;
    readonly reference: Reference;
    readonly limits: UntypedWhere | undefined;
  },
): Promise<ReadonlyMap<string, readonly Stored<Fields>[]>> {
  const { field, many } = reference;
  const others = readerOf(call).collection(to().collection);
  const ids = documents.map(({ id }) => id);
  const find = (some: readonly string[], maxFound: number): Promise<readonly Stored<Fields>[]> => {
    const leads: UntypedWhere = { [field]: many ? { containsAny: some } : { in: some } };
    return others.find({ where: limits ? { and: [leads, limits] } : leads, limit: maxFound });
  };
  const maxFound = Math.min(ids.length * limit, maxDocuments);
  const found = await find(ids, maxFound);
  const groups = new Map<string, Stored<Fields>[]>(ids.map((id) => [id, []]));
  for (const one of found) {
    for (const id of new Set(identifiersIn(one, reference))) groups.get(id)?.push(one);
  }
  let left = maxDocuments;
  for (const [id, group] of groups) {
    const isWhole = found.length < maxFound || group.length >= limit;
    const own = left === 0 ? [] : isWhole ? group.slice(0, limit) : [...(await find([id], limit))];
    if (left === 0 || own.length > left) {
      left = 0;
      groups.delete(id);
      continue;
    }
    left -= own.length;
    groups.set(id, own);
  }
  return groups;
}

/** A key shows of resources outside of its scopes what everyone sees, as their own routes do. */
function callFor({ path }: Resource, call: ResourceCall<unknown>): ResourceCall<unknown> {
  return { ...call, user: readerAt(path, call.user) };
}

/** Reads are part of the transaction of the call, where it has one. */
function readerOf({ store, transaction }: ResourceCall<unknown>): Pick<typeof store, "collection"> {
  return transaction ?? store;
}
