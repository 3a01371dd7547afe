import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { Client } from "pg";
import { unprivilegedUser } from "./postgres-server.ts";
import { freePort } from "../../../test/free-port.ts";

const debianFolder = "/usr/lib/postgresql";
/** More shards take longer to create and to drop; a cluster of a test has little data. */
const shardCount = 4;
const settings = [
  "shared_preload_libraries=citus",
  "listen_addresses=127.0.0.1",
  "max_connections=300",
  "max_prepared_transactions=200",
  "citus.max_client_connections=-1",
  "citus.local_shared_pool_size=150",
  `citus.shard_count=${shardCount}`,
  "citus.node_connection_timeout=5000",
  "citus.node_conninfo=sslmode=disable",
  "fsync=off",
  "full_page_writes=off",
  "dynamic_shared_memory_type=mmap",
];

/**
 * Returns the folder of the programs of a PostgreSQL that has the extension; undefined where there
 * is none.
 */
export function findCitus(): string | undefined {
  const installed = existsSync(debianFolder) ? readdirSync(debianFolder) : [];
  const newestFirst = installed.toSorted((one, other) => Number(other) - Number(one));
  const folders = newestFirst.map((version) => join(debianFolder, version, "bin"));
  const chosen = process.env["POSTGRES_BIN"];
  return (chosen === undefined ? folders : [chosen]).find(hasCitus);
}

function hasCitus(bin: string): boolean {
  try {
    const folder = execFileSync(join(bin, "pg_config"), ["--pkglibdir"], { encoding: "utf8" });
    return existsSync(join(folder.trim(), "citus.so"));
  } catch {
    return existsSync(join(bin, "../lib/citus.so"));
  }
}

/** One server of a cluster. */
interface Server {
  readonly port: number;
  /** Folder of its data. */
  readonly data: string;
  readonly child: ChildProcess;
}

/** Ports of the servers. */
interface Nodes {
  readonly coordinator: number;
  readonly workers: readonly number[];
}

/** A cluster that runs. */
export interface CitusCluster {
  /** URL of the coordinator. */
  readonly url: string;
  /** Ends the last worker as a power failure would; resolves to what starts it again. */
  crashWorker(): Promise<() => Promise<void>>;
  /** Ends the servers and removes their data. */
  stop(): Promise<void>;
}

/** Starts a coordinator and two workers, with the programs of a folder. */
export async function startCitus(bin: string): Promise<CitusCluster> {
  const folder = mkdtempSync(join(tmpdir(), "citus-"));
  const user = unprivilegedUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const servers: Server[] = [];
  const stop = async (): Promise<void> => {
    for (const { child } of servers) child.kill("SIGQUIT");
    await Promise.all(servers.map(({ child }) => ended(child)));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (const name of ["coordinator", "worker1", "worker2"]) {
      servers.push(await startServer(bin, join(folder, name), user));
    }
    const [coordinator = 0, ...workers] = servers.map(({ port }) => port);
    await createDatabase({ coordinator, workers }, "postgres");
    return {
      url: `postgres://postgres@127.0.0.1:${coordinator}/postgres`,
      async crashWorker() {
        const worker = servers.pop();
        if (worker === undefined) throw new Error("there is no worker");
        const gone = ended(worker.child);
        worker.child.kill("SIGKILL");
        await gone;
        return async () => {
          servers.push(await runServer(bin, worker, user));
        };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Makes a database of the cluster of a URL, with its workers; returns its URL. */
export async function createCitusDatabase(url: string, name: string): Promise<string> {
  const { port } = new URL(url);
  const workers = await query(Number(port), "postgres", [
    "SELECT nodeport FROM pg_dist_node WHERE groupid > 0 ORDER BY nodeport",
  ]);
  const nodes = { coordinator: Number(port), workers };
  for (const each of [...workers, nodes.coordinator]) {
    await query(each, "postgres", [
      "SET citus.enable_create_database_propagation = off",
      `CREATE DATABASE ${name}`,
    ]);
  }
  await createDatabase(nodes, name);
  const made = new URL(url);
  made.pathname = `/${name}`;
  return made.href;
}

async function createDatabase({ coordinator, workers }: Nodes, name: string): Promise<void> {
  for (const port of [...workers, coordinator]) {
    await query(port, name, ["CREATE EXTENSION citus", "CREATE EXTENSION pg_trgm"]);
  }
  await query(coordinator, name, [
    `SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator})`,
    ...workers.map((port) => `SELECT citus_add_node('127.0.0.1', ${port})`),
  ]);
}

async function startServer(
  bin: string,
  data: string,
  user: ReturnType<typeof unprivilegedUser>,
): Promise<Server> {
  const port = await freePort();
  execFileSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust", "--no-sync"],
    { ...user, stdio: "ignore" },
  );
  return runServer(bin, { port, data }, user);
}

async function runServer(
  bin: string,
  { port, data }: Pick<Server, "data" | "port">,
  user: ReturnType<typeof unprivilegedUser>,
): Promise<Server> {
  const options = [...settings, `port=${port}`, `unix_socket_directories=${data}`];
  const child = spawn(
    join(bin, "postgres"),
    ["-D", data, ...options.flatMap((option) => ["-c", option])],
    // The servers connect to each other, for which they look into the home folder.
    { ...user, stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: data } },
  );
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.removeListener("exit", end));
  await ready(child.stderr);
  return { port, data, child };
}

async function ready(errors: Readable): Promise<void> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: errors })) {
    lines.push(line);
    if (line.includes("ready to accept connections")) {
      errors.resume();
      return;
    }
  }
  throw new Error(`PostgreSQL did not start:\n${lines.join("\n")}`);
}

/** Runs statements; returns the first column of the last one, as numbers. */
async function query(
  port: number,
  database: string,
  texts: readonly string[],
): Promise<readonly number[]> {
  const client = new Client({ host: "127.0.0.1", port, user: "postgres", database });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const text of texts) ({ rows } = await client.query({ text, rowMode: "array" }));
    return rows.map((row) => (Array.isArray(row) ? Number(row[0]) : 0));
  } finally {
    await client.end();
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
