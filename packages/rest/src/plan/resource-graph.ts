import { readerAt } from "../account.ts";
import { check, RestError } from "../errors.ts";
import type { PublicUsers } from "../resource/public-user.ts";
import type { Referrer, ResourceGraph } from "../resource/relations/referrers.ts";
import type { Inverse, Reference, Resource } from "../resource/resource.ts";
import type { Route } from "./route.ts";

/**
 * Collects the resources that routes belong to, and those that they lead to.
 *
 * @throws RestError `ERR_REST_DEFINITION` for a relation to something else, and for a path that
 * leads nowhere.
 */
export function createResourceGraph(routes: readonly Route[]): ResourceGraph {
  const resources = new Set(routes.flatMap(({ resource }) => resource ?? []));
  const referrers = new Map<string, Referrer[]>();
  // A loop over a set also visits what is added to it during the loop.
  for (const resource of resources) {
    for (const reference of resource.relations.references) {
      const target = targetOf(reference, resource);
      resources.add(target);
      const known = referrers.get(target.collection.name) ?? [];
      referrers.set(target.collection.name, [
        ...known,
        {
          collection: resource.collection,
          plural: resource.plural,
          hooks: resource.hooks,
          reference,
        },
      ]);
    }
    for (const inverse of resource.relations.inverses) {
      const target = targetOf(inverse, resource);
      resources.add(target);
      referenceOf(inverse, resource);
    }
    for (const path of resource.relations.paths) checkPath(resource, path);
  }
  return {
    referrersOf: ({ collection }) => referrers.get(collection.name) ?? [],
    users: usersIn([...resources]),
  };
}

/** Finds the users: the documents that own themselves. It must be clear whose owners are shown. */
function usersIn(resources: readonly Resource[]): PublicUsers | undefined {
  const own = resources.filter(({ owner }) => owner === "id");
  const [first, ...others] = own;
  const other = others.find(({ collection }) => collection.name !== first?.collection.name);
  const shown = resources.find(({ shownOwner }) => shownOwner !== undefined);
  if (first && other && shown) {
    const message = `the owner of ${shown.name} is ambiguous: ${first.name} and ${other.name} both have the owner "id", expected one resource of users, or fields: { ${shown.owner}: { read: "nobody" } }`;
    throw new RestError("ERR_REST_DEFINITION", message);
  }
  return first && publicUsers(first);
}

/** Finds the relation of a name; `undefined` when the resource has none. */
export function relationOf({ relations }: Resource, name: string): Inverse | Reference | undefined {
  const { inverses, references } = relations;
  return [...references, ...inverses].find((relation) => relation.name === name);
}

/** Finds the relation that an inverse one turns round. */
export function referenceOf({ name, inverse, to }: Inverse, resource: Resource): Reference {
  const other = to();
  const reference = other.relations.references.find((one) => one.name === inverse);
  check(
    reference?.to().collection.name === resource.collection.name,
    `the relation ${name} of ${resource.name} turns no relation of ${other.name} round`,
  );
  return reference;
}

function targetOf({ name, to }: Inverse | Reference, resource: Resource): Resource {
  const target: Resource | undefined = to();
  const isTarget = typeof target?.collection?.name === "string";
  check(isTarget, `the relation ${name} of ${resource.name} leads to no resource`);
  return target;
}

function checkPath(resource: Resource, path: string): void {
  let at = resource;
  for (const name of path.split(".")) {
    const relation = relationOf(at, name);
    check(
      relation !== undefined,
      `the path ${path} of ${resource.name} leads nowhere: ${at.name} has no relation ${name}`,
    );
    at = targetOf(relation, at);
  }
}

/** Makes what documents show of their owners, out of the resource of the users. */
function publicUsers({ collection, path, present, tagOf, views }: Resource): PublicUsers {
  return {
    collection,
    show(user, viewer) {
      const open = views.fieldsOf(user, {}); // Fields that everyone sees.
      const fields = ["name", "picture"].filter((field) => open.includes(field));
      const { name, picture } = present(user, { user: readerAt(path, viewer) }, fields);
      return { id: user.id, name: textOf(name), picture: textOf(picture) };
    },
    tagOf: (user, viewer) => tagOf(user, { user: readerAt(path, viewer) }),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
