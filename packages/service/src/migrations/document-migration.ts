import { isObject } from "@fetchwork/kit";

/** The fields of a document, without `id`, `version`, `createdAt` and `updatedAt`. */
export type MigratedFields = Readonly<Record<string, unknown>>;

/** A change of the documents of one collection. */
export interface DocumentChange {
  /** Name of the collection, one that the project defines. */
  readonly collection: string;
  /**
   * Returns the fields of a document after the change, or `undefined` for one that stays as it is.
   * It is synchronous, and must not change a document that has the new form already.
   */
  readonly change: (document: MigratedFields, id: string) => MigratedFields | undefined;
  /** The opposite of `change`. Default: the migration cannot be undone. */
  readonly undo?: DocumentChange["change"] | undefined;
}

/** Migration that a file of `src/migrations` exports as `migration`. */
export interface DocumentMigration {
  /** The number, whole and from 1, which the name of the file begins with. */
  readonly id: number;
  /** Description in 1 to 200 characters. A migration that ran keeps its name. */
  readonly name: string;
  /** The changes. Changes of one collection are made together, in this order. */
  readonly changes: readonly DocumentChange[];
}

/** Whether a value has the form of a migration. */
export function isMigration(value: unknown): value is DocumentMigration {
  if (!isObject(value)) return false;
  const { id, name, changes } = value;
  return (
    Number.isSafeInteger(id) &&
    Number(id) >= 1 &&
    typeof name === "string" &&
    name.length >= 1 &&
    name.length <= 200 &&
    Array.isArray(changes) &&
    changes.length > 0 &&
    changes.every(isChange)
  );
}

function isChange(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { collection, change, undo } = value;
  const isUndo = undo === undefined || typeof undo === "function";
  return typeof collection === "string" && typeof change === "function" && isUndo;
}
