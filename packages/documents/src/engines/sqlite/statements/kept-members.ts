import { isObject } from "@fetchwork/kit";
import { type ParsedPath, valueAt } from "../../../api/field-path.ts";
import { quoteName } from "../../dialect.ts";
import type { Layout } from "../../layout.ts";
import type { Operation } from "../../operation.ts";
import { compareMembers, memberSql, membersTable, type MembersTable } from "./members.ts";

/**
 * Keeps the tables of members of a collection up to date: all that the file has, even those that
 * only another program declares. Triggers are slower, because FTS5 writes all that it has buffered
 * before each statement that fires one.
 */
export class KeptMembers {
  readonly #layout: Pick<Layout, "definition" | "listIndexed" | "quoted">;
  #tables: readonly MembersTable[] = [];

  constructor(layout: Pick<Layout, "definition" | "listIndexed" | "quoted">) {
    this.#layout = layout;
  }

  /** Whether there are tables to be changed with a document. */
  get isKept(): boolean {
    return this.#tables.length > 0;
  }

  /** Sets the fields that have a table; returns whether all declared fields have one. */
  use(fields: readonly string[]): boolean {
    const { definition, listIndexed } = this.#layout;
    this.#tables = fields.map((field) => membersTable(definition.name, field));
    return [...listIndexed].every((field) => fields.includes(field));
  }

  /** Adds the members of a new row. */
  *add(seq: number, stored: unknown): Operation<void> {
    for (const table of this.#tables) yield* addTo(table, seq, membersAt(stored, table.path));
  }

  /** Replaces the members of a row, if they changed. */
  *replace(seq: number, before: unknown, after: unknown): Operation<void> {
    for (const table of this.#tables) {
      const [old, now] = [membersAt(before, table.path), membersAt(after, table.path)];
      if (JSON.stringify(old) === JSON.stringify(now)) continue;
      if (old.length > 0) {
        yield {
          kind: "write",
          text:
            `DELETE FROM ${quoteName(table.name)} WHERE (type, value, document) IN ` +
            `(SELECT ${memberSql("m")}, ? FROM json_each(?) AS m)`,
          values: [seq, JSON.stringify(old)],
        };
      }
      yield* addTo(table, seq, now);
    }
  }

  /** Writes the statements that delete members of rows before the rows are deleted. */
  removals(rows: string): readonly string[] {
    return this.#tables.map((table) => {
      const name = quoteName(table.name);
      const { expected } = compareMembers(this.#layout.quoted, table);
      return (
        `DELETE FROM ${name} WHERE EXISTS (SELECT 1 FROM ${name}) AND (type, value, document) IN ` +
        `(${expected} AND stored.seq IN (${rows}))`
      );
    });
  }
}

function* addTo({ name }: MembersTable, seq: number, members: readonly unknown[]): Operation<void> {
  if (members.length === 0) return;
  yield {
    kind: "write",
    text: `INSERT OR IGNORE INTO ${quoteName(name)} SELECT ${memberSql("m")}, ? FROM json_each(?) AS m`,
    values: [seq, JSON.stringify(members)],
  };
}

/** Returns the members of lists at a path, as {@link compareMembers} selects them. */
function membersAt(stored: unknown, { segments }: ParsedPath): readonly unknown[] {
  const plain = valueAt(stored, segments);
  if (plain !== undefined && !Array.isArray(plain)) return [];
  let found: readonly unknown[] = [stored];
  for (const name of segments) found = found.flatMap((value) => step(value, name));
  return found.filter((value) => typeof value !== "object" || value === null);
}

/** Returns what an object has by a name; of a list, its members. */
function step(value: unknown, name: string): unknown {
  if (!isObject(value) || !Object.hasOwn(value, name)) return [];
  return value[name];
}
