import type { Stored } from "@fetchwork/documents";
import type { Account } from "../account.ts";
import { etagOf } from "../etag.ts";
import type { Operation, ResourceRule } from "./access-rules.ts";
import { type CallerKind, fieldRuleLets, type RuleByField } from "./field-access.ts";
import type { ListRules } from "./list-rules.ts";

/** The viewer of documents: the caller of a request. */
export interface Viewer {
  /** Default: nobody in particular. */
  readonly user?: Pick<Account, "id" | "role"> | undefined;
  /** Whether the caller has shown the master key. Default: `false`. */
  readonly isMaster?: boolean | undefined;
}

/** Somebody who sees what admins see, for what the program itself tells admins. */
export const adminViewer: Viewer = { isMaster: true };

/** Fields of a resource's documents that callers see, for all code that shows documents. */
export interface Views {
  /** Whether it depends on the caller. */
  readonly differ: boolean;
  /** Fields that a caller sees of a document, in their order, without the owner. */
  readonly fieldsOf: (document: Stored<object>, viewer: Viewer) => readonly string[];
  /** The kind that a caller is for a document, or for those of others. */
  readonly kindOf: (viewer: Viewer, document: object | undefined) => CallerKind;
  /** Whether a caller does not see a field, in one document or in any of a list. */
  readonly hides: (field: string, viewer: Viewer, document?: Stored<object>) => boolean;
  /** Entity tag by caller: the version of a document, and the kind of caller where that matters. */
  readonly tagOf: (document: Stored<object>, viewer: Viewer) => string;
  /** Makes the rules for list parameters, which reveal no fields that the caller cannot see. */
  readonly rulesFor: (viewer: Viewer) => ListRules;
  /** Fields of documents that every caller of operations sees; admins see all of them. */
  readonly seenByAll: (operations: readonly Operation[]) => ReadonlySet<string>;
}

/** Parts of a resource that its views are made of. */
export interface ViewPlace {
  /** Fields that admins see, in their order. */
  readonly all: readonly string[];
  readonly owner: string | undefined;
  /** The owner field, where it is one of those that are shown. */
  readonly shownOwner: string | undefined;
  /** Names of the fields that nobody sees. */
  readonly secret: ReadonlySet<string>;
  readonly search: readonly string[];
  readonly rules: ListRules;
  readonly access: Readonly<Record<Operation, ResourceRule>>;
}

/** Prepares what callers see of a resource, by the rules for seeing its fields. */
export function compileViews(readRules: RuleByField, place: ViewPlace): Views {
  const { access, all, owner, rules, secret, shownOwner } = place;
  const known = new Set(all);
  const differ = all.some((field) => !sees("public", field));
  const shown = byKind((kind) => all.filter((field) => field !== shownOwner && sees(kind, field)));
  const variants = byKind((kind) => (all.every((field) => sees(kind, field)) ? undefined : kind));
  const listedToUsers = access.list === "owner" ? "owner" : "user"; // Lists may have no others.
  const narrowed = {
    public: rulesOf("public", "public"),
    user: rulesOf(listedToUsers, owner === undefined ? "user" : "owner"),
    admin: rules,
  };

  return {
    differ,
    kindOf,
    fieldsOf: (document, viewer) => shown[differ ? kindOf(viewer, document) : "admin"],
    hides: (field, viewer, document) =>
      secret.has(field) || (differ && known.has(field) && !sees(kindOf(viewer, document), field)),
    tagOf: (document, viewer) =>
      etagOf(document, differ ? variants[kindOf(viewer, document)] : undefined),
    rulesFor: (viewer) => narrowed[listerOf(viewer)],
    seenByAll(operations) {
      const kinds = operations.map(narrowestOf);
      return new Set(all.filter((field) => kinds.every((kind) => sees(kind, field))));
    },
  };

  function sees(kind: CallerKind, field: string): boolean {
    return fieldRuleLets(readRules.get(field) ?? "public", kind);
  }

  function kindOf(viewer: Viewer, document: object | undefined): CallerKind {
    const lister = listerOf(viewer);
    if (lister !== "user" || owner === undefined || document === undefined) return lister;
    return Reflect.get(document, owner) === viewer.user?.id ? "owner" : "user";
  }

  /**
   * @param base - The kind that a caller is for documents of others, which a list has too.
   * @param widest - The kind that the caller is for its documents.
   */
  function rulesOf(base: CallerKind, widest: CallerKind): ListRules {
    if (!differ) return rules;
    const isSeen = (path: string): boolean => sees(base, path.split(".")[0] ?? "");
    const isSortable = (key: string): boolean => isSeen(key.replace(/^-/, ""));
    const { defaultSort, filters = [], geo, groups = [], searchable, selectable, sortable } = rules;
    const order = defaultSort.filter(isSortable);
    return {
      ...rules,
      // Identifiers follow the time of creation.
      defaultSort: order.length > 0 ? order : ["-id"],
      sortable: sortable.filter((field) => field === "id" || isSeen(field)),
      selectable: selectable.filter((field) => sees(widest, field)),
      filters: filters.filter(({ path }) => path === "id" || isSeen(path)),
      groups: groups.filter(({ path }) => isSeen(path)),
      searchable: searchable === true && place.search.every(isSeen),
      geo: geo !== undefined && isSeen(geo) ? geo : undefined,
    };
  }

  /** The callers of an operation who see the fewest fields. */
  function narrowestOf(operation: Operation): CallerKind {
    const rule = access[operation];
    // The creator of a document owns it, unless it is its own owner.
    const ownsIt = operation === "create" && owner !== undefined && owner !== "id";
    if (rule === "user") return ownsIt ? "owner" : rule;
    if (rule === "owner" || rule === "admin") return rule;
    return rule === "master" ? "admin" : "public";
  }
}

function byKind<T>(make: (kind: CallerKind) => T): Readonly<Record<CallerKind, T>> {
  return {
    public: make("public"),
    user: make("user"),
    owner: make("owner"),
    admin: make("admin"),
  };
}

/** The kind that a caller is for the documents of others. */
function listerOf({ user, isMaster }: Viewer): "admin" | "public" | "user" {
  if (isMaster === true || user?.role === "admin") return "admin";
  return user === undefined ? "public" : "user";
}
