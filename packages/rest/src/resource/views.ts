import type { Stored } from "@fetchwork/documents";
import type { Account } from "../account.ts";
import { etagOf } from "../etag.ts";
import type { Operation, ResourceRule } from "./access-rules.ts";
import type { ListRules } from "./list-rules.ts";

/**
 * Kinds of callers: anyone, a user with a valid session token, the owner of the document, and an
 * admin or the holder of the master key.
 */
export type ViewerKind = "public" | "user" | "self" | "admin";

/** Fields that each kind of caller sees; `"all"` are those of the option `view`. */
export interface ViewOptions<View extends string = string, Public extends string = string> {
  /** Fields that everyone sees. */
  readonly public: "all" | readonly Public[];
  /** Fields of others' documents that users see, with those of `public`. Default: as `public`. */
  readonly user?: "all" | readonly View[] | undefined;
  /** Fields that the owner of a document sees, with those of `user`. Default: as `user`. */
  readonly self?: "all" | readonly View[] | undefined;
  /** Fields that admins and the master key see, with those of `user`. Default: as `self`. */
  readonly admin?: "all" | readonly View[] | undefined;
}

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
  readonly kindOf: (viewer: Viewer, document: object | undefined) => Kind;
  /** Whether a caller does not see a field that others do, in one document or in any of a list. */
  readonly hides: (field: string, viewer: Viewer, document?: Stored<object>) => boolean;
  /** Entity tag by caller: the version of a document, and the kind of caller where that matters. */
  readonly tagOf: (document: Stored<object>, viewer: Viewer) => string;
  /** Makes the rules for list parameters, which reveal no fields that the caller cannot see. */
  readonly rulesFor: (viewer: Viewer) => ListRules;
  /** Fields of documents that callers of operations see: fields some of them see, and all see. */
  readonly fieldsFor: (operations: readonly Operation[]) => {
    readonly some: readonly string[];
    readonly every: ReadonlySet<string>;
  };
}

/** Parts of a resource that its views are made of. */
export interface ViewPlace {
  /** Fields that the widest view has, in their order. */
  readonly all: readonly string[];
  readonly owner: string | undefined;
  /** The owner field, where it is one of those that are shown. */
  readonly shownOwner: string | undefined;
  readonly search: readonly string[];
  readonly rules: ListRules;
  readonly access: Readonly<Record<Operation, ResourceRule>>;
}

/** A kind of caller, for one document: an admin may own it too. */
export type Kind = ViewerKind | "admin-self";

/** Prepares the views of a resource. */
export function compileViews(options: ViewOptions | undefined, place: ViewPlace): Views {
  const { access, all, owner, rules, shownOwner } = place;
  const lists = viewLists(options, all);
  const seen = mapKinds((kind) => new Set(lists[kind]));
  const variants = mapKinds((kind) => (lists[kind].length === all.length ? undefined : kind));
  const differ = Object.values(variants).some((variant) => variant !== undefined);
  const known = new Set(all);
  const shown = mapKinds((kind) => lists[kind].filter((field) => field !== shownOwner));
  const narrowed = {
    public: rulesOf("public", "public"),
    user: rulesOf(
      access.list === "owner" ? "self" : "user", // Lists may have no documents of others.
      owner === undefined ? "user" : "self",
    ),
    admin: rulesOf("admin", owner === undefined ? "admin" : "admin-self"),
  };

  return {
    differ,
    kindOf,
    fieldsOf: (document, viewer) => shown[differ ? kindOf(viewer, document) : "admin"],
    hides: (field, viewer, document) =>
      differ && known.has(field) && !seen[kindOf(viewer, document)].has(field),
    tagOf: (document, viewer) =>
      etagOf(document, differ ? variants[kindOf(viewer, document)] : undefined),
    rulesFor: (viewer) => (differ ? narrowed[listerOf(viewer)] : rules),
    fieldsFor(operations) {
      const kinds = [...new Set(operations.flatMap(callersOf))];
      const every = all.filter((field) => kinds.every((kind) => seen[kind].has(field)));
      const some = all.filter((field) => kinds.some((kind) => seen[kind].has(field)));
      return { some, every: new Set(every) };
    },
  };

  function kindOf(viewer: Viewer, document: object | undefined): Kind {
    const { id } = viewer.user ?? {};
    const isOwn =
      owner !== undefined &&
      id !== undefined &&
      document !== undefined &&
      Reflect.get(document, owner) === id;
    const lister = listerOf(viewer);
    if (!isOwn) return lister;
    return lister === "admin" ? "admin-self" : "self";
  }

  /**
   * @param base - The kind that a caller is for documents of others, which a list has too.
   * @param widest - The kind that the caller is for its documents.
   */
  function rulesOf(base: Kind, widest: Kind): ListRules {
    const isSeen = (field: string): boolean => !known.has(field) || seen[base].has(field);
    const isSortable = (key: string): boolean => isSeen(key.replace(/^-/, ""));
    const { defaultSort, filters = [], geo, groups = [], searchable, selectable, sortable } = rules;
    const order = defaultSort.filter(isSortable);
    return {
      ...rules,
      // Identifiers follow the time of creation.
      defaultSort: order.length > 0 ? order : ["-id"],
      sortable: sortable.filter((field) => field === "id" || isSeen(field)),
      selectable: selectable.filter((field) => seen[widest].has(field)),
      filters: filters.filter(({ path }) => path === "id" || isSeen(path.split(".")[0] ?? "")),
      groups: groups.filter(({ path }) => isSeen(path.split(".")[0] ?? "")),
      searchable: searchable === true && place.search.every((path) => isSeen(rootOf(path))),
      geo: geo !== undefined && isSeen(geo) ? geo : undefined,
    };
  }

  function callersOf(operation: Operation): readonly Kind[] {
    const owners: readonly Kind[] = owner === undefined ? [] : ["self", "admin-self"];
    switch (access[operation]) {
      case "admin":
        return owner === undefined ? ["admin"] : ["admin", "admin-self"];
      case "master":
        return ["admin"];
      case "owner":
        return ["admin", ...owners];
      case "user":
        // The creator of a document owns it, unless it is its own owner.
        return operation === "create" && owner !== undefined && owner !== "id"
          ? owners
          : ["user", "admin", ...owners];
      default:
        return ["public", "user", "admin", ...owners];
    }
  }
}

/** Fields of each view. A view that is left out is the one before. */
export function viewLists(
  options: ViewOptions | undefined,
  all: readonly string[],
): Readonly<Record<Kind, readonly string[]>> {
  // Only those who may list removed documents see `deletedAt`, and restore them.
  const of = (fields: "all" | readonly string[]): readonly string[] =>
    fields === "all" ? all : all.filter((field) => [...fields, "deletedAt"].includes(field));
  const forPublic = options ? options.public : "all";
  const forUser = options?.user ?? forPublic;
  const forSelf = options?.self ?? forUser;
  const forAdmin = options?.admin ?? forSelf;
  const [self, admin] = [of(forSelf), of(forAdmin)];
  return {
    public: of(forPublic),
    user: of(forUser),
    self,
    admin,
    "admin-self": all.filter((field) => self.includes(field) || admin.includes(field)),
  };
}

function mapKinds<T>(make: (kind: Kind) => T): Readonly<Record<Kind, T>> {
  return {
    public: make("public"),
    user: make("user"),
    self: make("self"),
    admin: make("admin"),
    "admin-self": make("admin-self"),
  };
}

/** The kind that a caller is for the documents of others. */
function listerOf({ user, isMaster }: Viewer): "admin" | "public" | "user" {
  if (isMaster === true || user?.role === "admin") return "admin";
  return user === undefined ? "public" : "user";
}

function rootOf(path: string): string {
  return path.split(".")[0] ?? "";
}
