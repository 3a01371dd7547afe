import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectManifest } from "../../src/new/project-manifest.ts";
import { checkProjectOptions } from "../../src/new/project-options.ts";

interface Locked {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly version?: string;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const file = join(import.meta.dirname, "../../../../package-lock.json");
const { packages } = JSON.parse(readFileSync(file, "utf8")) as {
  readonly packages: Readonly<Record<string, Locked>>;
};

/** The lock file's entry of an installed package, or of the package of ours that it links to. */
function locked(name: string): Locked {
  const entry = packages[`node_modules/${name}`] ?? {};
  return entry.link === true ? (packages[entry.resolved ?? ""] ?? {}) : entry;
}

const options = checkProjectOptions({
  name: "shop",
  title: "Shop",
  database: "sqlite",
  hasUsers: true,
  signUp: "master",
  passwordResets: false,
  webhooks: false,
  list: "array",
  port: 9000,
});
const { dependencies, devDependencies } = JSON.parse(projectManifest(options, {})) as Readonly<
  Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>
>;
const all = { ...dependencies, ...devDependencies };

it("A project names the peers of its packages, which Yarn does not install by itself", () => {
  const missing = Object.keys(all).flatMap((name) => {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = locked(name);
    return Object.keys(peerDependencies)
      .filter((peer) => peerDependenciesMeta[peer]?.optional !== true && !(peer in all))
      .map((peer) => `${name} needs ${peer}`);
  });
  expect(missing).toEqual([]);
});

it("A project has the versions with which this repository is tested", () => {
  // Of a newer oxlint the registry lacks binaries for some systems.
  const others = Object.entries(all).filter(
    ([name, version]) => name !== "oxlint" && locked(name).version !== version,
  );
  expect(others).toEqual([]);
});

it("A project's own Node is a tool of development, because a server has one", () => {
  const manifest = JSON.parse(projectManifest(options, { pinsNode: true }));
  expect(manifest.devDependencies).toHaveProperty("node");
  expect(manifest.dependencies).not.toHaveProperty("node");
});
