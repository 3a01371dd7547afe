import { type ParsedPath, parsePath } from "../../../api/field-path.ts";
import { hasPatterns } from "../../../document/search-text.ts";
import { toStored } from "../../../document/stored.ts";
import {
  wantedDerived,
  describeGeneration,
  type Generation,
  textOfRow,
  touchInterval,
} from "../../derived.ts";
import type { NewRow } from "../../layout.ts";
import type { Operation, Row } from "../../operation.ts";
import { generationsTable } from "../../own-tables.ts";
import { documentColumns } from "./columns.ts";
import { type PostgresDialect, PostgresWriter } from "./dialect.ts";
import { indexName } from "./indexes.ts";
import type { Column } from "./row-values.ts";

/** Rows of one statement that reads documents whose texts are not stored yet. */
const chunk = 500;

/** Columns and indexes of a generation. */
export interface SearchNames {
  /** Column of the texts. */
  readonly text: string;
  /** Column of the version of the texts' documents; undefined if texts are current. */
  readonly of: string | undefined;
  /** Name of the index of the texts. */
  readonly index: string;
  /** Name of the index of rows whose text is not current. */
  readonly staleIndex: string;
}

/** Names the columns and indexes of a generation. */
export function searchNames(collection: string, suffix: string): SearchNames {
  const fields = suffix === "" ? [] : [suffix];
  return {
    text: suffix === "" ? "search" : `search_${suffix}`,
    of: suffix === "" ? undefined : `search_${suffix}_of`,
    index: indexName(collection, "search", fields),
    staleIndex: indexName(collection, "stale", fields),
  };
}

/** Writes the condition that the text of a row is not current, as the index of such rows has it. */
export function staleSql(of: string): string {
  return `${of} IS DISTINCT FROM version`;
}

/** Writes the columns by which rows whose text is not current are indexed. */
export function staleKeySql(of: string): string {
  return `coalesce(${of}, 0), id`;
}

interface Searched extends SearchNames {
  readonly generation: Generation;
  /** Whether all texts were derived once, and indexes serve a search. */
  readonly isBuilt: boolean;
}

/**
 * The search texts of a collection: a column for each generation. Every program keeps those up to
 * date that it knows of.
 *
 * The generation with which the collection was created is known to all. The text of a later one has
 * the version of the document next to it. A program that does not know the generation changes the
 * version of the document alone. So the text is seen to be stale; programs that search this
 * generation read these documents, and derive the texts again.
 */
export class PostgresSearchTexts {
  /** Derived data of this program, as the registry has it; null for none. */
  readonly derived: string | null;
  readonly #table: { readonly quoted: string; readonly definition: { readonly name: string } };
  readonly #ownPaths: readonly ParsedPath[];
  #generations: readonly (Generation & SearchNames)[] = [];
  #paths: readonly ParsedPath[];
  #own: Searched | undefined;

  constructor(table: {
    readonly quoted: string;
    readonly definition: Parameters<typeof wantedDerived>[0];
  }) {
    this.derived = wantedDerived(table.definition).search;
    this.#table = table;
    this.#ownPaths = table.definition.search.map((field) => parsePath(field));
    this.#paths = this.#ownPaths;
  }

  /** Where this program searches; undefined when it does not, or nothing is registered. */
  get own(): Searched | undefined {
    return this.#own;
  }

  /** Fields that texts of any program are derived from. */
  get paths(): readonly ParsedPath[] {
    return this.#paths;
  }

  /** Notes registered generations: what is derived, suffix, and if texts were complete. */
  use(registered: readonly Row[]): void {
    const { name } = this.#table.definition;
    this.#generations = registered.map(([derived, suffix]) => ({
      ...describeGeneration(String(derived), String(suffix)),
      ...searchNames(name, String(suffix)),
    }));
    const fields = new Set(this.#generations.flatMap((generation) => generation.fields));
    this.#paths = [...this.#ownPaths, ...[...fields].map((field) => parsePath(field))];
    const generation = this.#generations.find(({ derived }) => derived === this.derived);
    const row = registered.find(([derived]) => derived === this.derived);
    this.#own = generation && {
      ...searchNames(name, generation.suffix),
      generation,
      isBuilt: row?.[2] === "true",
    };
  }

  /** The columns of rows to add, of which `version` is the column of versions. */
  columnsOf(rows: readonly NewRow[], version: Column): readonly Column[] {
    const columns: Column[] = [];
    for (const { textOf, text, of } of this.#generations) {
      columns.push({ name: text, type: "text", values: rows.map(({ stored }) => textOf(stored)) });
      if (of === undefined) continue;
      columns.push({ ...version, name: of });
    }
    return columns;
  }

  /** Returns what an UPDATE sets when the document becomes another one. */
  changes(after: { readonly version: number }, sql: PostgresDialect): readonly string[] {
    return this.#generations.flatMap(({ textOf, text, of }) => {
      const set = `${text} = ${sql.bind(textOf(after), "text")}`;
      return of === undefined ? [set] : [set, `${of} = ${sql.bind(after.version, "bigint")}`];
    });
  }

  /** SET terms of an UPDATE that raises the version and keeps texts, each after a comma. */
  keeping(): string {
    return this.#generations
      .map(({ of }) =>
        of === undefined
          ? ""
          : `, ${of} = CASE WHEN ${of} = version THEN version + 1 ELSE ${of} END`,
      )
      .join("");
  }

  /** Finds documents with the words among those whose text is not current. */
  *findUnindexed(words: readonly string[]): Operation<readonly Row[number][]> {
    if (this.#own?.of === undefined) return [];
    if (!this.#own.isBuilt) this.use(yield* this.registered());
    // It may become built while this goes on, and rows be read in another order.
    const own = this.#own;
    const found: Row[number][] = [];
    for (let rows: readonly Row[] | undefined; rows === undefined || rows.length === chunk;) {
      rows = yield* this.readStale(rows?.at(-1), own);
      found.push(...this.#matching(rows, words));
    }
    return found;
  }

  /**
   * Reads documents whose text is not current, after another one. Before the index of them exists,
   * they are read in the order of the ids.
   */
  *readStale(
    after: Row | undefined,
    own: Searched | undefined = this.#own,
  ): Operation<readonly Row[]> {
    const { of, isBuilt } = own ?? {};
    if (of === undefined) return [];
    const sql = new PostgresWriter();
    const key = isBuilt === true ? staleKeySql(of) : "id";
    const terms = [staleSql(of)];
    if (after !== undefined) {
      const [id = null, , , , , , version = null] = after;
      const bound = isBuilt === true ? `${sql.bind(version, "bigint")}, ` : "";
      terms.push(`(${key}) > (${bound}${sql.bind(id, "text")})`);
    }
    const { rows } = yield sql.read(
      `SELECT ${documentColumns}, coalesce(${of}, 0) FROM ${this.#table.quoted} ` +
        `WHERE ${terms.join(" AND ")} ORDER BY ${key} LIMIT ${chunk}`,
    );
    return rows;
  }

  /** Stores the texts of documents, unless another program was faster. */
  *store(rows: readonly Row[]): Operation<void> {
    const own = this.#own;
    if (own?.of === undefined) return;
    const made = rows.flatMap((row) => {
      const text = textOfRow(this.#table.definition.name, row.slice(0, 5), own.generation);
      return text === undefined ? [] : [[...row.slice(0, 3), text]];
    });
    if (made.length === 0) return;
    const sql = new PostgresWriter();
    const types = ["text[]", "bigint[]", "text[]", "text[]"] as const;
    const columns = types.map((type, place) => {
      return sql.bind(
        made.map((each) => each[place] ?? null),
        type,
      );
    });
    yield sql.write(
      `UPDATE ${this.#table.quoted} AS stored SET ${own.text} = made.text, ${own.of} = made.version ` +
        `FROM unnest(${columns.join(", ")}) AS made (id, version, created_at, text) ` +
        "WHERE (stored.id, stored.version, stored.created_at) = (made.id, made.version, made.created_at)",
    );
  }

  /**
   * Takes note of the registered generations, notes that this program uses its own, and derives
   * texts that are stale. Returns whether that of this program is still registered.
   */
  *refresh(): Operation<boolean> {
    this.use(yield* this.registered());
    if (this.derived === null) return true;
    if (this.#own === undefined) return false;
    yield* this.touch();
    for (let rows: readonly Row[] | undefined; this.#own.isBuilt && rows?.length !== 0;) {
      rows = yield* this.readStale(rows?.at(-1));
      yield* this.store(rows);
    }
    return true;
  }

  /** Notes that this program uses its generation. */
  *touch(): Operation<void> {
    const sql = new PostgresWriter();
    const now = sql.bind(Date.now(), "bigint");
    yield sql.write(
      `UPDATE ${generationsTable} SET used = ${now} ` +
        `WHERE collection = ${sql.bind(this.#table.definition.name, "text")} ` +
        `AND derived = ${sql.bind(this.derived, "text")} AND used < ${now} - ${touchInterval}`,
    );
  }

  /** Reads the registered generations. */
  *registered(): Operation<readonly Row[]> {
    const sql = new PostgresWriter();
    const name = sql.bind(this.#table.definition.name, "text");
    const { rows } = yield sql.read(
      `SELECT derived, suffix, built::text FROM ${generationsTable} WHERE collection = ${name} ` +
        "ORDER BY derived",
    );
    return rows;
  }

  #matching(rows: readonly Row[], words: readonly string[]): readonly Row[number][] {
    const { name } = this.#table.definition;
    const textOf = this.#own?.generation.textOf ?? String;
    return rows.flatMap((row) =>
      hasPatterns(textOf(toStored(name, row.slice(0, 6))), words) ? [row[0] ?? null] : [],
    );
  }
}
