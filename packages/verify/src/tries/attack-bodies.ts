import type { Fields, JsonSchema, Resource, Route } from "@fetchwork/rest";
import { canaryLike, canaryOf, choicesOf } from "../world/canary.ts";
import type { Caller } from "../caller.ts";
import type { Trial } from "./trial.ts";

/** Bodies with each field of a resource, and with the caller or somebody else as the owner. */
export function attackBodies(
  trial: Trial,
  caller: Caller,
  { route, declared }: { readonly route: Route; readonly declared: Fields | undefined },
): readonly Fields[] {
  if (["GET", "QUERY"].includes(route.method)) return [];
  if (!["anonymous", "user"].includes(caller.name)) return [];
  const id = caller.viewer.user?.id;
  const known = trial.world.garden.byId(id)?.document;
  return trial.world.service.resources.flatMap((resource) => {
    const own = resource.owner === "id" ? undefined : resource.owner;
    // No route of a project names the admin of these tries by itself.
    return [id, "root"].map((owner) => {
      const owned = own === undefined || owner === undefined ? {} : { [own]: owner };
      return { ...fieldsFor(trial, resource, known), ...declared, ...owned };
    });
  });
}

/** A value for each field of a resource that a document lacks, by default a planted one. */
export function fieldsFor(
  { world }: Trial,
  resource: Resource,
  known: object | undefined = world.garden.of(resource)[0]?.document,
): Fields {
  const names = [...resource.fields, ...(world.hidden.get(resource) ?? [])];
  const fields = names.map((field, index) => {
    const value: unknown = known && Reflect.get(known, field);
    return [field, anotherOf(resource.properties[field] ?? {}, value, 950_000 + index)] as const;
  });
  return Object.fromEntries(fields);
}

/** A value for a field that differs from the known one, as far as the schema allows. */
function anotherOf(schema: JsonSchema, known: unknown, number: number): unknown {
  if (typeof known === "boolean") return !known;
  const choice = choicesOf(schema).find((one) => one !== known);
  if (choice !== undefined) return choice;
  return Object.keys(schema).length > 0 ? canaryOf(schema, number) : canaryLike(known, number);
}
