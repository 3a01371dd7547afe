import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { chown, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject } from "@fetchwork/kit";
import { readManifest } from "./read-manifest.ts";
import { openRegistryGate } from "./registry-gate.ts";
import type { Sandbox } from "./sandbox.ts";
import { sandboxUser } from "./sealed.ts";

/** Fields of a manifest that say which packages a program needs. */
const packageFields = [
  "dependencies",
  "devDependencies",
  "optionalDependencies",
  "overrides",
] as const;

/** Milliseconds for all packages of a program. */
const fetchTime = 300_000;
const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];

/** Packages that were fetched, or are on their way. */
interface Fetched {
  /** The folder that has `node_modules`. */
  readonly place: string;
  /** Whether they came. */
  readonly isThere: Promise<boolean>;
  /** Ends npm. */
  readonly stop: AbortController;
  /** Programs that run with them now. */
  users: number;
}

/** Maximum folders of packages that nothing uses; those that were fetched first go first. */
const maxKept = 8;

/** By what was asked for: packages are fetched once, and removed with this process. */
const fetched = new Map<string, Fetched>();

/** Folders of packages that are there; the end of this process removes them. */
const places = new Set<string>();

let removesAtExit = false;

/** Packages of a program, until it has been run. */
export interface PackagesInUse extends Disposable {
  /** The folder `node_modules`. */
  readonly folder: string;
}

/** The packages that a program needs, as text that differs when they do; `undefined`: none. */
export function neededPackages(
  files: Pick<ReadonlyMap<string, string>, "get">,
): string | undefined {
  const manifest = readManifest(files);
  const needed = packageFields.flatMap((name) => {
    const value = manifest[name];
    return isObject(value) && Object.keys(value).length > 0 ? [[name, value] as const] : [];
  });
  return needed.length === 0 ? undefined : JSON.stringify(Object.fromEntries(needed));
}

/**
 * Fetches the packages of a program: npm runs in the sandbox, reaches the registry only, and runs
 * no script of any package. Then their scripts run, without network. Resolves to `undefined` if npm
 * failed or `signal` aborted; the next call tries again.
 */
export async function usePackages(
  needed: string,
  lock: string | undefined,
  { sandbox, registry, signal }: Pick<Installation, "registry" | "sandbox" | "signal">,
): Promise<PackagesInUse | undefined> {
  const asked = JSON.stringify([needed, lock, registry, sandbox.level]);
  const key = createHash("sha256").update(asked).digest("hex");
  let entry = fetched.get(key);
  if (entry === undefined) {
    if (!removesAtExit) process.once("exit", () => [...places].forEach(remove));
    removesAtExit = true;
    const place = mkdtempSync(join(tmpdir(), "fetchwork-packages-"));
    places.add(place);
    const stop = new AbortController();
    const parts = { needed, lock, sandbox, registry, signal: stop.signal };
    entry = { place, users: 0, isThere: install(place, parts), stop };
    fetched.set(key, entry);
  }
  const { place, isThere } = entry;
  let isInUse = false;
  entry.users += 1;
  const canceled = Promise.withResolvers<false>();
  const leave = (): void => canceled.resolve(false);
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted === true) leave();
  try {
    isInUse = await Promise.race([canceled.promise, isThere]);
  } finally {
    signal?.removeEventListener("abort", leave);
    if (!isInUse) {
      entry.users -= 1;
      if (entry.users === 0) forget(key);
    }
  }
  if (!isInUse) return undefined;
  return {
    folder: join(place, "node_modules"),
    [Symbol.dispose]() {
      entry.users -= 1;
      for (const [other, { users }] of fetched) {
        if (fetched.size > maxKept && users === 0) forget(other);
      }
    },
  };
}

function forget(key: string): void {
  const entry = fetched.get(key);
  if (entry === undefined) return;
  fetched.delete(key);
  entry.stop.abort();
  // Files that npm still writes would be left by an earlier removal.
  const gone = (): void => remove(entry.place);
  void entry.isThere.then(gone, gone).catch(() => undefined);
}

function remove(place: string): void {
  rmSync(place, { recursive: true, force: true });
  places.delete(place);
}

/** Packages to fetch, with their lock file, sandbox and registry. */
interface Installation {
  readonly needed: string;
  readonly lock: string | undefined;
  readonly sandbox: Sandbox;
  readonly registry: string;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves to whether the packages are there. */
async function install(
  folder: string,
  { needed, lock, sandbox, registry, signal }: Installation,
): Promise<boolean> {
  await writeFile(join(folder, "package.json"), needed);
  if (lock !== undefined) await writeFile(join(folder, "package-lock.json"), lock);
  const user = sandbox.level === "sealed" ? sandboxUser() : undefined;
  if (user !== undefined) await chown(folder, user, user);
  const npm = ["npm", "install", "--ignore-scripts", "--replace-registry-host=always", ...quiet];
  const { code } = await (sandbox.level === "sealed"
    ? throughGate(npm, { sandbox, registry, folder, signal })
    : sandbox.exec([...npm, `--registry=${registry}`], {
        cwd: folder,
        timeout: fetchTime,
        signal,
      }));
  if (code !== 0 || !existsSync(join(folder, "node_modules"))) return false;
  // Some cannot do without the network, which says nothing about the program.
  await sandbox.exec(["npm", "rebuild", "--offline", ...quiet], {
    cwd: folder,
    timeout: fetchTime,
    signal,
  });
  return true;
}

/** Listens where npm can reach it, and passes all on to the socket, which is the only way out. */
const relay = `
const { spawn } = require("node:child_process");
const net = require("node:net");
const [socket, path, ...npm] = process.argv.slice(1);
const server = net.createServer((near) => {
  const far = net.connect(socket);
  for (const [one, other] of [[near, far], [far, near]]) one.on("error", () => other.destroy()).pipe(other);
});
server.listen(0, "127.0.0.1", () => {
  const registry = "http://127.0.0.1:" + server.address().port + path;
  const child = spawn(npm[0], [...npm.slice(1), "--registry=" + registry], { stdio: "inherit" });
  child.on("error", () => process.exit(1));
  child.on("exit", (code) => process.exit(code ?? 1));
});
`;

async function throughGate(
  npm: readonly string[],
  {
    sandbox,
    registry,
    folder,
    signal,
  }: Omit<Installation, "lock" | "needed"> & { readonly folder: string },
): ReturnType<Sandbox["exec"]> {
  const socket = join(folder, "registry.sock");
  const gate = await openRegistryGate(registry, socket);
  try {
    const command = [
      process.execPath,
      "-e",
      relay,
      "--",
      socket,
      new URL(registry).pathname,
      ...npm,
    ];
    return await sandbox.exec(command, { cwd: folder, timeout: fetchTime, signal });
  } finally {
    await gate.close();
    rmSync(socket, { force: true });
  }
}
