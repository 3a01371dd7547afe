import { createHash } from "node:crypto";
import { DamagedError } from "../document/damaged-error.ts";
import { toStored } from "../document/stored.ts";
import { type ParsedSearch, parseSearch } from "./derived.ts";
import type { Row } from "./operation.ts";

/**
 * One way of deriving search texts from the documents of a collection: which fields, and how they
 * are folded. Programs of several versions have one each, and all of them are kept up to date.
 */
export interface Generation extends ParsedSearch {
  /** Derived data, as the registry has it. */
  readonly derived: string;
  /** Suffix of the tables of search texts: empty for a single generation, else a hash. */
  readonly suffix: string;
}

/** Milliseconds without use by any program after which a generation is dropped: 7 days. */
export const unusedTime: number = 7 * 86_400_000;

/** How often a program notes that it uses its generations, in milliseconds: 1 hour. */
export const touchInterval = 3_600_000;

/** Describes a generation of the registry. */
export function describeGeneration(derived: string, suffix: string): Generation {
  return { derived, suffix, ...parseSearch(derived) };
}

/** Returns the suffix of a generation where another one has the empty suffix. */
export function hashOf(derived: string): string {
  return createHash("sha256").update(derived).digest("hex").slice(0, 12);
}

/**
 * Derives the text of a row; undefined for a damaged document. That is found by a check, and does
 * not end the building of all others.
 */
export function textOfRow(
  collection: string,
  row: Row,
  { textOf }: Pick<Generation, "textOf">,
): string | undefined {
  try {
    return textOf(toStored(collection, row));
  } catch (error) {
    if (error instanceof DamagedError) return undefined;
    throw error;
  }
}
