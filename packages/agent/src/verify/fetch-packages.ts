import { createHash } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { chown, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject } from "@fetchwork/kit";
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

/** Folders that packages are in, by what was asked for: they are fetched once, and removed when this process ends. */
const fetched = new Map<string, Promise<string | undefined>>();

/** The packages that a program needs, as text that differs when they do; `undefined`: none. */
export function neededPackages(manifest: string | undefined): string | undefined {
  try {
    const all: unknown = JSON.parse(manifest ?? "{}");
    if (!isObject(all)) return undefined;
    const needed = packageFields.flatMap((name) => {
      const value = all[name];
      return isObject(value) && Object.keys(value).length > 0 ? [[name, value] as const] : [];
    });
    return needed.length === 0 ? undefined : JSON.stringify(Object.fromEntries(needed));
  } catch {
    return undefined;
  }
}

/**
 * Fetches the packages of a program: npm runs in the sandbox, reaches the registry only, and runs no script of any package.
 * Then their scripts run, without network. Resolves to the folder `node_modules`; to `undefined` where it cannot be made.
 */
export function fetchPackages(
  files: ReadonlyMap<string, string>,
  sandbox: Sandbox,
  registry: string,
): Promise<string | undefined> {
  const needed = neededPackages(files.get("package.json"));
  if (needed === undefined) return Promise.resolve(undefined);
  const lock = files.get("package-lock.json");
  const parts = [needed, lock, registry, sandbox.level];
  const key = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  let place = fetched.get(key);
  if (place === undefined) {
    place = install(needed, { lock, sandbox, registry });
    fetched.set(key, place);
    // What failed may work the next time.
    void place.then((found) => found ?? fetched.delete(key));
  }
  return place;
}

async function install(
  manifest: string,
  {
    lock,
    sandbox,
    registry,
  }: { readonly lock: string | undefined; readonly sandbox: Sandbox; readonly registry: string },
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "fetchwork-packages-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "package.json"), manifest);
  if (lock !== undefined) await writeFile(join(folder, "package-lock.json"), lock);
  const user = sandbox.level === "sealed" ? sandboxUser() : undefined;
  if (user !== undefined) await chown(folder, user, user);
  const npm = ["npm", "install", "--ignore-scripts", "--replace-registry-host=always", ...quiet];
  const { code } = await (sandbox.level === "sealed"
    ? throughGate(npm, { sandbox, registry, folder })
    : sandbox.exec([...npm, `--registry=${registry}`], { cwd: folder, timeout: fetchTime }));
  const packages = join(folder, "node_modules");
  if (code !== 0 || !existsSync(packages)) return undefined;
  // Some cannot do without the network, which says nothing about the program.
  await sandbox.exec(["npm", "rebuild", "--offline", ...quiet], {
    cwd: folder,
    timeout: fetchTime,
  });
  return packages;
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
  }: { readonly sandbox: Sandbox; readonly registry: string; readonly folder: string },
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
