import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "@fetchwork/documents";
import { type Disk, mountDisk, noDiskReason } from "../../packages/documents/test/mount-disk.ts";
import { kill, runPostgres, startPostgres } from "../../packages/documents/test/postgres-server.ts";
import { createService, type ModelVersion } from "./model.ts";
import { effects } from "./effects.ts";
import { createVictim, type Victim } from "./victim.ts";
import { freePort } from "../../test/free-port.ts";

export const masterKey = "soak-master-key-soak-master-key-0";
export const webhookSecret = "the secret of the webhooks of the soak";

/** What the documents are kept in. */
export const engines = ["sqlite", "postgres"] as const;
export type Engine = (typeof engines)[number];

/** Size of the disk with the documents, in bytes. */
export const diskSize = 8 * 1024 ** 3;

/**
 * Settings of PostgreSQL: processes are killed, the machine is not, so nothing must reach a real
 * disk.
 */
const postgresSettings = ["fsync=off"];

/**
 * What the soak runs: the service, its database on a small disk, and the receiver of its webhooks.
 */
export interface World {
  readonly engine: Engine;
  readonly folder: string;
  readonly origin: string;
  readonly service: Victim;
  readonly receiver: Victim;
  /** URL of the receiver for the webhooks. */
  readonly hooks: string;
  /** The disk with the documents. `undefined` where mounting is not allowed. */
  readonly disk: Disk | undefined;
  /** URL of the database server for statements of the soak. `undefined` with SQLite. */
  readonly postgres: string | undefined;
  /** Starts PostgreSQL again if it has ended. */
  revivePostgres(): Promise<void>;
  /** Chooses the version of the model of the processes that start from now on. */
  useModel(version: ModelVersion): void;
  /**
   * Moves the clock of all processes, or of one of them, by a number of milliseconds from the true
   * time.
   */
  setClock(offset: number, pid?: number): void;
  /** Sets the clocks of all processes to the true time. */
  restoreClocks(): void;
  /**
   * Returns the kinds of errors that the service logged, each with its number, its first time and
   * its stack.
   */
  errors(): string;
  openDocuments(): Promise<Store>;
  openEffects(): Promise<Store>;
  /** Ends everything and removes the files. */
  remove(): Promise<void>;
}

/** Prepares the world; the service and the receiver are not started. */
export async function createWorld(engine: Engine, onCrash: (what: string) => void): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "soak-"));
  const disk = noDiskReason === undefined ? mountDisk(diskSize) : undefined;
  const home = disk?.folder ?? folder;
  const postgres = engine === "postgres" ? await startOn(home) : undefined;
  let server = postgres;
  const databaseUrl = postgres ? await postgres.create() : `sqlite:${join(home, "soak.db")}`;
  const effectsUrl = `sqlite:${join(folder, "effects.db")}`;
  const [port, receiverPort] = [await freePort(), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  const hooks = `http://127.0.0.1:${receiverPort}/hooks`;
  const clock = join(folder, "clock");
  const main = join(folder, "main.js");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const receiverFile = join(import.meta.dirname, "receiver.ts");
  const world: World = {
    engine,
    folder,
    origin,
    hooks,
    disk,
    postgres: postgres?.url("postgres"),
    service: createVictim({
      command: [main],
      environment: {
        SOAK_CLOCK: clock,
        MASTER_KEY: masterKey,
        JWT_SECRET: "soak-jwt-secret-soak-jwt-secret-0",
        DATABASE_URL: databaseUrl,
        IP: "127.0.0.1",
        PORT: String(port),
        PROCESSES: engine === "postgres" ? "3" : "1",
        LOG: "json",
        LOG_LEVEL: "error",
        WEBHOOKS_TO_PRIVATE: "yes",
      },
      log: join(folder, "service.log"),
      probe: `${origin}/process`,
      onCrash,
    }),
    receiver: createVictim({
      command: [receiverFile, effectsUrl, String(receiverPort), webhookSecret],
      environment: { SOAK_CLOCK: clock },
      log: join(folder, "receiver.log"),
      probe: hooks,
      onCrash,
    }),
    async revivePostgres() {
      if (server === undefined || server.process.exitCode === null) return;
      server = await runPostgres(server.folder, postgresSettings);
    },
    useModel(version) {
      const model = new URL("model.ts", import.meta.url).href;
      const lines = [
        `import { runService } from "${import.meta.resolve("@fetchwork/service")}";`,
        `import { createService } from "${model}";`,
        `await runService(createService(${version}));`,
      ];
      writeFileSync(main, lines.join("\n"));
    },
    setClock(offset, pid) {
      writeFileSync(pid === undefined ? clock : `${clock}.${pid}`, String(offset));
    },
    restoreClocks() {
      const files = readdirSync(folder).filter((name) => name.startsWith("clock"));
      for (const name of files) rmSync(join(folder, name));
    },
    errors: () => errorKinds(readFileSync(join(folder, "service.log"), "utf8")),
    openDocuments: () => openStore(databaseUrl, { collections: createService(2).collections }),
    openEffects: () => openStore(effectsUrl, { collections: [effects] }),
    async remove() {
      await Promise.all([world.service.kill(), world.receiver.kill()]);
      if (server) await kill(server.process);
      disk?.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  world.useModel(1);
  return world;
}

/** Starts PostgreSQL with all its files in a folder. */
async function startOn(folder: string): ReturnType<typeof startPostgres> {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  try {
    return await startPostgres(postgresSettings);
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}

/** What a log says of errors, once for each kind; digits differ within one. */
function errorKinds(log: string): string {
  const kinds = new Map<string, { readonly first: string; count: number }>();
  for (const line of log.split("\n")) {
    const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? line;
    const kind = message.replaceAll(/\d+/g, "0").slice(0, 200);
    const known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, { first: line.slice(0, 3_000), count: 1 });
    else known.count += 1;
  }
  return [...kinds.values()].map(({ count, first }) => `${count} times: ${first}`).join("\n\n");
}
