import { type AggregateValue, InputError, type UntypedWhere } from "@fetchwork/documents";
import { taggedJson } from "../etag.ts";
import { fieldError } from "../field-error.ts";
import { type AskedValue, createGroupsReader, type GroupsQuery } from "../plan/groups-query.ts";
import { listLimits } from "../plan/list-limits.ts";
import { badFields } from "../problem.ts";
import type { ResourceCall, ResourceHandler } from "../resource/call.ts";
import { groupValues } from "../resource/groups.ts";
import type { Resource } from "../resource/resource.ts";

/** One group of documents, as it is shown. */
export type ShownGroup = Readonly<Record<string, unknown>>;

/**
 * Makes the handler that groups the documents which a list would show, and computes values of each
 * group.
 *
 * @throws Problem 400 for more than 100,000 groups.
 */
export function groupsOperation(resource: Resource): ResourceHandler {
  const read = createGroupsReader(resource);

  return async (call) => {
    const query = read(call);
    const limits = await listLimits(resource, call);
    const groups = await findGroups(resource, call, query, limits);
    const isCapped = groups.length > query.limit;
    const shown = groups.slice(0, query.limit).map((group) => showGroup(group, query));
    const headers = {
      "x-total-count": String(shown.length),
      ...(isCapped ? { "x-total-count-capped": "true" } : {}),
    };
    return taggedJson(call.request, shown, { headers });
  };
}

async function findGroups(
  { collection }: Resource,
  { store }: ResourceCall,
  { by, limit, selection, sort, values }: GroupsQuery,
  limits: UntypedWhere | undefined,
): Promise<readonly ShownGroup[]> {
  const { q, where: asked } = selection;
  const where = asked && limits ? { and: [asked, limits] } : (limits ?? asked);
  try {
    return await store.collection(collection).aggregate({
      q,
      where,
      by,
      values: Object.fromEntries<AggregateValue<string>>([
        [countName, "count"],
        ...values.map((value) => [nameOfValue(value), valueOf(value)] as const),
      ]),
      sort: sort.map((key) => inStore(key, by)),
      limit: limit + 1,
    });
  } catch (error) {
    // Only the store knows how many groups there are, and what words may be. All else was checked
    // before.
    if (!(error instanceof InputError) || (error.path !== "by" && error.path !== "q")) throw error;
    throw badFields([fieldError(error.path, "invalid", error.message)]);
  }
}

/** Names of values that no field has. */
const countName = ":count";

function nameOfValue({ field, kind }: AskedValue): string {
  return `:${kind}.${field}`;
}

function valueOf({ field, kind }: AskedValue): AggregateValue<string> {
  switch (kind) {
    case "sum":
      return { sum: field };
    case "avg":
      return { avg: field };
    case "min":
      return { min: field };
    default:
      return { max: field };
  }
}

function inStore(key: string, by: readonly string[]): string {
  const name = key.replace(/^-/, "");
  return by.includes(name) ? key : `${key.startsWith("-") ? "-" : ""}:${name}`;
}

function showGroup(group: ShownGroup, { by, values }: GroupsQuery): ShownGroup {
  const shown: Record<string, unknown> = {
    by: Object.fromEntries(by.map((field) => [field, group[field]])),
    count: group[countName],
  };
  for (const kind of groupValues) {
    const own = values.filter((value) => value.kind === kind);
    if (own.length === 0) continue;
    shown[kind] = Object.fromEntries(own.map((value) => [value.field, group[nameOfValue(value)]]));
  }
  return shown;
}
