import { DocumentsError } from "../../../api/errors.ts";
import { hasPatterns } from "../../../document/search-text.ts";
import { toStored } from "../../../document/stored.ts";
import { wantedDerived, describeGeneration, type Generation } from "../../derived.ts";
import { quoteName } from "../../dialect.ts";
import type { Layout } from "../../layout.ts";
import type { Operation, Row } from "../../operation.ts";
import { generationsTable } from "../../own-tables.ts";

/** Rows of one statement that reads documents whose texts are not in the table yet. */
const chunk = 500;

/** Reports that another program dropped the search texts of this one, which are built again. */
export class UnregisteredError extends DocumentsError {
  constructor(collection: string) {
    super("ERR_DOCUMENTS_ENGINE", `the search of "${collection}" was dropped by another program`);
  }
}

/** Names the table of a generation's texts. */
export function searchTableOf(collection: string, suffix: string): string {
  return suffix === "" ? `${collection}:search` : `${collection}:search:${suffix}`;
}

/**
 * The search texts of a collection. Each generation has a table, and every program keeps all of
 * them up to date.
 */
export class SqliteSearchTexts {
  /** Derived data of this program, as the registry has it; null for none. */
  readonly derived: string | null;
  readonly #layout: Pick<Layout, "begin" | "definition" | "quoted">;
  #generations: readonly Generation[] = [];
  #name: string;

  constructor(layout: Pick<Layout, "begin" | "definition" | "quoted">) {
    this.derived = wantedDerived(layout.definition).search;
    this.#layout = layout;
    this.#name = searchTableOf(layout.definition.name, "");
  }

  /** Name of the table of the texts that this program searches. */
  get table(): string {
    return this.#name;
  }

  /** Whether this program can search. */
  get isSearched(): boolean {
    return this.derived !== null;
  }

  /** Whether texts of any program must be changed with a document. */
  get isDerived(): boolean {
    return this.#generations.length > 0;
  }

  /** Notes registered generations; returns whether this program's is among them. */
  use(registered: readonly Row[]): boolean {
    this.#generations = registered.map(([derived, suffix]) =>
      describeGeneration(String(derived), String(suffix)),
    );
    if (this.derived === null) return true;
    const own = this.#generations.find(({ derived }) => derived === this.derived);
    if (own !== undefined) this.#name = searchTableOf(this.#layout.definition.name, own.suffix);
    return own !== undefined;
  }

  /** Adds the texts of a new row. */
  *add(seq: number, stored: unknown): Operation<void> {
    for (const generation of this.#generations) {
      yield {
        kind: "write",
        text: `INSERT INTO ${this.#tableOf(generation)} (rowid, text) VALUES (?, ?)`,
        values: [seq, generation.textOf(stored)],
      };
    }
  }

  /** Changes the texts of a row. One that is not in its table yet stays away until it is built. */
  *replace(seq: number, before: unknown, after: unknown): Operation<void> {
    for (const generation of this.#generations) {
      if (generation.isSame(before, after)) continue;
      yield {
        kind: "write",
        text: `UPDATE ${this.#tableOf(generation)} SET text = ? WHERE rowid = ?`,
        values: [generation.textOf(after), seq],
      };
    }
  }

  /** Writes the statements that delete the texts of the rows that a query selects. */
  removals(rows: string): readonly string[] {
    return this.#generations.map(
      (generation) => `DELETE FROM ${this.#tableOf(generation)} WHERE rowid IN (${rows})`,
    );
  }

  /**
   * Finds the rows with the words among the documents whose texts are not in the table yet: it
   * reads these documents.
   *
   * @throws {UnregisteredError}
   */
  *findUnindexed(words: readonly string[]): Operation<readonly Row[number][]> {
    const { definition } = this.#layout;
    if (this.derived === null) return [];
    const { rows } = yield {
      kind: "read",
      text:
        `SELECT suffix, done, goal FROM ${generationsTable} ` +
        "WHERE collection = ? AND derived = ?",
      values: [definition.name, this.derived],
    };
    const [state] = rows;
    if (state === undefined) throw new UnregisteredError(definition.name);
    const [suffix, done, goal] = state;
    this.#name = searchTableOf(definition.name, String(suffix));
    const found: Row[number][] = [];
    if (Number(done) < Number(goal)) {
      const range = { after: Number(done), until: Number(goal) };
      yield* this.#findWithin(words, range, found);
    }
    return found;
  }

  *#findWithin(
    words: readonly string[],
    range: { readonly after: number; readonly until: number },
    found: Row[number][],
  ): Operation<void> {
    const { definition, quoted } = this.#layout;
    const textOf = describeGeneration(this.derived ?? "", "").textOf;
    for (let { after } = range; ;) {
      const sql = this.#layout.begin();
      const terms = [
        ...sql.countVisited(),
        `seq > ${sql.bind(after, "bigint")}`,
        `seq <= ${sql.bind(range.until, "bigint")}`,
      ];
      const { rows } = yield sql.read(
        "SELECT id, version, created_at, updated_at, doc, NULL, seq " +
          `FROM ${quoted} WHERE ${terms.join(" AND ")} ORDER BY seq LIMIT ${chunk}`,
      );
      for (const row of rows) {
        after = Number(row[6]);
        if (hasPatterns(textOf(toStored(definition.name, row)), words)) found.push(after);
      }
      if (rows.length < chunk) return;
    }
  }

  #tableOf({ suffix }: Generation): string {
    return quoteName(searchTableOf(this.#layout.definition.name, suffix));
  }
}
