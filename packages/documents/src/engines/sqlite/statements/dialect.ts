import type { ParsedPath } from "../../../api/field-path.ts";
import type { ScalarValue } from "../../../api/where.ts";
import type { RangeFilter } from "../../../query/filter.ts";
import type { OrderTerm } from "../../../query/parse-query.ts";
import { isAmbiguousRange, looksLikeJson } from "../../../query/text-range.ts";
import {
  columnOf,
  type ColumnType,
  type Dialect,
  quoteName,
  type StatementWriter,
} from "../../dialect.ts";
import type { Statement, Value } from "../../operation.ts";
import { whereSql } from "../../operations/where.ts";
import { tickSql } from "../connection/budget.ts";
import { jsonPath, quoteText } from "./json.ts";
import { memberOf, memberSql, membersOf, membersTable } from "./members.ts";

/** Writes a field's value as in an index, which queries need in the same expression. */
export function indexExpression(path: ParsedPath): string {
  return path.meta === undefined
    ? `json_extract(doc, ${quoteText(jsonPath(path.segments))})`
    : columnOf(path.meta);
}

/**
 * Writes statements of SQLite. Placeholders have no numbers, which Node 22 cannot bind, so values
 * are bound in the order of the text.
 */
export class SqliteWriter implements StatementWriter {
  readonly values: Value[] = [];

  bind(value: Value, _type?: ColumnType): string {
    this.values.push(value);
    return "?";
  }

  isIn(column: string, values: readonly (boolean | number | string | null)[]): string {
    const [first] = values;
    return values.length === 1 && (typeof first === "string" || typeof first === "number")
      ? `${column} = ${this.bindExactly(first)}`
      : `${column} IN (SELECT value FROM json_each(${this.bind(JSON.stringify(values))}))`;
  }

  read(text: string): Statement {
    return { kind: "read", text, values: this.values };
  }

  write(text: string): Statement {
    return { kind: "write", text, values: this.values };
  }

  /** Binds a value that fields are compared with. */
  protected bindExactly(value: number | string): string {
    if (typeof value === "string" || Number.isSafeInteger(value)) return this.bind(value);
    // SQLite reads some decimal numbers one bit apart from JavaScript, so it reads this one too.
    return `(${this.bind(JSON.stringify(value))} ->> '$')`;
  }
}

/** The part of a collection that the dialect needs. */
export interface SqliteTable {
  /** Fields that have an index. */
  readonly indexed: ReadonlySet<string>;
  /** Fields whose lists have a table of their members. */
  readonly listIndexed: ReadonlySet<string>;
  readonly definition: { readonly name: string };
  /** Name of the table of search texts, quoted. */
  readonly quotedSearch: string;
}

/**
 * Writes expressions over the JSON text of documents.
 *
 * `json_extract` loses some types: `true` reads as 1, an object as its text. The JSON type is
 * compared only where a value would be ambiguous, because that needs the document; otherwise an
 * index is enough.
 *
 * The path of a field without an index is bound as well. So the number of different statements
 * depends on the program and not on its users. They would otherwise fill the memory with prepared
 * ones.
 */
export class SqliteDialect extends SqliteWriter implements Dialect {
  readonly #table: SqliteTable;
  readonly #isTimed: boolean;

  constructor(table: SqliteTable, isTimed: boolean) {
    super();
    this.#table = table;
    this.#isTimed = isTimed;
  }

  countVisited(column = "seq"): readonly string[] {
    return this.#isTimed ? [tickSql(column)] : [];
  }

  key(path: ParsedPath): string {
    if (path.meta !== undefined || this.#table.indexed.has(path.text)) return indexExpression(path);
    return `json_extract(doc, ${this.bind(jsonPath(path.segments))})`;
  }

  keyOfValue(_path: ParsedPath, value: number | string): string {
    return this.bindExactly(value);
  }

  hasKey(path: ParsedPath): string {
    // Minus infinity is less than every value; no index is searched for IS NOT NULL.
    return `${this.key(path)} >= -9e999`;
  }

  order(terms: readonly OrderTerm[]): string {
    return terms
      .map(({ path, descending }) => `${this.key(path)}${descending ? " DESC" : ""}`)
      .join(", ");
  }

  exists(path: ParsedPath): string {
    return `${this.#type(path)} IS NOT NULL`;
  }

  equals(path: ParsedPath, values: readonly ScalarValue[]): string {
    const plain = values.filter(isUnambiguous);
    const bits = values.filter((value) => value === 0 || value === 1);
    const texts = values.filter((value) => typeof value === "string" && looksLikeJson(value));
    const choices: string[] = [];
    if (plain.length > 0) choices.push(this.isIn(this.key(path), plain));
    if (bits.length > 0) {
      choices.push(`(${this.isIn(this.key(path), bits)}${this.ofType(path, "'integer', 'real'")})`);
    }
    if (texts.length > 0) {
      choices.push(`(${this.isIn(this.key(path), texts)}${this.ofType(path, "'text'")})`);
    }
    if (values.includes(true)) {
      choices.push(`(${this.key(path)} = 1${this.ofType(path, "'true'")})`);
    }
    if (values.includes(false)) {
      choices.push(`(${this.key(path)} = 0${this.ofType(path, "'false'")})`);
    }
    if (values.includes(null)) choices.push(`${this.key(path)} IS NULL`);
    return choices.length === 0 ? "FALSE" : `(${choices.join(" OR ")})`;
  }

  contains(path: ParsedPath, values: readonly ScalarValue[]): string {
    if (this.#table.listIndexed.has(path.text)) {
      const rows = this.members(path, values);
      return `EXISTS (SELECT 1 FROM ${rows} AND document = seq)`;
    }
    const members = membersOf(path, {
      document: "doc",
      text: (text) => (this.#table.indexed.has(path.text) ? quoteText(text) : this.bind(text)),
    });
    return (
      `EXISTS (SELECT 1 FROM ${members} AND (${memberSql("m")}) IN (SELECT ${memberSql("w")} ` +
      `FROM json_each(${this.bind(JSON.stringify(values))}) AS w))`
    );
  }

  hasMember(path: ParsedPath, values: readonly ScalarValue[]): string {
    return `seq IN (SELECT document FROM ${this.members(path, values)})`;
  }

  /** Writes FROM and WHERE for the members of a field that equal one of the values. */
  members(path: ParsedPath, values: readonly ScalarValue[]): string {
    const table = quoteName(membersTable(this.#table.definition.name, path.text).name);
    const ticks = this.countVisited("document").map((tick) => `${tick} AND `);
    const [only = null] = values;
    if (values.length === 1) {
      const { type, atom } = memberOf(only);
      return `${table} WHERE ${ticks.join("")}type = '${type}' AND value = ${this.bindExactly(atom)}`;
    }
    return (
      `${table} WHERE ${ticks.join("")}(type, value) IN (SELECT ${memberSql("w")} ` +
      `FROM json_each(${this.bind(JSON.stringify(values))}) AS w)`
    );
  }

  range({ path, lower, upper }: RangeFilter): string {
    const type = typeof (lower ?? upper)?.value;
    const terms: string[] = [];
    if (lower !== undefined) {
      const operator = lower.inclusive ? ">=" : ">";
      terms.push(`${this.key(path)} ${operator} ${this.bindExactly(lower.value)}`);
    } else if (type === "string") {
      terms.push(`${this.key(path)} >= ''`);
    }
    if (upper !== undefined) {
      const operator = upper.inclusive ? "<=" : "<";
      terms.push(`${this.key(path)} ${operator} ${this.bindExactly(upper.value)}`);
    } else if (type === "number") {
      // Every text is greater than every number, and the empty one is the smallest.
      terms.push(`${this.key(path)} < ''`);
    }
    const range = terms.join(" AND ");
    if (!isAmbiguousRange(lower?.value, upper?.value, type)) return `(${range})`;
    return `(${range}${this.ofType(path, type === "number" ? "'integer', 'real'" : "'text'")})`;
  }

  search(words: readonly string[]): readonly string[] {
    return [`seq IN (SELECT rowid FROM ${this.matches(words)})`];
  }

  /** Writes FROM and WHERE: words become FTS5 strings, where only `"` has a meaning. */
  matches(words: readonly string[]): string {
    const phrases = words.map((word) => `"${word.replaceAll('"', '""')}"`);
    const terms = [...this.countVisited("rowid"), `text MATCH ${this.bind(phrases.join(" AND "))}`];
    return `${this.#table.quotedSearch}${whereSql(terms)}`;
  }

  /** By GLOB, because `instr` takes longer; the plus keeps FTS5 from looking the pattern up. */
  hasWords(words: readonly string[]): readonly string[] {
    const { quotedSearch } = this.#table;
    return [
      `EXISTS (SELECT 1 FROM ${quotedSearch} AS found WHERE found.rowid = seq AND ${this.textHas(words)})`,
    ];
  }

  /** Writes the condition that the text of a row called `found` has the words. */
  textHas(words: readonly string[]): string {
    const terms = words.map((word) => {
      const literal = word.replaceAll(/[*?[]/g, "[$&]");
      return `+found.text GLOB ${this.bind(`*${literal}*`)}`;
    });
    return terms.join(" AND ");
  }

  isRow(keys: readonly (number | string | null)[]): string {
    return `seq IN (SELECT value FROM json_each(${this.bind(JSON.stringify(keys))}))`;
  }

  page(limit: number | undefined, offset: number): string {
    // LIMIT -1 is none.
    return ` LIMIT ${this.bind(limit ?? -1)} OFFSET ${this.bind(offset)}`;
  }

  /** The path of a field; an index is used only when its own text is in the statement. */
  path(path: ParsedPath): string {
    const text = jsonPath(path.segments);
    return this.#table.indexed.has(path.text) ? quoteText(text) : this.bind(text);
  }

  /** Writes AND and the condition that a field is of one of some JSON types: reads the document. */
  protected ofType(path: ParsedPath, types: string): string {
    return ` AND ${this.#type(path)} IN (${types})`;
  }

  /** The JSON type of a field; NULL when it is missing. */
  #type(path: ParsedPath): string {
    return `json_type(doc, ${this.path(path)})`;
  }
}

/** Writes conditions that an index alone checks: an ambiguous value may match more rows. */
export class SqliteKeyDialect extends SqliteDialect {
  protected override ofType(): string {
    return "";
  }
}

function isUnambiguous(value: ScalarValue): boolean {
  if (typeof value === "number") return value !== 0 && value !== 1;
  return typeof value === "string" && !looksLikeJson(value);
}
