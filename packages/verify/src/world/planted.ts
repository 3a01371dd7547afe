import type { Stored } from "@fetchwork/documents";
import type { Fields, Resource } from "@fetchwork/rest";
import type { ShownRequest } from "../finding.ts";
import { marksIn } from "./canary.ts";

/** Members of an enum of which documents are planted: each costs requests. */
export const maxStates = 8;

/** A document with a mark in each field. */
export interface Planted {
  readonly resource: Resource;
  /** The document as the store keeps it. */
  readonly document: Stored<Fields>;
  /** Whether it was removed from a resource with `softDelete`, so that only admins see it. */
  readonly isRemoved?: boolean;
}

/** A request for a document. */
export function requestFor(
  method: string,
  { resource, document }: Planted,
  body?: unknown,
): ShownRequest {
  return { method, path: `${resource.path}/${document.id}`, body };
}

/** Where a mark is from. */
export interface Place extends Planted {
  readonly field: string;
}

/** All documents, and the fields that marks are from. */
export class Garden {
  readonly #byId = new Map<string, Planted>();
  readonly #byMark = new Map<string, Place>();

  add(planted: Planted): void {
    this.#byId.set(planted.document.id, planted);
    for (const [field, value] of Object.entries(planted.document)) {
      if (field === "id") continue;
      for (const mark of marksIn(value)) this.#byMark.set(mark, { ...planted, field });
    }
  }

  byId(id: unknown): Planted | undefined {
    return typeof id === "string" ? this.#byId.get(id) : undefined;
  }

  byMark(mark: string): Place | undefined {
    return this.#byMark.get(mark);
  }

  /** The documents of a resource, or all. */
  of(resource?: Resource): readonly Planted[] {
    const all = [...this.#byId.values()];
    return resource ? all.filter((one) => one.resource === resource) : all;
  }
}
