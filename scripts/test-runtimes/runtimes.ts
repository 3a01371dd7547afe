import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A runtime that the packages are tried on. */
export interface Runtime {
  readonly id: "node22" | "node24" | "node26" | "bun" | "deno" | "workerd";
  /** As people call it. */
  readonly name: string;
  /** Its package in `runtimes/package.json`. */
  readonly package: string;
  /** What starts it, in the folder of its package. */
  readonly program: string;
  /** Arguments before the file of a program; a worker is configured instead. */
  readonly args: readonly string[];
}

/** The runtimes, in the order of the table. */
export const runtimes: readonly Runtime[] = [
  node("node22", "Node 22"),
  node("node24", "Node 24"),
  node("node26", "Node 26"),
  {
    id: "bun",
    name: "Bun",
    package: "@oven/bun-linux-x64",
    program: "bin/bun",
    args: ["run"],
  },
  {
    id: "deno",
    name: "Deno",
    package: "@deno/linux-x64-glibc",
    program: "deno",
    args: ["run", "--allow-all", "--quiet"],
  },
  {
    id: "workerd",
    name: "workerd",
    package: "@cloudflare/workerd-linux-64",
    program: "bin/workerd",
    args: [],
  },
];

/** Where the pinned versions stand. */
export const pins: string = join(import.meta.dirname, "runtimes");

/** The pinned versions. */
export function versionsOf(): Readonly<Record<string, string>> {
  const { packages } = JSON.parse(readFileSync(join(pins, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version?: string }>>;
  };
  return Object.fromEntries(
    runtimes.map((runtime) => [
      runtime.id,
      packages[`node_modules/${runtime.package}`]?.version ?? "",
    ]),
  );
}

function node(id: "node22" | "node24" | "node26", name: string): Runtime {
  return { id, name, package: id, program: "bin/node", args: ["--no-warnings"] };
}
