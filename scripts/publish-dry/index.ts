// Publishes all packages to a registry on this machine, makes projects from that registry alone,
// and runs their tests.
//   npm run publish:dry                  npm, pnpm and Yarn on Node 22 and 24
//   npm run publish:dry -- pnpm node22   only those
import "../require-node.cjs";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installPinned } from "../install-pinned.ts";
import { installRuntimes } from "../test-runtimes/install-runtimes.ts";
import { startRegistry } from "./local-registry.ts";
import { packageManagers } from "./package-managers.ts";
import { publishAll } from "./publish-all.ts";
import { tryProject } from "./try-project.ts";

const nodes = ["node22", "node24"];
const words = process.argv.slice(2);
const unknown = words.filter(
  (word) => !nodes.includes(word) && !packageManagers.some(({ name }) => name === word),
);
if (unknown.length > 0) {
  console.error(`unknown word "${unknown[0]}": expected npm, pnpm, yarn, node22 or node24`);
  process.exit(2);
}
const isWanted = (word: string, others: readonly string[]): boolean =>
  words.includes(word) || !words.some((one) => others.includes(one));

let last = performance.now();
const temporary = mkdtempSync(join(tmpdir(), "fetchwork-publish-dry-"));
// Ctrl-C also removes the files and ends the registry.
process.once("SIGINT", () => process.exit(130)).once("SIGTERM", () => process.exit(143));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
const runtimes = installRuntimes();
const tools = installPinned(join(import.meta.dirname, "tools"), "fetchwork-publish-tools");
const registry = await startRegistry(tools, join(temporary, "registry"));
try {
  say(`the registry runs on ${registry.url}`);
  const names = await publishAll(registry, temporary);
  say(`published ${names.length} packages`);
  for (const node of nodes.filter((one) => isWanted(one, nodes))) {
    // `fetchwork new` takes a Node below `node_modules` for that of a package, and pins another
    // one.
    const bin = join(temporary, node);
    mkdirSync(bin);
    symlinkSync(join(runtimes, node, "bin/node"), join(bin, "node"));
    for (const manager of packageManagers) {
      const managers = packageManagers.map(({ name }) => name);
      if (!isWanted(manager.name, managers)) continue;
      const what = `${manager.name} on ${node}`;
      try {
        await tryProject(manager, {
          registry,
          path: [bin, join(tools, ".bin")],
          folder: join(temporary, `${manager.name}-${node}`),
        });
        say(`${what}: ok`);
      } catch (error) {
        process.exitCode = 1;
        say(`${what}: FAILED\n${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
} finally {
  await registry.close();
}

/** Prints what was done, with the seconds that it took. */
function say(what: string): void {
  const now = performance.now();
  console.log(`${((now - last) / 1000).toFixed(1)} s: ${what}`);
  last = now;
}
