import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { runSql, runSqlAgain, startPostgres } from "./postgres-server.ts";
import { serversFolder, type RunningServer } from "./stop-servers.ts";

/** Drops the tables of a database, and returns what else is left there but extensions. */
const emptyTables =
  "DO $$ DECLARE name text; BEGIN FOR name IN SELECT oid::regclass FROM pg_class " +
  "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP " +
  "EXECUTE 'DROP TABLE ' || name || ' CASCADE'; END LOOP; END $$; " +
  "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace";

/**
 * A server that lends databases. Each worker of a test run has one of each version, which its files
 * use one after the other. A database is lent again after it was emptied, because creating one
 * takes longer than most tests.
 */
export class SharedServer {
  readonly #bin: string | undefined;
  readonly #free: string[] = [];
  #folder: Promise<string> | undefined;

  constructor(bin: string | undefined) {
    this.#bin = bin;
  }

  /** Returns the URL of an empty database. */
  async take(): Promise<string> {
    this.#folder ??= this.#start();
    const folder = await this.#folder;
    return this.#free.pop() ?? this.#create(folder);
  }

  /** Takes a database back whose stores are closed. */
  async giveBack(url: string): Promise<void> {
    const left = await runSqlAgain(url, emptyTables);
    if (left.length === 0) this.#free.push(url);
  }

  async #create(folder: string): Promise<string> {
    // Not counted: a worker that runs several projects loads this module again, but keeps the
    // server.
    const name = `test_${randomUUID().replaceAll("-", "")}`;
    await runSqlAgain(urlOf(folder, "postgres"), `CREATE DATABASE ${name}`);
    return urlOf(folder, name);
  }

  /** Returns the folder of the worker's server, and starts it unless an earlier file did. */
  async #start(): Promise<string> {
    const run = process.env[serversFolder];
    if (run === undefined) throw new Error(`${serversFolder} is not set: use vitest.config.ts`);
    const version = basename(dirname(this.#bin ?? "none"));
    const note = join(run, `${process.env["VITEST_POOL_ID"]}-${version}.json`);
    if (existsSync(note)) {
      const { folder }: RunningServer = JSON.parse(readFileSync(note, "utf8"));
      return folder;
    }
    const server = await startPostgres(undefined, this.#bin);
    const { folder, process: child } = server;
    server.leave();
    writeFileSync(note, JSON.stringify({ folder, pid: child.pid ?? 0 } satisfies RunningServer));
    await runSql(urlOf(folder, "template1"), "CREATE EXTENSION pg_trgm");
    return folder;
  }
}

function urlOf(folder: string, database: string): string {
  return `postgres://postgres@:5432/${database}?host=${folder}`;
}
