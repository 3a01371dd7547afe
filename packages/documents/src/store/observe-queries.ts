import type { Explanation, UnindexedQuery } from "../api/explanation.ts";
import type { Engine } from "../engines/engine.ts";
import type { Layout } from "../engines/layout.ts";
import { type ReadPlan, selectionOf } from "../engines/operations/find.ts";
import type { Filter } from "../query/filter.ts";
import type { ParsedSelection } from "../query/parse-query.ts";
import { explanationOf } from "./explanation.ts";

/** Receives a query that is about to be run. */
export type ObserveQuery = (layout: Layout, plan: ReadPlan) => void;

/** Queries whose form depends on users may have any number of forms. */
const maxForms = 1000;

/** Explains each form of query when it is first run, next to it, and reports those that no index serves. */
export function observeQueries(
  engine: Engine,
  report: (query: UnindexedQuery) => void,
): ObserveQuery {
  const seen = new Set<string>();
  const check = async (layout: Layout, plan: ReadPlan, form: string): Promise<void> => {
    let explanation: Explanation;
    try {
      const firstPage = plan.find && { ...plan.find, after: undefined };
      const explained = { ...plan, find: firstPage };
      const statements = await engine.explain(layout, explained);
      explanation = explanationOf(layout.definition, explained, statements);
    } catch {
      // The query itself reports what is wrong; where nothing is, it is explained the next time.
      seen.delete(form);
      return;
    }
    if (explanation.scans) report({ collection: layout.definition.name, ...explanation });
  };
  return (layout, plan) => {
    const form = formOf(layout.definition.name, plan);
    if (seen.has(form) || seen.size >= maxForms) return;
    seen.add(form);
    void check(layout, plan, form);
  };
}

/** Writes what the indexes of a query depend on. */
function formOf(collection: string, plan: ReadPlan): string {
  const { find, count } = plan;
  const selection = selectionOf(plan);
  const order = find?.query.order.map(({ path, descending }) => [path.text, descending]);
  const isLimited = find?.query.limit !== undefined;
  return JSON.stringify([collection, formOfSelection(selection), order, isLimited, !count]);
}

function formOfSelection(selection: ParsedSelection | undefined): unknown {
  if (selection === undefined) return undefined;
  const { filter, words, near, deleted } = selection;
  return [filter && formOfFilter(filter), words.length > 0, near?.field, deleted];
}

function formOfFilter(filter: Filter): string {
  switch (filter.kind) {
    case "all":
    case "any": {
      // A filter may have a list of alternatives of the same form, such as one for each user.
      const forms = [...new Set(filter.filters.map(formOfFilter))];
      return `${filter.kind}(${forms.join()})`;
    }
    case "not":
      return `not(${formOfFilter(filter.filter)})`;
    default:
      return `${filter.kind} ${JSON.stringify(filter.path.text)}`;
  }
}
