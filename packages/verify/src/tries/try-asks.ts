import type { Resource } from "@fetchwork/rest";
import type { ShownRequest } from "../finding.ts";
import { marksIn } from "../world/canary.ts";
import type { Caller } from "../caller.ts";
import type { Place } from "../world/planted.ts";
import type { Outcome } from "../world/sender.ts";
import { undo } from "../world/snapshot.ts";
import { withQuery } from "../world/with-query.ts";
import { documentsIn, type Trial } from "./trial.ts";
import { fieldNames } from "./try-reads.ts";

/** Two requests that differ in a value only: different responses tell who has it. */
export interface Pair {
  readonly way: string;
  readonly one: ShownRequest;
  readonly other: ShownRequest;
  /** Whether the responses tell a hidden value. Default: where only that value may differ. */
  readonly tells?: typeof tellsOrder;
}

/** A field of a document that a caller may not see. */
export interface Hidden extends Place {
  readonly value: string | number | boolean;
}

/** Asks for every hidden value by filters, `where`, search, order and parameters of one's own. */
export async function tryAsks(trial: Trial): Promise<void> {
  const { callers, service } = trial.world;
  for (const resource of service.resources) {
    for (const caller of callers) {
      const { status } = await trial.sender.send(caller, { method: "GET", path: resource.path });
      if (status !== 200) continue;
      for (const hidden of hiddenFrom(trial, caller, resource)) {
        for (const pair of pairsFor(resource, hidden)) {
          await tryPair(trial, caller, hidden, pair);
        }
      }
    }
  }
}

/** Returns the values that a caller may not see of the documents of a resource. */
export function hiddenFrom(trial: Trial, caller: Caller, resource: Resource): readonly Hidden[] {
  return trial.world.garden.of(resource).flatMap((planted) => {
    const seen = trial.visibility.fieldsFor(caller, planted);
    return fieldNames(trial, resource)
      .filter((field) => !seen.has(field) && field !== "id" && field !== "version")
      .flatMap((field) => {
        const values = valuesIn(Reflect.get(planted.document, field));
        return values.map((value) => ({ ...planted, field, value }));
      });
  });
}

function get(resource: Resource, parameter: string, value: unknown): ShownRequest {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return { method: "GET", path: withQuery(resource.path, { [parameter]: text }) };
}

/** Sends two requests, and reports what they tell. Resolves to the first response. */
export async function tryPair(
  trial: Trial,
  caller: Caller,
  hidden: Hidden,
  { way, tells = tellsValue, ...pair }: Pair,
): Promise<Outcome> {
  const send = async (request: ShownRequest): Promise<Outcome> => {
    const work = (): Promise<Outcome> => trial.sender.send(caller, request);
    return isSafe(request) ? work() : (await undo(trial.world, work)).result;
  };
  const one = await send(pair.one);
  if (isRefused(one)) return one;
  const other = await send(pair.other);
  if (tells(hidden, one, other)) {
    trial.findings.report("field-inferred", caller, { ...hidden, response: one, way });
  }
  return one;
}

/** A missing document or a conflict may tell something; other refusals are about the request. */
function isRefused({ status }: Outcome): boolean {
  return status >= 400 && ![404, 409, 410].includes(status);
}

function isSafe({ method }: ShownRequest): boolean {
  return method === "GET" || method === "QUERY";
}

function pairsFor(resource: Resource, { field, value }: Hidden): readonly Pair[] {
  const { list, searchable } = resource;
  const paths = (list.filters ?? []).map(({ path }) => path);
  const own = [field, ...paths.filter((path) => path.startsWith(`${field}.`))];
  const { above, another, below } = neighbours(value);
  const equal = ["", "[eq]", "[ne]", "[in]", "[nin]", "[contains]", "[prefix]"];
  const differing = [
    ...equal.map((operator) => [operator, value, another] as const),
    ...["[gte]", "[lt]"].map((operator) => [operator, value, above] as const),
    ...["[gt]", "[lte]"].map((operator) => [operator, below, value] as const),
    ["[exists]", true, false] as const,
  ];
  const pair = (way: string, name: string, one: unknown, other: unknown): Pair => ({
    way,
    one: get(resource, name, one),
    other: get(resource, name, other),
  });
  return [
    { ...pair("sort", "sort", field, `-${field}`), tells: tellsOrder },
    ...own.flatMap((path) => [
      ...differing.map(([operator, one, other]) => pair("filter", path + operator, one, other)),
      pair("filter", "where", { [path]: value }, { [path]: another }),
    ]),
    ...(searchable ? [pair("search", "q", value, another)] : []),
    ...Object.keys(list.parameters ?? {}).flatMap((name) => [
      pair(`parameter ${name}`, name, value, another),
      pair(`parameter ${name}`, name, value, above),
      pair(`parameter ${name}`, name, below, value),
    ]),
  ];
}

/** Two orders by a hidden field tell which value is greater, also if only one is allowed. */
export function tellsOrder({ document }: Hidden, up: Outcome, down: Outcome): boolean {
  const [first, second] = [idsIn(up), idsIn(down)];
  return first.has(document.id) && [...first].join() !== [...second].join();
}

/** A marked value is of one document alone; for any other value the document must come or go. */
function tellsValue({ document, value }: Hidden, one: Outcome, other: Outcome): boolean {
  if (isRefused(other)) return false;
  const isMarked = marksIn(value).length > 0;
  if (isMarked && !isSafe(one.request)) return one.status !== other.status;
  const isAsked = isMarked && !one.request.path.includes("[exists]=");
  if (isAsked) return withoutSent(one) !== withoutSent(other);
  if (one.status >= 400 || other.status >= 400) return false;
  return idsIn(one).has(document.id) !== idsIn(other).has(document.id);
}

/** A response that repeats what was asked for tells nothing by that. */
function withoutSent({ request, signature }: Outcome): string {
  const { pathname, searchParams } = new URL(request.path, "http://localhost");
  const parts = pathname.split("/").flatMap((part) => [part, decodeURIComponent(part)]);
  const sent = [...parts, ...searchParams.values(), ...valuesIn(request.body).map(String)];
  return sent
    .flatMap((part) => (part === "" ? [] : [part, JSON.stringify(part).slice(1, -1)]))
    .reduce((text, part) => text.replaceAll(part, ""), signature);
}

function idsIn({ json }: Outcome): ReadonlySet<unknown> {
  return new Set(documentsIn(json).map((one): unknown => Reflect.get(one, "id")));
}

function valuesIn(value: unknown): readonly (string | number | boolean)[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(valuesIn);
  const isScalar = ["string", "number", "boolean"].includes(typeof value);
  return isScalar ? [value as string | number | boolean] : [];
}

/** Values that differ from another one by the order, or at all. */
export function neighbours(
  value: string | number | boolean,
): Record<"above" | "another" | "below", unknown> {
  if (typeof value === "number")
    return { above: value + 1, another: value + 50_001, below: value - 1 };
  if (typeof value === "boolean") return { above: !value, another: !value, below: !value };
  if (value.includes("@")) {
    return { above: `${value}m`, another: `no.${value}`, below: value.slice(0, -1) };
  }
  return { above: `${value}~`, another: `${value.slice(0, -1)}#`, below: value.slice(0, -1) };
}
