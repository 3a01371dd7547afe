import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

function read(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, "..", name), "utf8"));
}

const { packages } = read("package-lock.json") as {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
};
const { allowScripts } = read("package.json") as { readonly allowScripts: object };

it("The lock file has install scripts only of packages that are allowed to have one", () => {
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, ""));
  expect(names).toEqual(Object.keys(allowScripts));
});

it("The lock file has no package that reports installs", () => {
  expect(Object.keys(packages).filter((path) => path.includes("@scarf/"))).toEqual([]);
});
