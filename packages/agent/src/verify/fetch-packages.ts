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
  /** Programs that run with them now. */
  users: number;
}

/** Most folders of packages that nothing uses; those that were fetched first go first. */
const mostKept = 8;

/** By what was asked for: packages are fetched once, and removed when this process ends, or others have come. */
const fetched = new Map<string, Fetched>();

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
 * Fetches the packages of a program: npm runs in the sandbox, reaches the registry only, and runs no script of any package.
 * Then their scripts run, without network. Resolves to `undefined` where they cannot be had; the next call tries again.
 */
export async function usePackages(
  needed: string,
  lock: string | undefined,
  { sandbox, registry }: Pick<Installation, "registry" | "sandbox">,
): Promise<PackagesInUse | undefined> {
  const parts = [needed, lock, registry, sandbox.level];
  const key = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  let entry = fetched.get(key);
  if (entry === undefined) {
    if (!removesAtExit) process.once("exit", () => [...fetched.keys()].forEach(forget));
    removesAtExit = true;
    const place = mkdtempSync(join(tmpdir(), "fetchwork-packages-"));
    entry = { place, users: 0, isThere: install(place, { needed, lock, sandbox, registry }) };
    fetched.set(key, entry);
  }
  const { place, isThere } = entry;
  let isInUse = false;
  entry.users += 1;
  try {
    isInUse = await isThere;
  } finally {
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
        if (fetched.size > mostKept && users === 0) forget(other);
      }
    },
  };
}

function forget(key: string): void {
  const { place } = fetched.get(key) ?? {};
  fetched.delete(key);
  if (place !== undefined) rmSync(place, { recursive: true, force: true });
}

/** What is fetched, and how. */
interface Installation {
  readonly needed: string;
  readonly lock: string | undefined;
  readonly sandbox: Sandbox;
  readonly registry: string;
}

/** Resolves to whether the packages are there. */
async function install(
  folder: string,
  { needed, lock, sandbox, registry }: Installation,
): Promise<boolean> {
  await writeFile(join(folder, "package.json"), needed);
  if (lock !== undefined) await writeFile(join(folder, "package-lock.json"), lock);
  const user = sandbox.level === "sealed" ? sandboxUser() : undefined;
  if (user !== undefined) await chown(folder, user, user);
  const npm = ["npm", "install", "--ignore-scripts", "--replace-registry-host=always", ...quiet];
  const { code } = await (sandbox.level === "sealed"
    ? throughGate(npm, { sandbox, registry, folder })
    : sandbox.exec([...npm, `--registry=${registry}`], { cwd: folder, timeout: fetchTime }));
  if (code !== 0 || !existsSync(join(folder, "node_modules"))) return false;
  // Some cannot do without the network, which says nothing about the program.
  await sandbox.exec(["npm", "rebuild", "--offline", ...quiet], {
    cwd: folder,
    timeout: fetchTime,
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
  }: Pick<Installation, "registry" | "sandbox"> & { readonly folder: string },
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
    return await sandbox.exec(command, { cwd: folder, timeout: fetchTime });
  } finally {
    await gate.close();
    rmSync(socket, { force: true });
  }
}
