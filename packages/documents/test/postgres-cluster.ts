import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import {
  type PostgresServer,
  program,
  runPostgres,
  runSql,
  startPostgres,
  unprivilegedUser,
} from "./postgres-server.ts";
import { freePort } from "../../../test/free-port.ts";

/** A primary, and the standby that its commits wait for. */
export interface Cluster {
  readonly ports: readonly [primary: number, standby: number];
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
}

/** Starts a primary whose commits wait for its standby, with more settings for both. */
export async function startCluster(more: readonly string[] = []): Promise<Cluster> {
  const ports = [await freePort(), await freePort()] as const;
  const primary = await startPostgres([...settings(ports[0]), ...more]);
  onTestFinished(() => primary.stop());
  const folder = mkdtempSync(join(tmpdir(), "pg-"));
  const owner = unprivilegedUser();
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const source = ["-h", "127.0.0.1", "-p", String(ports[0]), "-U", "postgres"];
  const target = ["-D", join(folder, "data"), "-R", "-X", "stream", "-c", "fast"];
  execFileSync(program("pg_basebackup"), [...source, ...target], { ...owner, stdio: "ignore" });
  const standby = await runPostgres(folder, [...settings(ports[1]), ...more]);
  onTestFinished(async () => {
    await standby.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = primary.url("postgres");
  await runSql(url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await runSql(url, "SELECT pg_reload_conf()");
  await expect
    .poll(() => runSql(url, "SELECT sync_state FROM pg_stat_replication"), { timeout: 10_000 })
    .toEqual([{ sync_state: "sync" }]);
  // The standby, once promoted, has no standby to wait for.
  return { ports, primary, standby };
}

function settings(port: number): readonly string[] {
  return ["listen_addresses=127.0.0.1", `port=${port}`, "synchronous_commit=on"];
}
