import { administer, type DocumentRecord } from "@fetchwork/documents";
import type { Fields, Resource } from "@fetchwork/rest";
import { canaryLike, canaryOf, choicesOf } from "../world/canary.ts";
import { fixedKeysOf, type World } from "../world/open-world.ts";

/** Each document refers to one that this many documents refer to, and an owner has as many. */
const perParent = 10;
const perLoad = 10_000;
const firstTime = Date.UTC(2020, 0, 1);
/** Values of the first documents of the world are those of lower numbers. */
const firstNumber = 10_000;
const meta: ReadonlySet<string> = new Set(["id", "version", "createdAt", "updatedAt", "deletedAt"]);

/**
 * Puts made documents of each resource into the store, without requests and hooks.
 *
 * @param from - Number of the first one, from 0.
 * @param to - Number behind the last one.
 */
export async function fillStore(
  world: World,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const resource of world.service.resources) {
    const make = maker(world, resource);
    for (let start = from; start < to; start += perLoad) {
      signal?.throwIfAborted();
      const length = Math.min(perLoad, to - start);
      const records = Array.from({ length }, (_, index) => make(start + index));
      await administer(world.store).load((loading) => loading.add(resource.collection, records));
    }
  }
}

/** The identifier of the made document of a number. */
export function madeId(number: number): string {
  return `00000000-0000-7000-9000-${String(number).padStart(12, "0")}`;
}

function maker(world: World, resource: Resource): (number: number) => DocumentRecord {
  const { owner } = resource;
  const schemas = resource.properties;
  const known: object = world.garden.of(resource)[0]?.document ?? {};
  const unique = new Set(fixedKeysOf(resource).flat());
  const names = [...new Set([...resource.fields, ...Object.keys(known)])].filter(
    (name) => !meta.has(name),
  );
  const users = world.service.options.accounts?.user as Resource | undefined;
  const makers = names.map((name) => [name, valueMaker(name)] as const);

  return (number) => {
    const time = new Date(firstTime + number * 1000).toISOString();
    const made = makers.map(([name, make]) => [name, make(number)]);
    return {
      id: madeId(number),
      version: 1,
      createdAt: time,
      updatedAt: time,
      document: Object.fromEntries(made) as Fields,
    };
  };

  function valueMaker(name: string): (number: number) => unknown {
    const reference = resource.relations.references.find(({ field }) => field === name);
    const target = reference?.to() ?? (name === owner ? users : undefined);
    if (target !== undefined) {
      const share = unique.has(name) ? 1 : perParent;
      // The first ones belong to a user that sends requests.
      const parent = (number: number): string =>
        target === users && number < share && share > 1
          ? "ada"
          : madeId(Math.floor(number / share));
      return reference?.many === true ? (number) => [parent(number)] : parent;
    }
    const schema = schemas[name];
    const value: unknown = Reflect.get(known, name);
    if (schema === undefined) return (number) => canaryLike(value, firstNumber + number);
    // Documents are shared out among the members of an enum and both booleans.
    const choices = choicesOf(schema);
    if (choices.length > 0) return (number) => choices[number % choices.length];
    return (number) => canaryOf(schema, firstNumber + number);
  }
}
