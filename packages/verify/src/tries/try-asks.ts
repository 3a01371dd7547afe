import type { Resource } from "@fetchwork/rest";
import type { ShownRequest } from "../finding.ts";
import { isMarked } from "../world/canary.ts";
import type { Caller } from "../world/caller.ts";
import type { Planted } from "../world/planted.ts";
import type { Answer } from "../world/sender.ts";
import { restore, snapshot } from "./snapshot.ts";
import { documentsIn, report, type Trial } from "./trial.ts";
import { fieldNames } from "./try-reads.ts";

/** Two requests that differ in a value only: responses that differ tell whether a document has it. */
interface Pair {
  readonly way: string;
  readonly one: ShownRequest;
  readonly other: ShownRequest;
}

/** A field of a document that a caller may not see. */
export interface Hidden extends Planted {
  readonly field: string;
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
          await tryPair(trial, caller, { hidden, ...pair });
        }
        const [up, down] = [
          get(resource, `sort=${hidden.field}`),
          get(resource, `sort=-${hidden.field}`),
        ];
        await tryOrder(trial, caller, { hidden, way: "sort", up, down });
      }
    }
  }
}

/** What a caller may not see of the documents of a resource. */
export function hiddenFrom(trial: Trial, caller: Caller, resource: Resource): readonly Hidden[] {
  return trial.world.garden.of(resource).flatMap((planted) => {
    const seen = trial.visibility.fieldsFor(caller, planted);
    return fieldNames(trial, resource)
      .filter((field) => !seen.has(field) && field !== "id" && field !== "version")
      .flatMap((field) =>
        valuesIn(Reflect.get(planted.document, field)).map((value) => ({
          ...planted,
          field,
          value,
        })),
      );
  });
}

function get({ path }: Resource, query: string): ShownRequest {
  return { method: "GET", path: `${path}?${query}` };
}

/** Sends two requests that differ in a value only, and reports what their responses tell. Resolves to the first one. */
export async function tryPair(
  trial: Trial,
  caller: Caller,
  { hidden, way, ...pair }: Pair & { readonly hidden: Hidden },
): Promise<Answer> {
  const one = await sendAndRestore(trial, caller, pair.one);
  if (isRefused(one)) return one;
  const other = await sendAndRestore(trial, caller, pair.other);
  if (!isRefused(other) && tells(hidden, one, other)) {
    report(trial, "field-told", caller, { ...hidden, answer: one, way });
  }
  return one;
}

/** That something is missing or in conflict may be what tells; other refusals are about the request. */
function isRefused({ status }: Answer): boolean {
  return status >= 400 && ![404, 409, 410].includes(status);
}

async function sendAndRestore(
  trial: Trial,
  caller: Caller,
  request: ShownRequest,
): Promise<Answer> {
  if (isSafe(request)) return trial.sender.send(caller, request);
  const before = await snapshot(trial);
  const answer = await trial.sender.send(caller, request);
  await restore(trial, before, await snapshot(trial));
  return answer;
}

function isSafe({ method }: ShownRequest): boolean {
  return method === "GET" || method === "QUERY";
}

function text(given: unknown): string {
  return encodeURIComponent(String(given));
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
  const filters = own.flatMap((path) => [
    ...differing.map(([operator, one, other]) => ({
      one: `${path}${operator}=${text(one)}`,
      other: `${path}${operator}=${text(other)}`,
    })),
    {
      one: `where=${text(JSON.stringify({ [path]: value }))}`,
      other: `where=${text(JSON.stringify({ [path]: another }))}`,
    },
  ]);
  const values = [
    [value, another],
    [value, above],
    [below, value],
  ];
  const parameters = Object.keys(list.parameters ?? {}).flatMap((name) =>
    values.map(([one, other]) => ({
      way: `parameter ${name}`,
      one: `${name}=${text(one)}`,
      other: `${name}=${text(other)}`,
    })),
  );
  const search = { way: "search", one: `q=${text(value)}`, other: `q=${text(another)}` };
  const pairs = [
    ...filters.map((pair) => ({ way: "filter", ...pair })),
    ...(searchable ? [search] : []),
    ...parameters,
  ];
  return pairs.map(({ one, other, way }) => ({
    way,
    one: get(resource, one),
    other: get(resource, other),
  }));
}

/** An order by a hidden field tells which value is greater. Resolves to the response of the first request. */
export async function tryOrder(
  trial: Trial,
  caller: Caller,
  {
    hidden,
    way,
    ...requests
  }: {
    readonly hidden: Hidden;
    readonly way: string;
    readonly up: ShownRequest;
    readonly down: ShownRequest;
  },
): Promise<Answer> {
  const up = await trial.sender.send(caller, requests.up);
  if (up.status !== 200) return up;
  const down = await trial.sender.send(caller, requests.down);
  const ids = (answer: Answer): string => [...idsIn(answer)].join();
  const isTold = idsIn(up).has(hidden.document.id) && ids(up) !== ids(down);
  if (isTold) report(trial, "field-told", caller, { ...hidden, answer: up, way });
  return up;
}

/** A marked value is of one document alone; of any other, and without a value, the document has to come or go. */
function tells({ document, value }: Hidden, one: Answer, other: Answer): boolean {
  if (isMarked(value) && !isSafe(one.request)) return one.status !== other.status;
  const isAsked = isMarked(value) && !one.request.path.includes("[exists]=");
  if (isAsked) return withoutSent(one) !== withoutSent(other);
  if (one.status >= 400 || other.status >= 400) return false;
  return idsIn(one).has(document.id) !== idsIn(other).has(document.id);
}

/** A response that repeats what was asked for tells nothing by that. */
function withoutSent({ request, signature }: Answer): string {
  const { pathname, searchParams } = new URL(request.path, "http://localhost");
  const parts = pathname.split("/").flatMap((part) => [part, decodeURIComponent(part)]);
  const sent = [...parts, ...searchParams.values(), ...valuesIn(request.body).map(String)];
  return sent
    .filter((part) => part !== "")
    .reduce((text, part) => text.replaceAll(part, ""), signature);
}

function idsIn({ json }: Answer): ReadonlySet<unknown> {
  return new Set(documentsIn(json).map((one): unknown => Reflect.get(one, "id")));
}

function valuesIn(value: unknown): readonly (string | number | boolean)[] {
  if (Array.isArray(value)) return value.flatMap(valuesIn);
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
