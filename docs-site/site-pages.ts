import { globSync } from "node:fs";
import { posix } from "node:path";
import { readText, root } from "../scripts/workspace-packages.ts";

/** A Markdown file of the repository that is a page of the site. */
export interface SitePage {
  /** The file, relative to the root: `docs/tutorial.md`. */
  readonly source: string;
  /** The page, relative to the site: `tutorial.md`. */
  readonly page: string;
  readonly title: string;
  /** The heading of the side bar that it stands under; none: only links lead to it. */
  readonly section: string | undefined;
}

/**
 * The sections in the order of the side bar, each with its files. A file belongs to the first
 * section that names it; patterns of `remainders` take what no other pattern names.
 */
const sections: readonly (readonly [string, readonly string[]])[] = [
  [
    "Start",
    [
      "README.md",
      "docs/concepts.md",
      "docs/tutorial.md",
      "docs/tutorial-shop.md",
      "examples/*/README.md",
    ],
  ],
  ["Guides", ["docs/*.md", "docs/guides/**/*.md"]],
  ["Packages", ["packages/*/README.md", "docs/packages/**/*.md", "docs/*/*.md"]],
  ["Reference", ["docs/errors.md", "docs/runtimes.md", "docs/benchmarks.md", "docs/glossary.md"]],
  ["Moving here", ["docs/from-*.md", "docs/moving/**/*.md"]],
  [
    "About",
    [
      "docs/comparisons.md",
      "docs/not-included.md",
      "docs/ARCHITECTURE.md",
      "docs/models.md",
      "SECURITY.md",
      "docs/reliability.md",
      "docs/proofs.md",
      "CONTRIBUTING.md",
      "CODE_OF_CONDUCT.md",
      "docs/releases.md",
      "CHANGELOG.md",
      "docs/decisions/README.md",
      "docs/conformance/*.md",
    ],
  ],
];

/** Pages without a place in the side bar. */
const unlisted: readonly string[] = ["docs/decisions/*.md", "bench/results/*.md"];

const remainders: ReadonlySet<string> = new Set(["docs/*.md", "docs/*/*.md"]);

const otherTitles: Readonly<Record<string, string>> = { "README.md": "Overview" };

/** Lists the pages in the order of the side bar. */
export function sitePages(): readonly SitePage[] {
  const patternsOfAll = [...sections.flatMap(([, patterns]) => patterns), ...unlisted];
  const named = new Set(patternsOfAll.filter((one) => !remainders.has(one)).flatMap(filesOf));
  const listed = sections.flatMap(([section, patterns]) =>
    patterns.flatMap((pattern) =>
      filesOf(pattern)
        .filter((file) => !remainders.has(pattern) || !named.has(file))
        .map((file) => pageOf(file, section)),
    ),
  );
  const sources = new Set(listed.map(({ source }) => source));
  const others = unlisted.flatMap(filesOf).filter((file) => !sources.has(file));
  return [...listed, ...others.map((file) => pageOf(file, undefined))];
}

function filesOf(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .toSorted();
}

function pageOf(source: string, section: string | undefined): SitePage {
  const heading = /^# (.+)$/m.exec(readText(source))?.[1];
  if (heading === undefined) throw new Error(`${source} must have a heading "# …"`);
  const title = otherTitles[source] ?? heading.replaceAll(/[`*]/g, "");
  return { source, page: placeOf(source), title, section };
}

/** `packages/http/README.md` -> `packages/http/index.md`; the folder `docs` is left out. */
function placeOf(source: string): string {
  if (source === "README.md") return "overview.md";
  const place = source.replace(/^docs\//, "").toLowerCase();
  return posix.basename(place) === "readme.md"
    ? posix.join(posix.dirname(place), "index.md")
    : place;
}
