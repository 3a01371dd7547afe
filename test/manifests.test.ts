import { describe, expect, it } from "vitest";
import { readPackages, readManifest, readText } from "../scripts/workspace-packages.ts";

/** An entry of the lock file. */
interface Locked {
  readonly version?: string;
  readonly link?: boolean;
  /** Only tools of this repository need it. */
  readonly dev?: boolean;
  readonly scripts?: unknown;
}

const packages = readPackages("packages").map(({ manifest }) => manifest);
const ours: ReadonlySet<string> = new Set(packages.map(({ name }) => name));
const { packages: lock } = JSON.parse(readText("package-lock.json")) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
const installed = Object.entries(lock)
  .filter(([path, { link }]) => path.includes("node_modules/") && link !== true)
  .map(([path, entry]) => ({ name: path.replace(/^.*node_modules\//, ""), ...entry }));

const isExact = (range: string): boolean => /^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(range);

/** Packages that read a language or a format. */
const parsers =
  /pars(?:e|er)\b|parse5|acorn|babel|busboy|css|espree|esprima|html|json5|jsonrepair|markdown|sax|toml|typescript|xml|yaml|\bzod$/;

describe.each(packages.map((manifest) => [manifest.name, manifest] as const))(
  "the manifest of %s",
  (_, manifest) => {
    const { dependencies = {}, peerDependencies = {}, devDependencies = {} } = manifest;
    const ofOthers = Object.entries({ ...dependencies, ...peerDependencies }).filter(
      ([name]) => !ours.has(name),
    );

    it("accepts later versions of the packages of others, up to the next major", () => {
      const pinned = ofOthers.filter(([, range]) => !/^(?:\^\d|>=\d+$)/.test(range));
      expect(pinned).toEqual([]);
    });

    it("pins the tools of its tests", () => {
      expect(Object.entries(devDependencies).filter(([, range]) => !isExact(range))).toEqual([]);
    });

    it("has no scripts, so that an installation runs none", () => {
      expect(manifest).not.toHaveProperty("scripts");
      expect(manifest).not.toHaveProperty("gypfile");
    });
  },
);

it("no project needs a second undici for nodeTransport: from the major of Node 24 on, any will do", () => {
  const ranges = packages.flatMap(({ peerDependencies = {} }) => peerDependencies["undici"] ?? []);
  expect(ranges).toEqual([">=7"]);
});

describe("the lock file", () => {
  it("has one exact version for each package that is installed", () => {
    expect(installed.length).toBeGreaterThan(100);
    expect(installed.filter(({ version = "" }) => !isExact(version))).toEqual([]);
  });

  it("has the version that each range of a manifest names as its first", () => {
    const ranges = packages.flatMap(({ dependencies = {} }) => Object.entries(dependencies));
    const newer = ranges.filter(
      ([name, range]) =>
        !ours.has(name) &&
        !installed.some((one) => one.name === name && `^${one.version}` === range),
    );
    expect(newer).toEqual([]);
  });

  it("brings one major of each parser, and of each package that ours depend on", () => {
    const direct = new Set(packages.flatMap(({ dependencies = {} }) => Object.keys(dependencies)));
    const majors = new Map<string, Set<string>>();
    for (const { name, version = "", dev } of installed) {
      if (dev === true || !(direct.has(name) || parsers.test(name))) continue;
      majors.set(name, (majors.get(name) ?? new Set()).add(version.split(".")[0] ?? ""));
    }
    expect([...majors.keys()]).toContain("@babel/parser");
    expect([...majors].filter(([, found]) => found.size > 1)).toEqual([]);
  });
});

it("the root pins its tools", () => {
  const { devDependencies = {} } = readManifest(".");
  expect(Object.entries(devDependencies).filter(([, range]) => !isExact(range))).toEqual([]);
});
