import { spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connectionOf, kill, unprivilegedUser } from "./postgres-server.ts";

const program = "/usr/sbin/pgbouncer";

/**
 * Why nothing can be tested through PgBouncer, if so; never in CI, where its absence is a failure.
 */
export const noPgBouncer: string | undefined =
  existsSync(program) || process.env["CI"] === "true"
    ? undefined
    : "PgBouncer is not installed: apt-get install pgbouncer";

/** A pooler of a test, reached over a Unix socket. */
export interface PgBouncer {
  /** Returns the URL of a database of the server behind the pooler. */
  url(database: string): string;
  /** Ends the pooler at once. */
  stop(): Promise<void>;
}

/** Starts PgBouncer before the server of a database. */
export async function startPgBouncer(
  serverUrl: string,
  { mode, poolSize = 20 }: { readonly mode: "session" | "transaction"; readonly poolSize?: number },
): Promise<PgBouncer> {
  const { host, port, user } = connectionOf(serverUrl);
  const owner = unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), "pgb-"));
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const settings = join(folder, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `* = host=${host} port=${port} user=${user}`,
    "[pgbouncer]",
    "listen_addr =",
    "listen_port = 6432",
    `unix_socket_dir = ${folder}`,
    "auth_type = any",
    `pool_mode = ${mode}`,
    `default_pool_size = ${poolSize}`,
    "max_client_conn = 1000",
    // The tests have many databases, and a server few connections.
    "server_idle_timeout = 1",
  ];
  writeFileSync(settings, `${lines.join("\n")}\n`, { mode: 0o644 });
  const child = spawn(program, [settings], { ...owner, stdio: ["ignore", "ignore", "pipe"] });
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => {
      reject(new Error("PgBouncer did not start"));
    });
    // The pipe is read on, or the program would stop when it is full.
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line.includes("process up")) resolve();
    });
  });
  return {
    url: (database) => `postgres://postgres@:6432/${database}?host=${folder}`,
    async stop() {
      process.removeListener("exit", end);
      await kill(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
