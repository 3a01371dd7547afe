import { createHash } from "node:crypto";
import { type ParsedPath, parsePath } from "../../../api/field-path.ts";
import type { ScalarValue } from "../../../api/where.ts";
import type { RangeFilter } from "../../../query/filter.ts";
import type { OrderTerm } from "../../../query/parse-query.ts";
import { isAmbiguousRange, looksLikeJson } from "../../../query/text-range.ts";
import {
  columnOf,
  type ColumnType,
  type Dialect,
  type StatementUse,
  type StatementWriter,
} from "../../dialect.ts";
import type { Statement, Value } from "../../operation.ts";
import {
  isLong,
  jsonOf,
  keyCharacters,
  keyOf,
  longTextKey,
  numberKey,
  textOf,
  typeOf,
} from "./keys.ts";
import { containsSql, hasMemberSql } from "./members.ts";

const maxStatements = 64;
const maxStatementLength = 4096;

/** Writes statements of PostgreSQL. */
export class PostgresWriter implements StatementWriter {
  readonly values: Value[] = [];

  bind(value: Value, type: ColumnType | `${ColumnType}[]`): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }

  isIn(column: string, values: readonly (number | string)[], type: ColumnType): string {
    const [first] = values;
    return values.length === 1 && first !== undefined
      ? `${column} = ${this.bind(first, type)}`
      : `${column} = ANY(${this.bind(values, `${type}[]`)})`;
  }

  read(text: string, use?: StatementUse): Statement {
    return { kind: "read", values: this.values, ...this.prepare(text, use) };
  }

  write(text: string, use?: StatementUse): Statement {
    return { kind: "write", values: this.values, ...this.prepare(text, use) };
  }

  /** Completes the text, and names it when servers shall keep it prepared. */
  protected prepare(text: string, _use: StatementUse | undefined): PreparedText {
    return { text, name: undefined };
  }
}

/** A complete text of a statement. */
interface PreparedText {
  readonly text: string;
  /** Set when the server shall keep the statement prepared. */
  readonly name: string | undefined;
}

/** Statements that servers keep prepared, by their drafts. */
export class PreparedStatements {
  readonly #texts = new Map<string, PreparedText>();
  #repeated = 0;

  /**
   * Makes a statement of a draft, in which a field is between two U+0000 instead of its key:
   * the keys are long, and most statements were made before. No path and no text of SQL has U+0000.
   *
   * Names only the first short ones of the statements that depend on the program: connections never
   * forget them, and users may ask for any filter.
   */
  of(draft: string, use: StatementUse): PreparedText {
    if (use === "once") return { text: this.#expand(draft), name: undefined };
    const known = this.#texts.get(draft);
    if (known !== undefined) return known;
    const text = this.#expand(draft);
    if (use === "repeated") {
      if (this.#repeated >= maxStatements || text.length > maxStatementLength) {
        return { text, name: undefined };
      }
      this.#repeated += 1;
    }
    const name = createHash("sha256").update(text).digest("base64url").slice(0, 24);
    const statement = { text, name };
    this.#texts.set(draft, statement);
    return statement;
  }

  #expand(draft: string): string {
    return draft
      .split("\0")
      .map((part, index) => (index % 2 === 0 ? part : keyOf(parsePath(part))))
      .join("");
  }
}

/** The part of a collection that the dialect needs. */
export interface DialectTable {
  /** Fields that have an index. */
  readonly indexed: ReadonlySet<string>;
  readonly statements: PreparedStatements;
  readonly search: { readonly own: SearchColumns | undefined };
}

/** Columns that a search looks at. */
export interface SearchColumns {
  /** Column of the texts. */
  readonly text: string;
  /** Column of the versions that the texts are of; undefined where every text is current. */
  readonly of: string | undefined;
}

/**
 * Writes expressions over documents in `jsonb`.
 *
 * A key does not tell `true` from 1, nor an object from a string of its JSON text. The JSON itself
 * is compared only where a value would be ambiguous, because that needs the document; otherwise an
 * index is enough.
 */
export class PostgresDialect extends PostgresWriter implements Dialect {
  readonly #table: DialectTable;

  constructor(table: DialectTable) {
    super();
    this.#table = table;
  }

  /** The server limits the time of statements. */
  countVisited(): readonly string[] {
    return [];
  }

  key(path: ParsedPath): string {
    return path.meta === undefined ? `\0${path.text}\0` : columnOf(path.meta);
  }

  keyOfValue(path: ParsedPath, value: number | string): string {
    if (path.meta !== undefined) {
      return this.bind(value, path.meta === "version" ? "numeric" : "text");
    }
    if (typeof value === "number") return this.bind(numberKey(value), "text");
    if (!isLong(value)) return this.bind(`s${value}`, "text");
    return longTextKey(this.bind(value, "text"));
  }

  hasKey(path: ParsedPath): string {
    return `${this.key(path)} IS NOT NULL`;
  }

  order(terms: readonly OrderTerm[]): string {
    return orderSql(terms, (path) => this.key(path));
  }

  exists(path: ParsedPath): string {
    return `${jsonOf(path)} IS NOT NULL`;
  }

  equals(path: ParsedPath, values: readonly ScalarValue[]): string {
    const isIndexed = this.#table.indexed.has(path.text);
    const choices: string[] = [];
    if (values.includes(null)) {
      choices.push(
        isIndexed ? `${this.key(path)} IS NULL` : `coalesce(${jsonOf(path)}, 'null') = 'null'`,
      );
    }
    const others = values.filter((value) => value !== null);
    const exact = isIndexed ? others.filter(isExact) : [];
    const vague = isIndexed ? others.filter((value) => !isExact(value)) : [];
    if (exact.length > 0) choices.push(this.#keyIn(path, exact));
    if (vague.length > 0) {
      choices.push(`(${this.#keyIn(path, vague)} AND ${this.#jsonIn(path, vague)})`);
    }
    if (!isIndexed && others.length > 0) choices.push(this.#jsonIn(path, others));
    return choices.length === 0 ? "FALSE" : `(${choices.join(" OR ")})`;
  }

  contains(path: ParsedPath, values: readonly ScalarValue[]): string {
    return containsSql(path, values, (lists) => this.bind(lists, "jsonb[]"));
  }

  hasMember(path: ParsedPath, values: readonly ScalarValue[]): string {
    return hasMemberSql(path, values, (list) => this.bind(list, "jsonb"));
  }

  range({ path, lower, upper }: RangeFilter): string {
    const type = typeof (lower ?? upper)?.value;
    const key = this.key(path);
    const terms: string[] = [];
    if (lower !== undefined) {
      // The key of a long text begins with its first characters, so it is at least those.
      const operator = lower.inclusive || isLong(lower.value) ? ">=" : ">";
      terms.push(`${key} ${operator} ${this.bind(this.#keyStart(lower.value), "text")}`);
    } else {
      terms.push(`${key} >= '${type === "string" ? "s" : "m"}'`);
    }
    if (upper !== undefined) {
      const operator = upper.inclusive || isLong(upper.value) ? "<=" : "<";
      // The hash that follows the first characters has no "g".
      const end = `${this.#keyStart(upper.value)}${isLong(upper.value) ? "g" : ""}`;
      terms.push(`${key} ${operator} ${this.bind(end, "text")}`);
    } else if (type === "number") {
      terms.push(`${key} < 's'`);
    }
    for (const [bound, operator] of [
      [lower, ">"],
      [upper, "<"],
    ] as const) {
      if (bound === undefined || typeof bound.value !== "string" || !isLong(bound.value)) continue;
      const value = this.bind(bound.value, "text");
      terms.push(`${textOf(path)} COLLATE "C" ${operator}${bound.inclusive ? "=" : ""} ${value}`);
    }
    if (isAmbiguousRange(lower?.value, upper?.value, type)) {
      // These are the other types in the same part of the keys. The planner takes for granted that
      // few are equal. It would read all documents of a wide range where those of a page come
      // sooner in their order.
      const others = type === "number" ? "<> 'boolean'" : "NOT IN ('array', 'object')";
      terms.push(`${typeOf(path)} ${others}`);
    }
    return `(${terms.join(" AND ")})`;
  }

  /**
   * The trigram index finds them, where the locale of the database knows the letters. A pattern in
   * a subquery is unknown to the planner. Otherwise it would read all texts when it estimates
   * wrongly that most have the word.
   */
  search(words: readonly string[]): readonly string[] {
    const { text = "search", of } = this.#table.search.own ?? {};
    const terms = words.map((word) => {
      const literal = word.replaceAll(/[\\%_]/g, "\\$&");
      return `${text} LIKE (SELECT ${this.bind(`%${literal}%`, "text")})`;
    });
    return of === undefined ? terms : [...terms, `${of} = version`];
  }

  isRow(keys: readonly (number | string | null)[]): string {
    return `id = ANY(${this.bind(keys, "text[]")})`;
  }

  hasWords(words: readonly string[]): readonly string[] {
    const { text = "search", of } = this.#table.search.own ?? {};
    const terms = words.map((word) => `strpos(${text}, ${this.bind(word, "text")}) > 0`);
    return of === undefined ? terms : [...terms, `${of} = version`];
  }

  /** The numbers are part of the text, because the best plan depends on them. */
  page(limit: number | undefined, offset: number): string {
    return `${limit === undefined ? "" : ` LIMIT ${limit}`}${offset === 0 ? "" : ` OFFSET ${offset}`}`;
  }

  protected override prepare(draft: string, use: StatementUse = "once"): PreparedText {
    return this.#table.statements.of(draft, use);
  }

  #keyIn(path: ParsedPath, values: readonly (boolean | number | string)[]): string {
    const short: string[] = [];
    const choices: string[] = [];
    for (const value of values) {
      if (typeof value === "string" && isLong(value)) {
        choices.push(`${this.key(path)} = ${this.keyOfValue(path, value)}`);
      } else {
        short.push(typeof value === "string" ? `s${value}` : numberKey(Number(value)));
      }
    }
    if (short.length > 0) choices.push(this.isIn(this.key(path), short, "text"));
    return choices.length === 1 ? choices.join("") : `(${choices.join(" OR ")})`;
  }

  #jsonIn(path: ParsedPath, values: readonly (boolean | number | string)[]): string {
    const texts = values.map((value) => JSON.stringify(value));
    return this.isIn(jsonOf(path), texts, "jsonb");
  }

  #keyStart(value: number | string): string {
    if (typeof value === "number") return numberKey(value);
    return isLong(value) ? `s${Array.from(value).slice(0, keyCharacters).join("")}` : `s${value}`;
  }
}

/** Returns the dialect of a condition that this engine wrote. */
export function asPostgresDialect(sql: Dialect): PostgresDialect {
  if (sql instanceof PostgresDialect) return sql;
  throw new TypeError("the condition was not written by this engine");
}

/** Writes the terms of ORDER BY, which serve as index columns in both directions. */
export function orderSql(terms: readonly OrderTerm[], key: (path: ParsedPath) => string): string {
  return terms
    .map(({ path, descending }) => {
      const nulls = descending ? "NULLS LAST" : "NULLS FIRST";
      const direction = descending ? "DESC" : "ASC";
      return `${key(path)} ${direction}${path.meta === undefined ? ` ${nulls}` : ""}`;
    })
    .join(", ");
}

/** Whether no other value has the key of this one. */
function isExact(value: boolean | number | string): boolean {
  if (typeof value === "number") return value !== 0 && value !== 1;
  return typeof value === "string" && !looksLikeJson(value) && !isLong(value);
}
