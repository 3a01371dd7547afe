import { type PostgresServer, runSql, startPostgres } from "./postgres-server.ts";

/** Drops the tables of a database, and gives what else is left there but extensions. */
const EMPTY =
  "DO $$ DECLARE name text; BEGIN FOR name IN SELECT oid::regclass FROM pg_class " +
  "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP " +
  "EXECUTE 'DROP TABLE ' || name || ' CASCADE'; END LOOP; END $$; " +
  "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace";

/**
 * A server that lends databases to the tests of a file. A database is given again after it was
 * emptied, because making one takes longer than most tests.
 */
export class SharedServer {
  readonly #bin: string | undefined;
  readonly #free: string[] = [];
  #server: Promise<PostgresServer> | undefined;

  constructor(bin: string | undefined) {
    this.#bin = bin;
  }

  /** Gives the URL of an empty database. */
  async take(): Promise<string> {
    this.#server ??= this.#start();
    const server = await this.#server;
    return this.#free.pop() ?? server.create();
  }

  /** Takes a database back whose stores are closed. */
  async giveBack(url: string): Promise<void> {
    const left = await runSql(url, EMPTY);
    if (left.length === 0) this.#free.push(url);
  }

  async stop(): Promise<void> {
    await (await this.#server)?.stop();
  }

  async #start(): Promise<PostgresServer> {
    const started = await startPostgres(undefined, this.#bin);
    await runSql(started.url("template1"), "CREATE EXTENSION pg_trgm");
    return started;
  }
}
