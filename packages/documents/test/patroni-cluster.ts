import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { freePort } from "../../../test/free-port.ts";
import { noPostgres, postgresBin, unprivilegedUser } from "./postgres-server.ts";

const etcd = "/usr/bin/etcd";
const patroni = "/usr/bin/patroni";

/** Why nothing can be tested with Patroni, if so; never in CI, where its absence is a failure. */
export const noPatroni: string | undefined =
  noPostgres ??
  ((existsSync(etcd) && existsSync(patroni)) || process.env["CI"] === "true"
    ? undefined
    : "Patroni and etcd are not installed: apt-get install patroni etcd-server");

/** Three servers of which Patroni promotes one. */
export interface PatroniCluster {
  readonly nodes: readonly PatroniNode[];
  /**
   * Waits until one server is the primary, its commits wait for another, and all three follow it.
   */
  complete(): Promise<PatroniNode>;
}

/** What `GET /cluster` of Patroni reports about a server. */
interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

/** Starts etcd and three servers under Patroni; all of them are killed when the test ends. */
export async function startPatroniCluster(): Promise<PatroniCluster> {
  const folder = mkdtempSync(join(tmpdir(), "patroni-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  giveAway(folder);
  const etcdPort = await startEtcd(folder);
  const nodes: PatroniNode[] = [];
  for (const name of ["one", "two", "three"]) {
    const node = new PatroniNode(folder, name, [await freePort(), await freePort()]);
    writeFileSync(node.settings, JSON.stringify(settingsOf(node, etcdPort)));
    const end = (): void => {
      node.kill();
    };
    // Patroni does not notice that the tests ended before they could stop it.
    process.once("exit", end);
    onTestFinished(() => {
      process.removeListener("exit", end);
      node.kill();
    });
    node.start();
    nodes.push(node);
  }
  return { nodes, complete: () => complete(nodes) };
}

/** A server of PostgreSQL and the Patroni that runs it. */
export class PatroniNode {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly apiPort: number;
  #process: ChildProcess | undefined;

  constructor(folder: string, name: string, [port, apiPort]: readonly [number, number]) {
    this.name = name;
    this.folder = join(folder, name);
    this.port = port;
    this.apiPort = apiPort;
    mkdirSync(this.folder);
    giveAway(this.folder);
  }

  /** The file with the settings of Patroni. */
  get settings(): string {
    return join(this.folder, "patroni.json");
  }

  url(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts Patroni, as the init system of a machine does when it boots. */
  start(): void {
    this.#process = startDaemon(patroni, [this.settings], join(this.folder, "patroni.log"));
  }

  /** Ends Patroni and its server as a power failure would. */
  kill(): void {
    // Patroni first: it would start the server again.
    killGroup(this.#process);
    const server = readPid(join(this.folder, "data", "postmaster.pid"));
    if (server === undefined) return;
    // The server is in a separate session, and so is each of its processes.
    for (const pid of [server, ...childrenOf(server)]) killProcess(pid);
  }

  /** Returns what Patroni reports about all servers, or nothing when it does not respond. */
  async members(): Promise<readonly Member[]> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.apiPort}/cluster`, {
        signal: AbortSignal.timeout(2000),
      });
      const { members }: { members?: readonly Member[] } = Object(await response.json());
      return members ?? [];
    } catch {
      return [];
    }
  }
}

async function complete(nodes: readonly PatroniNode[]): Promise<PatroniNode> {
  let leader: PatroniNode | undefined;
  const check = async (): Promise<unknown> => {
    const views = await Promise.all(nodes.map((node) => node.members()));
    const name = views[0]?.find(({ role }) => role === "leader")?.name;
    leader = nodes.find((node) => node.name === name);
    return views.map((members) => ({
      roles: members.map(({ role }) => role).toSorted(),
      states: new Set(members.map(({ state }) => (state === "streaming" ? "running" : state))),
      timelines: new Set(members.map(({ timeline }) => timeline)).size,
    }));
  };
  const whole = {
    roles: ["leader", "replica", "sync_standby"],
    states: new Set(["running"]),
    timelines: 1,
  };
  await expect.poll(check, { timeout: 60_000, interval: 250 }).toEqual(nodes.map(() => whole));
  if (leader === undefined) throw new Error("no leader");
  return leader;
}

async function startEtcd(folder: string): Promise<number> {
  const port = await freePort();
  const clients = `http://127.0.0.1:${port}`;
  const peers = `http://127.0.0.1:${await freePort()}`;
  const options = {
    "data-dir": join(folder, "etcd"),
    "listen-client-urls": clients,
    "advertise-client-urls": clients,
    "listen-peer-urls": peers,
    "initial-advertise-peer-urls": peers,
    "initial-cluster": `default=${peers}`,
  };
  const list = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const child = startDaemon(etcd, list, join(folder, "etcd.log"));
  const end = (): void => {
    killGroup(child);
  };
  process.once("exit", end);
  onTestFinished(async () => {
    process.removeListener("exit", end);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    end();
    await ended;
  });
  return port;
}

function settingsOf(node: PatroniNode, etcdPort: number): unknown {
  const address = `127.0.0.1:${node.port}`;
  const api = `127.0.0.1:${node.apiPort}`;
  return {
    scope: "fetchwork",
    name: node.name,
    restapi: { listen: api, connect_address: api },
    etcd3: { hosts: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        // A primary that is silent for `ttl` seconds is replaced; at least `loop_wait` + 2 *
        // `retry_timeout`.
        ttl: 7,
        loop_wait: 1,
        retry_timeout: 3,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: { use_pg_rewind: true, parameters: { synchronous_commit: "on" } },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C.UTF-8" }, { auth: "trust" }, "no-sync"],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: join(node.folder, "data"),
      bin_dir: postgresBin,
      pgpass: join(node.folder, "pgpass"),
      authentication: {
        superuser: { username: "postgres" },
        replication: { username: "postgres" },
      },
      basebackup: [{ checkpoint: "fast" }],
      remove_data_directory_on_diverged_timelines: true,
      remove_data_directory_on_rewind_failure: true,
      pg_hba: [
        "local all all trust",
        "host all all 127.0.0.1/32 trust",
        "host replication all 127.0.0.1/32 trust",
      ],
      parameters: {
        unix_socket_directories: node.folder,
        dynamic_shared_memory_type: "mmap",
        // Commits wait until a standby follows the new primary, which tries every 5 s by default.
        wal_retrieve_retry_interval: "500ms",
      },
    },
  };
}

/** Starts a program in a separate process group. */
function startDaemon(path: string, options: readonly string[], log: string): ChildProcess {
  const output = openSync(log, "a");
  return spawn(path, options, {
    ...unprivilegedUser(),
    detached: true,
    cwd: "/",
    stdio: ["ignore", output, output],
  });
}

function giveAway(folder: string): void {
  const owner = unprivilegedUser();
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
}

function killGroup(child: ChildProcess | undefined): void {
  if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    killProcess(-child.pid);
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended before.
  }
}

function readPid(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  // The file of a server that was killed before stays, and another process may have its number.
  return pid > 0 && isPostgres(pid) ? pid : undefined;
}

function isPostgres(pid: number): boolean {
  const file = `/proc/${pid}/comm`;
  return existsSync(file) && readFileSync(file, "utf8").trim() === "postgres";
}

function childrenOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.split(" ").filter(Boolean).map(Number);
}
