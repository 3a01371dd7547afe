import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "pg";

/** A server of PostgreSQL of a test's own, reached over a Unix socket. */
export interface PostgresServer {
  readonly folder: string;
  readonly process: ChildProcess;
  /** Returns the URL of a database. */
  url(database: string): string;
  /** Creates a database and returns its URL. */
  create(): Promise<string>;
  /** Ends the server at once and removes its data. */
  stop(): Promise<void>;
  /** Lets the server run on when this process ends. */
  leave(): void;
}

const debianFolder = "/usr/lib/postgresql";
/** Where `scripts/install-postgres18.mjs` puts its programs. */
const cacheFolder = fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url));

/** The folder of the server's programs; the variable chooses another version than Debian's. */
export const postgresBin: string | undefined = findPrograms();

/** The folder of the programs of PostgreSQL 18, unless a version is chosen. */
const postgres18Bin: string | undefined = findPrograms18();

/** Why nothing can be tested on PostgreSQL, if so; never in CI, where its absence is a failure. */
export const noPostgres: string | undefined =
  postgresBin === undefined && process.env["CI"] !== "true"
    ? "PostgreSQL is not installed: apt-get install postgresql"
    : undefined;

/**
 * Fails, with the extension `amcheck`, when an index misses a row, or has one that is not there.
 */
export const checkIndexes =
  "SELECT bt_index_parent_check(c.oid, true) FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid " +
  "JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'btree' AND c.relnamespace = 'public'::regnamespace";

/**
 * The versions that are tested, the one of {@link postgresBin} first; `npm test` does without
 * PostgreSQL 18, for which the sources have no other path.
 */
export const postgresVersions: readonly (readonly [engine: string, bin: string | undefined])[] = [
  ...(noPostgres === undefined ? [["PostgreSQL", postgresBin] as const] : []),
  ...(postgres18Bin === undefined ? [] : [["PostgreSQL 18", postgres18Bin] as const]),
];

/** Settings of a server that may lose everything when the machine stops. */
export const notDurable: readonly string[] = [
  "fsync=off",
  "full_page_writes=off",
  "synchronous_commit=off",
];

/** Starts an empty server; nothing of it is durable unless the settings say so. */
export async function startPostgres(
  settings: readonly string[] = notDurable,
  bin: string | undefined = postgresBin,
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "pg-"));
  const owner = unprivilegedUser();
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  execFileSync(
    program("initdb", bin),
    ["-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust", "--no-sync"],
    { ...owner, stdio: "ignore" },
  );
  return runPostgres(folder, settings, bin);
}

/** Runs the server whose data is in a folder. */
export async function runPostgres(
  folder: string,
  settings: readonly string[],
  bin: string | undefined = postgresBin,
): Promise<PostgresServer> {
  const options = [
    "listen_addresses=",
    `unix_socket_directories=${folder}`,
    // In the folder: what a killed server leaves in /dev/shm stays there.
    "dynamic_shared_memory_type=mmap",
    ...settings,
  ];
  const child = spawn(
    program("postgres", bin),
    ["-D", join(folder, "data"), ...options.flatMap((option) => ["-c", option])],
    { ...unprivilegedUser(), stdio: ["ignore", "ignore", "pipe"] },
  );
  // A server does not notice that the tests ended before they could stop it.
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  await ready(child);
  const port = settings.find((setting) => setting.startsWith("port="))?.slice("port=".length);
  const url = (database: string): string =>
    `postgres://postgres@:${port ?? "5432"}/${database}?host=${folder}`;
  let databases = 0;
  return {
    folder,
    process: child,
    url,
    async create() {
      databases += 1;
      const name = `test${databases}`;
      await runSql(url("postgres"), `CREATE DATABASE ${name}`);
      return url(name);
    },
    async stop() {
      await kill(child);
      rmSync(folder, { recursive: true, force: true });
    },
    leave() {
      process.removeListener("exit", end);
    },
  };
}

/** Returns what the driver needs to connect to a database of a server of these tests. */
export function connectionOf(url: string): {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
} {
  const [, server = "", port, database = "", folder] =
    /@(.*):(\d+)\/([^/?]*)(?:\?host=(.*))?$/.exec(url) ?? [];
  return { host: folder ?? server, port: Number(port), database, user: "postgres" };
}

/** Runs statements on a separate connection, and returns the rows of the last one. */
export async function runSql(url: string, text: string): Promise<readonly unknown[]> {
  const client = new Client(connectionOf(url));
  await client.connect();
  try {
    return await rowsOfLast(client, text);
  } finally {
    await client.end();
  }
}

const keptClients = new Map<string, Promise<Client>>();

/**
 * Does what {@link runSql} does on a connection that stays open: opening one takes longer than most
 * tests.
 */
export async function runSqlAgain(url: string, text: string): Promise<readonly unknown[]> {
  const client = keptClients.get(url) ?? keepClient(url);
  keptClients.set(url, client);
  return rowsOfLast(await client, text);
}

async function keepClient(url: string): Promise<Client> {
  const client = new Client(connectionOf(url));
  // The server may end before this process does.
  client.on("error", () => keptClients.delete(url));
  await client.connect();
  return client;
}

async function rowsOfLast(client: Client, text: string): Promise<readonly unknown[]> {
  const result: unknown = await client.query(text);
  const last: unknown = Array.isArray(result) ? result.at(-1) : result;
  const { rows } = Object(last);
  return Array.isArray(rows) ? rows : [];
}

/** Ends a server as a power failure would, without its saying good-bye to anybody. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** Returns the path of one of the server's programs. */
export function program(name: string, bin: string | undefined = postgresBin): string {
  if (bin === undefined) {
    throw new Error("PostgreSQL is not installed: apt-get install postgresql");
  }
  return join(bin, name);
}

/** PostgreSQL refuses to run as root, so root runs it as the user that Debian made for it. */
export function unprivilegedUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number =>
    Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

async function ready(child: ChildProcess): Promise<void> {
  const log: string[] = [];
  if (child.stderr === null) throw new Error("The server has no log");
  for await (const line of createInterface({ input: child.stderr })) {
    log.push(line);
    if (/ready to accept (?:read-only )?connections/.test(line)) {
      // Anyone who does not read on stops the server when the pipe is full.
      child.stderr.resume();
      return;
    }
  }
  throw new Error(`PostgreSQL did not start:\n${log.join("\n")}`);
}

function findPrograms(): string | undefined {
  const chosen = process.env["FETCHWORK_POSTGRES_BIN"];
  if (chosen !== undefined && chosen !== "") return chosen;
  if (!existsSync(debianFolder) || !statSync(debianFolder).isDirectory()) return undefined;
  return readdirSync(debianFolder)
    .toSorted((left, right) => Number(right) - Number(left))
    .map((version) => join(debianFolder, version, "bin"))
    .find((bin) => existsSync(join(bin, "initdb")));
}

function findPrograms18(): string | undefined {
  if (process.env["FETCHWORK_POSTGRES_BIN"] || process.env["FETCHWORK_TESTS"] === undefined) {
    return undefined;
  }
  const names = existsSync(cacheFolder) ? readdirSync(cacheFolder) : [];
  const name = names.find((entry) => entry.startsWith("postgres-18"));
  if (name !== undefined) return reachable(join(cacheFolder, name));
  if (process.env["CI"] !== "true") return undefined;
  throw new Error("PostgreSQL 18 is not there: npm run postgres18");
}

/** The user that the server runs as may not be let into the folder of the repository. */
function reachable(folder: string): string {
  const bin = join(folder, "bin");
  try {
    execFileSync("test", ["-x", join(bin, "postgres")], { ...unprivilegedUser(), cwd: "/" });
    return bin;
  } catch {
    const copy = mkdtempSync(join(tmpdir(), "pg18-"));
    process.once("exit", () => {
      rmSync(copy, { recursive: true, force: true });
    });
    chmodSync(copy, 0o755);
    cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
    return join(copy, "bin");
  }
}
