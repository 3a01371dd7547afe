import type { UnindexedQuery } from "../api/explanation.ts";
import type { Layout } from "../engines/layout.ts";
import type { ReadPlan } from "../engines/operations/find.ts";
import { explanationOf } from "./explanation.ts";

/** Receives a query that is about to be run. */
export type ObserveQuery = (layout: Layout, plan: ReadPlan) => void;

/** Queries whose form depends on users may have any number of forms. */
const maxForms = 1000;

/** Explains each query, and reports those that no index serves, each form of them once. */
export function observeQueries(report: (query: UnindexedQuery) => void): ObserveQuery {
  const seen = new Set<string>();
  return ({ definition }, plan) => {
    const explanation = explanationOf(definition, plan);
    if (!explanation.scans) return;
    const query = { collection: definition.name, ...explanation };
    const form = JSON.stringify(query);
    if (seen.has(form) || seen.size >= maxForms) return;
    seen.add(form);
    // An error of the function must not fail the query.
    queueMicrotask(() => report(query));
  };
}
