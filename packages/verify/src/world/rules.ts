import type { Operation, Resource } from "@fetchwork/rest";
import type { Caller } from "../caller.ts";
import type { Planted } from "./planted.ts";

/** Subject of an operation: a document, or a resource of which one is created. */
export interface Subject {
  readonly resource: Resource;
  readonly document?: object | undefined;
}

/** Applies the rule of an operation; `undefined` for a function, which only a request can ask. */
export function ruleLets(
  caller: Caller,
  operation: Operation,
  { resource, document }: Subject,
): boolean | undefined {
  const rule = resource.access[operation];
  const { isMaster = false } = caller.viewer;
  if (typeof rule === "function") return undefined;
  if (rule === "master") return isMaster;
  // The master key sees what admins see, and passes no rule for users.
  const kind = isMaster ? "public" : resource.views.kindOf(caller.viewer, document);
  return rights[kind] >= rights[rule];
}

/** Fields that callers may see, by the definitions. */
export class Visibility {
  /** Documents that callers see, by caller and identifier. */
  readonly #seen = new Set<string>();

  /** Notes what requests have shown, which counts where a function or a hook may refuse it. */
  note(caller: Caller, planted: Planted, shown: Record<"list" | "show", boolean>): void {
    const { hooks } = planted.resource;
    const isOpen = hooks.beforeShow === undefined && hooks.afterShow === undefined;
    const list = ruleLets(caller, "list", planted);
    const show = ruleLets(caller, "show", planted);
    const isListed = list !== false && (shown.list || (list === true && !hooks.beforeList));
    const isShown = show !== false && (shown.show || (show === true && isOpen));
    // A caller who may change a document by a rule with a name is shown it by the change.
    const isChanged = show === undefined && ruleLets(caller, "update", planted) === true;
    if (isListed || isShown || isChanged) this.#seen.add(keyOf(caller, planted.document));
  }

  /** Whether a caller may see a document, alone or in a list. The master key sees all. */
  #showsDocument(caller: Caller, planted: Planted): boolean {
    if (caller.viewer.isMaster === true) return true;
    if (planted.isRemoved === true) return caller.viewer.user?.role === "admin";
    return this.#seen.has(keyOf(caller, planted.document));
  }

  /** Fields of a document that a caller may see. Everyone sees the public fields of users. */
  fieldsFor(caller: Caller, planted: Planted): ReadonlySet<string> {
    const { document, resource } = planted;
    const { shownOwner, views } = resource;
    if (!this.#showsDocument(caller, planted)) {
      return new Set(resource.owner === "id" ? views.fieldsOf(document, {}) : []);
    }
    const own = shownOwner !== undefined && !views.hides(shownOwner, caller.viewer, document);
    return new Set([...views.fieldsOf(document, caller.viewer), ...(own ? [shownOwner] : [])]);
  }
}

function keyOf({ name, viewer }: Caller, { id }: Planted["document"]): string {
  return `${name} ${viewer.user?.id ?? ""} ${id}`;
}

/** Whether a caller may set a field: of a document that is changed, or of one that is created. */
export function isWritable(
  caller: Caller,
  field: string,
  { resource, document }: Subject,
): boolean {
  const { createRules, immutable, named, readOnly, updateRules, views } = resource;
  if (!named.has(field) || readOnly.has(field)) return false;
  if (document !== undefined && immutable.has(field)) return false;
  const rule = (document ? updateRules : createRules).get(field) ?? "public";
  const own = { [resource.owner ?? ""]: caller.viewer.user?.id };
  const kind = views.kindOf(caller.viewer, document ?? own);
  return rights[kind] >= rights[rule];
}

/** Ranks of callers, and of rules: each caller may do what those of lower rank may. */
const rights = { public: 0, user: 1, owner: 2, admin: 3 } as const;
