import { isObject } from "@fetchwork/kit";
import type { ServingIndex } from "../../../api/explanation.ts";
import type { Row } from "../../operation.ts";
import type { StatementPlan, TableAccess } from "../../statement-plan.ts";
import type { PostgresLayout } from "./layout.ts";

/** Stands behind the name of an index on a server of Citus. */
const shardNumber = /_\d{6,}$/;

/** Reads a plan in JSON, and the same in text. */
export function readQueryPlan(
  json: string,
  lines: readonly Row[],
  layout: PostgresLayout,
): StatementPlan {
  const nodes = nodesOf(JSON.parse(json));
  return {
    accesses: nodes.flatMap((node) => accessOf(node, layout)),
    // An incremental sort is about the last terms, in which rows differ that are equal in those of the index.
    sorts: nodes.some((node) => node["Node Type"] === "Sort"),
    isProvisional: true,
    text: lines.map(([line]) => String(line)).join("\n"),
  };
}

/** Finds the nodes of a plan, however they are nested: extensions nest plans in theirs. */
function nodesOf(value: unknown): readonly Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (!isObject(value)) return [];
  const inner = Object.values(value).flatMap(nodesOf);
  return typeof value["Node Type"] === "string" ? [value, ...inner] : inner;
}

function accessOf(node: Record<string, unknown>, layout: PostgresLayout): readonly TableAccess[] {
  const index = node["Index Name"];
  if (typeof index === "string") {
    const isSearched = node["Index Cond"] !== undefined;
    return [{ index: servingIndex(index.replace(shardNumber, ""), layout), isSearched }];
  }
  return node["Node Type"] === "Seq Scan" ? [{ index: undefined, isSearched: false }] : [];
}

function servingIndex(index: string, layout: PostgresLayout): ServingIndex {
  const { search, expires } = layout.definition;
  if (index === layout.idConstraint) return { kind: "unique", fields: ["id"] };
  if (index === layout.search.own?.index) return { kind: "search", fields: search };
  const known = layout.indexes.find(({ name }) => name === index);
  if (known === undefined) return { kind: "other", fields: [] };
  const { fields } = known;
  if (fields.length === 0) {
    const isExpiry = expires !== undefined && known.name.includes(":expires:");
    return { kind: "index", fields: [isExpiry ? expires.field : "createdAt"] };
  }
  if (known.name.includes(":geo:")) return { kind: "geo", fields };
  if (known.name.includes(":collated:")) return { kind: "collate", fields };
  // In a distributed store the indexes of unique fields are like others.
  const isUnique = layout.definition.unique.some((each) => String(each) === String(fields));
  return { kind: isUnique ? "unique" : "index", fields };
}
