import { globSync } from "node:fs";
import { exportedNames } from "./exported-names.ts";
import { readPackages, readText, root, type WorkspacePackage } from "./workspace-packages.ts";

/** What one package weighs. */
export interface Weight {
  /** Lines of its sources, all of them, by folder: `src`, `bin`, `assets`, `templates`. */
  readonly lines: Readonly<Record<string, number>>;
  /**
   * Names that its entries export, but for `/internal`; one that several entries export counts
   * once.
   */
  readonly names: number;
  /** Fields of the exported interfaces whose names end in `Options` or `Settings`. */
  readonly options: number;
}

const folders = ["src", "bin", "assets", "templates"];
/** Files of others, and tests, which projects get a copy of. */
const excluded = /\.test\.ts$|\/swagger-ui|\.min\.|\/templates\/project\/test\//;

/** Weighs every package, by the name of its folder. */
export function weighPackages(): ReadonlyMap<string, Weight> {
  return new Map(
    readPackages("packages").map((pkg) => [pkg.folder.split("/")[1] ?? "", weigh(pkg)]),
  );
}

function weigh(pkg: WorkspacePackage): Weight {
  const exported = exportedNames([pkg]).filter(({ entry }) => !entry.endsWith("/internal"));
  const declarations = new Set(exported.map(({ declaration }) => declaration));
  return {
    lines: Object.fromEntries(
      folders.flatMap((folder) => {
        const count = linesOf(`${pkg.folder}/${folder}`);
        return count === 0 ? [] : [[folder, count]];
      }),
    ),
    names: declarations.size,
    options: [...declarations].map(optionsOf).reduce((sum, count) => sum + count, 0),
  };
}

function linesOf(folder: string): number {
  return globSync(`${folder}/**/*.{ts,js,html}`, { cwd: root })
    .filter((file) => !excluded.test(file.replaceAll("\\", "/")))
    .reduce((sum, file) => sum + readText(file).split("\n").length - 1, 0);
}

/** The number of fields of an interface of options; 0 for any other declaration. */
function optionsOf(declaration: string): number {
  const [file = "", name = ""] = declaration.split("#");
  if (!/(?:Options|Settings)$/.test(name)) return 0;
  const body = new RegExp(`^export interface ${name}\\b[^{]*\\{$([^]*?)^\\}$`, "m").exec(
    readText(file),
  );
  return body?.[1]?.match(/^ {2}readonly \w+\??:/gm)?.length ?? 0;
}

/** Writes the weights as a table. */
function table(): string {
  const rows = [...weighPackages()].flatMap(([name, { lines, names, options }]) =>
    Object.entries(lines).map(([folder, count], index) => [
      `${name}/${folder}`,
      String(count),
      ...(index === 0 ? [String(names), String(options)] : ["", ""]),
    ]),
  );
  const head = ["folder", "lines", "names", "options"];
  const widths = head.map((cell, at) =>
    Math.max(cell.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, at) =>
          at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
        )
        .join("  "),
    )
    .join("\n");
}

if (import.meta.main) console.log(table());
