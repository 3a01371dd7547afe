import { isObject } from "@fetchwork/kit";
import { InputError, queryError } from "../api/errors.ts";
import type { InsertOptions, WriteOptions } from "../api/changing.ts";
import { isPossibleId } from "../document/id.ts";
import { checkQueryOptions } from "../api/check-options.ts";

/** A document on its way in. */
export interface NewDocument {
  readonly id: string | undefined;
  /** The JSON text of the caller's fields. */
  readonly text: string;
}

/** A version of a document, and when it was added if needed: ids may be used again. */
export interface TargetVersion {
  readonly version: number;
  readonly createdAt?: string | undefined;
}

/** The version of a document that is to be changed. */
export interface Target {
  readonly id: string;
  readonly ifVersion: TargetVersion | undefined;
  /** The token of a lease that must be held. */
  readonly lease?: string | undefined;
}

/** Checks which document is to be changed. */
export function parseTarget(id: string, options: WriteOptions): Target {
  checkQueryOptions("a change", options, ["ifVersion", "lease"]);
  const { lease } = options;
  const ifVersion = parseVersion(options.ifVersion);
  if (lease !== undefined && typeof lease !== "string") {
    throw queryError('"lease" must be the token of a lease');
  }
  return { id: checkId(id), ifVersion, lease };
}

function parseVersion(ifVersion: WriteOptions["ifVersion"]): TargetVersion | undefined {
  if (ifVersion === undefined) return undefined;
  const { version, createdAt }: TargetVersion = isObject(ifVersion)
    ? ifVersion
    : { version: ifVersion };
  const isTime = typeof createdAt === "string" || !isObject(ifVersion);
  if (Number.isSafeInteger(version) && isTime) return { version, createdAt };
  throw queryError('"ifVersion" must be a whole number, or have "version" and "createdAt"');
}

/** Checks the options of a new document, and returns its id. */
export function parseInsert(options: InsertOptions): string | undefined {
  checkQueryOptions("insert", options, ["id"]);
  if (options.id !== undefined) checkNewId(options.id);
  return options.id;
}

/** Checks that several of something are given as a list. */
export function checkList<T>(name: string, list: readonly T[]): readonly T[] {
  const given: unknown = list;
  if (!Array.isArray(given)) throw queryError(`the ${name} must be a list`);
  return list;
}

/** Checks an id that may be any. */
export function checkId(id: unknown): string {
  if (typeof id === "string") return id;
  throw new InputError("ERR_DOCUMENTS_ID", `an id must be a string, got ${typeof id}`);
}

/** Checks the id of a new document. */
export function checkNewId(id: unknown): void {
  if (isPossibleId(checkId(id))) return;
  throw new InputError(
    "ERR_DOCUMENTS_ID",
    "the id is invalid, expected 1 to 128 ASCII letters, digits and -._~:@+=",
  );
}
