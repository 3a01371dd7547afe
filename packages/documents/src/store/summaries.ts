import type { AggregateGroup, MemberValue } from "../api/aggregate.ts";
import type { Stored } from "../api/document.ts";
import { queryError } from "../api/errors.ts";
import type { FieldValue } from "../api/field-path.ts";
import type { Row } from "../engines/operation.ts";
import { maxGroups } from "../engines/operations/summarize.ts";
import type { ParsedAggregate } from "../query/parse-aggregate.ts";

/** Makes a group from its row; the caller states the type of the values, as for documents. */
export function groupOf<T, B extends string, V>(
  { by, values }: ParsedAggregate,
  row: Row,
): AggregateGroup<T, B, V> {
  const keys = by.map(({ text }, index) => [text, parseCell(row[index])]);
  const computed = values.map(({ name }, index) => [name, row[by.length + index]]);
  return Object.fromEntries([...keys, ...computed]) as AggregateGroup<T, B, V>;
}

/** Reads a value of a field. */
export function memberValue<T, P extends string>(
  cell: Row[number] | undefined,
): MemberValue<FieldValue<Stored<T>, P>> {
  return parseCell(cell) as MemberValue<FieldValue<Stored<T>, P>>;
}

/** @throws {InputError} `ERR_DOCUMENTS_QUERY` when not all groups or values were computed */
export function refuseTooMany(count: number): void {
  if (count <= maxGroups) return;
  throw queryError(
    `more than ${maxGroups} groups or different values, expected a filter that selects fewer`,
    "by",
  );
}

function parseCell(cell: Row[number] | undefined): unknown {
  return JSON.parse(String(cell));
}
