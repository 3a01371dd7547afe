import type { Resource, Viewer } from "@fetchwork/rest";

/** Somebody who sends requests. */
export interface Caller {
  /** `anonymous`, `user`, `admin`, `master` or `key`. */
  readonly name: string;
  readonly viewer: Viewer;
  /** Absent for nobody. */
  readonly token: string | undefined;
}

/** Returns the kind of a caller: the name, or `owner` for a document of the caller. */
export function kindOf(caller: Caller, resource: Resource, document?: object): string {
  if (caller.name !== "user" || document === undefined) return caller.name;
  return isOwner(caller, resource, document) ? "owner" : "user";
}

/** Whether a document belongs to a caller. */
export function isOwner({ viewer }: Caller, { views }: Resource, document: object): boolean {
  return views.kindOf(viewer, document) === "owner";
}
