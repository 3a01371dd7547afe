import { type Caller, type Collection, kindOf, type Planted } from "../api.ts";
import type { Matrix } from "../matrix.ts";
import type { Answer } from "../sender.ts";

/**
 * Sets each field of each document as every caller, creates documents with fields of the program,
 * and removes them.
 */
export async function tryWrites(matrix: Matrix): Promise<void> {
  for (const collection of matrix.api.collections) {
    for (const caller of matrix.api.callers) await tryCreate(matrix, caller, collection);
    for (const caller of matrix.api.callers) {
      for (const document of collection.documents)
        await tryUpdates(matrix, caller, { collection, document });
    }
    for (const caller of matrix.api.callers) {
      for (const owner of new Set(collection.documents.map((one) => one.owner))) {
        await tryRemoval(matrix, caller, { collection, owner: owner ?? "admin" });
      }
    }
  }
}

async function tryCreate(matrix: Matrix, caller: Caller, collection: Collection): Promise<void> {
  const { api, sender } = matrix;
  const path = collection.createPath ?? collection.path;
  for (const [field, attack] of [
    ["", () => undefined] as const,
    ...Object.entries(collection.attacks),
  ]) {
    const sample = collection.sample(matrix.next());
    const value = attack(matrix.next());
    const body = api.dialect.body(
      field === "" ? sample : { ...sample, [field]: value },
      collection,
    );
    const answer = await sender.send(caller, { method: "POST", path, body });
    const id = answer.status < 300 ? api.dialect.idOf(answer.json) : undefined;
    if (id === undefined) continue;
    const kind = kindOf(caller, { id, owner: caller.name, values: {} });
    if (!collection.mayCreate(caller.name)) {
      addWritten(matrix, { answer, caller: kind, collection, way: "create" });
      return;
    }
    const stored = await api.observe(collection, id);
    if (field === "" || field in sample || !isSame(stored?.[field], value)) continue;
    const document = { id, owner: caller.name, values: {} };
    matrix.note("written", { caller, collection, document }, { answer, field, way: "create" });
  }
}

async function tryUpdates(
  matrix: Matrix,
  caller: Caller,
  { collection, document }: { readonly collection: Collection; readonly document: Planted },
): Promise<void> {
  const { api, sender } = matrix;
  const path = `${collection.path}/${document.id}`;
  for (const [field, attack] of Object.entries(collection.attacks)) {
    const before = await api.observe(collection, document.id);
    const value = attack(matrix.next());
    const request = {
      method: api.dialect.updateMethod,
      path,
      body: api.dialect.body({ [field]: value }, collection),
    };
    const answer = await sender.send(caller, request);
    if (answer.status === 0 || answer.status >= 400) continue;
    const held = await collection.holds?.(document.id, field, value);
    const after = await api.observe(collection, document.id);
    const isChanged = !isSame(before?.[field], value) && isSame(after?.[field], value);
    const isWritten = held ?? isChanged;
    if (isWritten) {
      matrix.note("written", { caller, collection, document }, { answer, field, way: "update" });
    }
  }
}

async function tryRemoval(
  matrix: Matrix,
  caller: Caller,
  { collection, owner }: { readonly collection: Collection; readonly owner: string },
): Promise<void> {
  const { api, sender } = matrix;
  const document = await api.plant(collection, owner);
  const path = `${collection.path}/${document.id}`;
  const answer = await sender.send(caller, { method: "DELETE", path });
  if ((await api.observe(collection, document.id)) !== undefined) return;
  const kind = kindOf(caller, document);
  if (!collection.mayRemove(kind))
    addWritten(matrix, { answer, caller: kind, collection, way: "remove" });
}

function addWritten(
  matrix: Matrix,
  shown: {
    readonly answer: Answer;
    readonly caller: string;
    readonly collection: Collection;
    readonly way: string;
  },
): void {
  const { answer, caller, collection, way } = shown;
  const { request, status } = answer;
  matrix.add({
    code: "document-written",
    collection: collection.name,
    caller,
    way,
    request,
    status,
  });
}

function isSame(stored: unknown, value: unknown): boolean {
  return stored !== undefined && JSON.stringify(stored) === JSON.stringify(value);
}
