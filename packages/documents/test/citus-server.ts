import { randomUUID } from "node:crypto";
import { createCitusDatabase } from "./citus-cluster.ts";
import { runSql } from "./postgres-server.ts";

/**
 * The URL of the coordinator of a cluster, such as `scripts/citus-cluster.mjs` starts; without it
 * nothing is tested on Citus.
 */
export const citusUrl: string | undefined = process.env["FETCHWORK_TEST_CITUS"];

/**
 * Drops the tables of a database, those that hold parts of others with them; returns what else is
 * left that no extension made.
 */
const emptyTables =
  "DO $$ DECLARE name text; BEGIN FOR name IN SELECT oid::regclass FROM pg_class " +
  "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND citus_table_is_visible(oid) LOOP " +
  "EXECUTE 'DROP TABLE ' || name || ' CASCADE'; END LOOP; " +
  "FOR name IN SELECT oid::regclass FROM pg_class " +
  "WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace LOOP " +
  "EXECUTE 'DROP SEQUENCE ' || name; END LOOP; END $$; " +
  "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND NOT EXISTS " +
  "(SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')";

/** A cluster that lends databases, as `SharedServer` does. */
export class CitusServer {
  readonly #url: string;
  readonly #free: string[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  async take(): Promise<string> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const name = `test_${randomUUID().replaceAll("-", "")}`;
    return createCitusDatabase(this.#url, name);
  }

  async giveBack(url: string): Promise<void> {
    const left = await runSql(url, emptyTables);
    if (left.length === 0) this.#free.push(url);
  }
}
