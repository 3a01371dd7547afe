import { globSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { expect, it } from "vitest";
import { readText, root } from "../scripts/workspace-packages.ts";

/** Phrases that stop a native reader, with what to write instead. `docs/glossary.md` has the words to use. */
const avoided: readonly (readonly [RegExp, string])[] = [
  [/(?<!\bthere )\bis no (?!longer\b|more\b|one\b)/i, "is not a …, invalid …"],
  [/\bis none of\b/, "must be one of"],
  [/\bgives\b(?! up)/, "returns, responds with, passes"],
  [/\banew\b/, "again"],
  [/\bwhoever\b/i, "the caller, anyone who"],
  [/\bmeanwhile\b/i, "in the meantime, since"],
  [/\bin the way\b/, "conflicts with"],
  [/\bof (its|their) own\b/, "separate"],
  [/\bbeside\b/, "next to, with"],
];

/** Comments and text literals of a module, each with its line. */
function proseOf(path: string): readonly (readonly [line: number, text: string])[] {
  const text = readText(path);
  const { program, comments } = parseSync(path, text);
  const found = comments.map(({ start, value }) => [start, value] as const);
  new Visitor({
    Literal({ start, value }) {
      if (typeof value === "string") found.push([start, value]);
    },
    TemplateElement: ({ start, value }) => void found.push([start, value.cooked ?? ""]),
  }).visit(program);
  return found.map(([start, prose]) => [text.slice(0, start).split("\n").length, prose]);
}

function faultsIn(prose: string): readonly string[] {
  return avoided.flatMap(([phrase, better]) => {
    const [found] = phrase.exec(prose) ?? [];
    return found === undefined ? [] : [`"${found}" (better: ${better})`];
  });
}

it("comments and messages of the sources avoid phrases that stop the reader", () => {
  const files = globSync("packages/*/src/**/*.ts", { cwd: root }).toSorted();
  expect(files.length).toBeGreaterThan(300);
  const faults = files.flatMap((path) =>
    proseOf(path).flatMap(([line, prose]) =>
      faultsIn(prose).map((fault) => `${path}:${String(line)} ${fault}`),
    ),
  );
  expect(faults).toEqual([]);
});

it.each(
  globSync(
    [
      "packages/*/README.md",
      "{AGENTS,README,CHANGELOG,CONTRIBUTING,SECURITY}.md",
      "packages/fetchwork/templates/project/*.md",
      "examples/*/*.md",
      "docs/!(glossary).md",
      "docs/!(conformance)/*.md",
    ],
    {
      cwd: root,
    },
  ).toSorted(),
)("%s avoids phrases that stop the reader", (path) => {
  const prose = readText(join(path)).replace(/^(`{3,})[\s\S]*?^\1[ \t]*$/gm, (code) =>
    code.replace(/[^\n]/g, ""),
  );
  const faults = prose
    .split("\n")
    .flatMap((line, index) => faultsIn(line).map((fault) => `line ${String(index + 1)}: ${fault}`));
  expect(faults).toEqual([]);
});

it.each(
  globSync(
    [
      "{README,SECURITY,CONTRIBUTING}.md",
      "docs/!(glossary|benchmarks|errors|runtimes).md",
      "packages/!(agent|fetchwork)/README.md",
      "docs/!(agent|conformance|decisions|fetchwork)/*.md",
      "packages/fetchwork/templates/project/README.md",
    ],
    { cwd: root },
  ).toSorted(),
)("%s calls what a server sends back a response", (path) => {
  const prose = readText(join(path)).replace(/^(`{3,})[\s\S]*?^\1[ \t]*$|`[^`\n]*`/gm, "");
  expect(prose.match(/\b(?:answer(?:s|ed)?|reply|replies)\b/gi)).toBeNull();
});
