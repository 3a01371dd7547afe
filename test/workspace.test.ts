import { existsSync, globSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { tableRows } from "../scripts/markdown.ts";
import {
  packagePages,
  readManifest,
  readPackages,
  readText,
  root,
  type WorkspacePackage,
} from "../scripts/workspace-packages.ts";

const layers: Readonly<Record<string, number>> = {
  "@fetchwork/kit": 0,
  "@fetchwork/endpoint": 0,
  "@fetchwork/http": 1,
  "@fetchwork/documents": 1,
  "@fetchwork/oauth2": 2,
  "@fetchwork/middleware": 2,
  "@fetchwork/webhooks": 2,
  "@fetchwork/rest": 3,
  "@fetchwork/agent": 3,
  "@fetchwork/service": 4,
  "@fetchwork/verify": 5,
  fetchwork: 6,
  "create-fetchwork": 7,
};

/** Packages whose other files run on any web-standard runtime. */
const portable = new Set(["kit", "http", "endpoint", "oauth2", "middleware", "webhooks"]);

const packages = readPackages("packages");
const examples = readPackages("examples");
const { version, engines, devDependencies: rootTools } = readManifest(".");

/** `@scope/name/sub/path` -> `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith("./") || specifier.startsWith("../");
}

/** Lists `file -> specifier` for every import that breaks a rule. */
function importsThat(
  breaks: (specifier: string, file: string) => boolean,
  { sources }: WorkspacePackage,
): readonly string[] {
  return sources.flatMap(({ path, imports }) =>
    imports
      .filter((specifier) => breaks(specifier, path))
      .map((specifier) => `${path} -> ${specifier}`),
  );
}

function isDeclared(specifier: string, file: string, { manifest }: WorkspacePackage): boolean {
  const { dependencies, peerDependencies, optionalDependencies, devDependencies } = manifest;
  const forTests = file.endsWith(".test.ts") ? { ...rootTools, ...devDependencies } : {};
  // Tools of the project that uses the package: as optional peers, `npm ci --omit=dev` would
  // install them.
  const tools = manifest.name === "@fetchwork/service" ? devDependencies : {};
  const declared = {
    ...dependencies,
    ...peerDependencies,
    ...optionalDependencies,
    ...forTests,
    ...tools,
  };
  // What begins with `#` is the package's own choice of one of its files (Node's "subpath
  // imports").
  if (specifier.startsWith("#")) return specifier in (manifest.imports ?? {});
  return isRelative(specifier) || specifier.startsWith("node:") || packageOf(specifier) in declared;
}

/** Files and folders that a Markdown text links to, relative to its own. */
function linkTargets(markdown: string): readonly string[] {
  const prose = markdown.replace(/^(`{3,})[\s\S]*?^\1[ \t]*$/gm, "").replace(/`[^`\n]*`/g, "");
  const links = prose.matchAll(/\]\(<?([^)\s>]+)[^)]*\)|^\[[^\]]+\]:[ \t]+<?([^\s>]+)/gm);
  return Array.from(links, ([, inline, reference]) => inline ?? reference ?? "")
    .filter((target) => !/^(?:[a-z][a-z\d+.-]*:|#)/i.test(target))
    .map((target) => decodeURIComponent(target.replace(/#.*/s, "")));
}

describe.each([...packages, ...examples].map((pkg) => [pkg.folder, pkg] as const))(
  "%s",
  (_, pkg) => {
    it("imports only what its package.json declares", () => {
      expect(importsThat((specifier, file) => !isDeclared(specifier, file, pkg), pkg)).toEqual([]);
    });

    it("names Node's modules with `node:`", () => {
      const isBare = (specifier: string): boolean =>
        !specifier.startsWith("node:") && builtinModules.includes(specifier);
      expect(importsThat(isBare, pkg)).toEqual([]);
    });

    it("imports its own files with their `.ts`", () => {
      expect(
        importsThat((specifier) => isRelative(specifier) && !specifier.endsWith(".ts"), pkg),
      ).toEqual([]);
    });

    it("names the versions of Node that its scripts take", () => {
      expect(pkg.manifest.engines).toEqual(engines);
    });

    it("exports by name", () => {
      expect(pkg.sources.filter(({ starExports }) => starExports.length > 0)).toEqual([]);
    });
  },
);

it.each(examples.map(({ folder, sources }) => [folder, sources] as const))(
  "%s declares nothing with `using`, which Node 22 does not parse where it runs the sources",
  (folder, sources) => {
    const isUsing = /^\s*(?:await\s+)?using\s+\w+\s*[:=]/m;
    const paths = sources.map(({ path }) => posix.join(folder, path));
    expect(paths.filter((path) => isUsing.test(readText(path)))).toEqual([]);
  },
);

describe.each(packages.map((pkg) => [pkg.folder, pkg] as const))("%s", (folder, pkg) => {
  const { manifest, sources } = pkg;
  const own = layers[manifest.name] ?? -1;
  /**
   * A package without an entry is a program of plain JavaScript in `bin`, which no compiler builds.
   */
  const isProgram = !("." in (manifest.exports ?? {}));

  it("has a layer and is named after its folder", () => {
    expect(own).toBeGreaterThanOrEqual(0);
    expect(manifest.name.replace("@fetchwork/", "")).toBe(posix.basename(folder));
  });

  it("imports packages of lower layers only", () => {
    const isHigher = (specifier: string): boolean => (layers[packageOf(specifier)] ?? -1) >= own;
    expect(importsThat(isHigher, pkg)).toEqual([]);
  });

  it("keeps `node:` where it is allowed", () => {
    const mayUseNode = (file: string): boolean =>
      !portable.has(posix.basename(folder)) || file.startsWith("src/node/");
    expect(
      importsThat((specifier, file) => specifier.startsWith("node:") && !mayUseNode(file), pkg),
    ).toEqual([]);
  });

  it("does not import its own index", () => {
    const isIndex = (specifier: string, file: string): boolean =>
      isRelative(specifier) && posix.join(posix.dirname(file), specifier) === "src/index.ts";
    expect(importsThat(isIndex, pkg)).toEqual([]);
  });

  it("exports a source, types and a default for every entry", () => {
    for (const [entry, target] of Object.entries(manifest.exports ?? { ".": {} })) {
      if (entry === "./package.json") continue;
      const source = typeof target === "string" ? target : target["@fetchwork/source"];
      const output = source?.replace("./src/", "./dist/").replace(/\.ts$/, "");
      expect(target).toEqual({
        "@fetchwork/source": source,
        types: `${output}.d.ts`,
        default: `${output}.js`,
      });
      expect(sources.map(({ path }) => `./${path}`)).toContain(source);
    }
  });

  it("has a README, sources and a test", () => {
    expect(readText(`${folder}/README.md`)).not.toBe("");
    const files = isProgram
      ? globSync(`bin/*`, { cwd: join(root, folder) })
      : sources.map(({ path }) => path);
    expect(files).toContain(isProgram ? `bin/${manifest.name}.mjs` : "src/index.ts");
    expect(globSync(`${folder}/test/**/*.test.ts`, { cwd: root })).not.toEqual([]);
  });

  it("has a README of at most 150 lines", () => {
    expect(readText(`${folder}/README.md`).split("\n").length).toBeLessThanOrEqual(151);
  });

  it("has a skill in the Agent Skills format, which it publishes", () => {
    const skill =
      folder === "packages/fetchwork" ? "fetchwork" : folder.replace("packages/", "fetchwork-");
    const text = readText(`${folder}/skills/${skill}/SKILL.md`);
    const [, head = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
    const fields = Object.fromEntries(head.split("\n").map((line) => line.split(/: (.*)/)));
    expect(fields).toMatchObject({ name: skill, license: "MIT" });
    expect(fields["description"]?.length).toBeLessThanOrEqual(1024);
    expect(fields["description"]).toMatch(/\bUse when\b|\bUse after\b/);
    expect(body.split("\n").length).toBeLessThan(60);
    expect(manifest.files).toContain("skills");
  });

  it("names in its pages every value that its main entry exports", () => {
    const pages = packagePages(folder.replace("packages/", ""))
      .map((path) => readText(path))
      .join("\n");
    const lists = readText(`${folder}/src/index.ts`).matchAll(/^export \{([^}]*)\}/gm);
    const names = [...lists].flatMap(([, list = ""]) =>
      list
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "" && !item.startsWith("type "))
        .map((item) => item.split(" ").at(-1) ?? ""),
    );
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(pages))).toEqual([]);
  });

  it("has the workspace's version and licence, and pins its siblings to that version", () => {
    expect(manifest).toMatchObject({ version, license: "MIT" });
    const wanted = {
      ...manifest.dependencies,
      ...manifest.peerDependencies,
      ...manifest.devDependencies,
    };
    const siblings = Object.entries(wanted).filter(([name]) => name in layers);
    expect(siblings).toEqual(siblings.map(([name]) => [name, version]));
  });

  it("describes itself to a registry, and contains the text of its licence, which copies must have", () => {
    expect(manifest.description).toMatch(/^[A-Z].{30,}[^.]$/);
    expect(manifest.keywords?.length).toBeGreaterThan(2);
    expect(readText(`${folder}/LICENSE`)).toBe(readText("LICENSE"));
  });

  it("is built by tsconfig.build.json, with every tsconfig.json that it has", () => {
    const { references } = JSON.parse(readText("tsconfig.build.json")) as {
      references: readonly { readonly path: string }[];
    };
    const projects = globSync(`${folder}/{,src/**/}tsconfig.json`, { cwd: root });
    expect(projects.length === 0).toBe(isProgram);
    expect(references.map(({ path }) => path)).toEqual(
      expect.arrayContaining(projects.map((file) => posix.dirname(file))),
    );
  });
});

/** Codes of Node that our sources compare with. */
const nodesOwnCodes: ReadonlySet<string> = new Set([
  "ERR_ASSERTION",
  "ERR_BUFFER_TOO_LARGE",
  "ERR_HTTP2_",
  "ERR_HTTP2_INVALID_SESSION",
  "ERR_HTTP_REQUEST_TIMEOUT",
  "ERR_SCRIPT_EXECUTION_TIMEOUT",
]);

describe("the workspace", () => {
  it("references only projects that exist", () => {
    const { references } = JSON.parse(readText("tsconfig.build.json")) as {
      references: readonly { readonly path: string }[];
    };
    expect(references.filter(({ path }) => !existsSync(join(root, path, "tsconfig.json")))).toEqual(
      [],
    );
  });

  it("has a row in docs/errors.md for every error code, and no other row", () => {
    const inSources = packages.flatMap(({ sources }) =>
      sources.flatMap(({ errorCodes }) => errorCodes),
    );
    const inDocs = tableRows(readText("docs/errors.md")).flatMap(
      ([cell = ""]) => /^`(ERR_[A-Z0-9_]+)`$/.exec(cell)?.slice(1) ?? [],
    );
    const ours = new Set(inSources.filter((code) => !nodesOwnCodes.has(code)));
    expect(inDocs.toSorted()).toEqual([...ours].toSorted());
  });

  it("has a row in the README's table for every package, and links only to packages that exist", () => {
    const inTable = tableRows(readText("README.md")).flatMap(
      ([cell = ""]) => /\]\((?:\.\/)?(packages\/[^/)]+)(?:\/[^)]*)?\)/.exec(cell)?.slice(1) ?? [],
    );
    expect(inTable.toSorted()).toEqual(packages.map(({ folder }) => folder));
  });

  it.each(globSync("{README.md,docs/**/*.md,packages/*/README.md}", { cwd: root }).toSorted())(
    "has every file that %s links to",
    (file) => {
      const missing = linkTargets(readText(file)).filter(
        (target) => !existsSync(join(root, posix.dirname(file), target)),
      );
      expect(missing).toEqual([]);
    },
  );
});
