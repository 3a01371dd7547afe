import { globSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { expect, it } from "vitest";
import { readText, root } from "../scripts/workspace-packages.ts";

/**
 * Phrases that stop a native reader, with what to write instead. `docs/glossary.md` has the words
 * to use.
 */
const avoided: readonly (readonly [RegExp, string])[] = [
  [/(?<!\bthere )\bis no (?!longer\b|more\b|one\b)/i, "is not a …, invalid …"],
  [/\bis none of\b/, "must be one of"],
  [/\bgives\b(?! up)/i, "returns, responds with, passes"],
  [/\banew\b/, "again"],
  [/\bwhoever\b/i, "the caller, anyone who"],
  [/\bmeanwhile\b/i, "in the meantime, since"],
  [/\bin the way\b/, "conflicts with"],
  [/\bof (its|their) own\b/, "separate"],
  [/\bbeside\b/, "next to, with"],
  [/\bfor ever\b/i, "without end, never removed"],
  [
    /(?<!for )\bso many (?:bytes|characters|documents|events|lines|milliseconds|questions|requests|seconds|times|tokens)\b/i,
    "a number of, this number of",
  ],
  [/\bstands? (?:behind|inside|outside|there|within)\b/i, "is, occurs, follows"],
];

/** Comments and text literals of a module, each with its line. */
function proseOf(path: string): readonly (readonly [line: number, text: string])[] {
  const text = readText(path);
  const { program, comments } = parseSync(path, text);
  const found = comments.map(({ start, value }) => [start, unwrapped(value)] as const);
  new Visitor({
    Literal({ start, value }) {
      if (typeof value === "string") found.push([start, value]);
    },
    TemplateElement: ({ start, value }) => void found.push([start, value.cooked ?? ""]),
  }).visit(program);
  return found.map(([start, prose]) => [text.slice(0, start).split("\n").length, prose]);
}

/** A comment without its line breaks, which could divide a phrase. */
function unwrapped(comment: string): string {
  return comment.replace(/\s*\n\s*\*?\s*/g, " ");
}

function faultsIn(prose: string): readonly string[] {
  return avoided.flatMap(([phrase, better]) => {
    const [found] = phrase.exec(prose) ?? [];
    return found === undefined ? [] : [`"${found}" (better: ${better})`];
  });
}

it.each<[string, number, readonly string[]]>([
  ["sources", 300, ["packages/*/src/**/*.ts"]],
  ["templates", 5, ["packages/*/templates/**/*.ts", "packages/create-fetchwork/bin/*"]],
  ["scripts", 100, ["{scripts,docs-site,bench}/**/*.{ts,mjs,cjs}"]],
  ["examples", 30, ["examples/*/{src,scripts}/**/*.ts"]],
  ["tests", 600, ["{packages/*,examples/*,.}/test/**/*.ts"]],
])("comments and texts of the %s avoid phrases that stop the reader", (_, least, patterns) => {
  const files = globSync([...patterns], { cwd: root, exclude: ["**/node_modules"] }).toSorted();
  expect(files.length).toBeGreaterThanOrEqual(least);
  const faults = files.flatMap((path) =>
    proseOf(path).flatMap(([line, prose]) =>
      faultsIn(prose).map((fault) => `${path}:${String(line)} ${fault}`),
    ),
  );
  expect(faults).toEqual([]);
});

/** Words of the names in a module, without "at least" and "give up". */
function wordsOfNames(path: string): readonly string[] {
  const found = new Set<string>();
  const { program } = parseSync(path, readText(path));
  const add = ({ name }: { readonly name: string }): void => {
    found.add(name.replace(/giveUp|atLeast/gi, ""));
  };
  new Visitor({ Identifier: add, PrivateIdentifier: add }).visit(program);
  return [...found].flatMap((name) => name.split(/_|(?=[A-Z])/));
}

/** Words with a better one in `docs/glossary.md`. */
const avoidedInNames =
  /^(?:anew|give|least|meanwhile|mistakable|most|patience|repl(?:y|ies)|sa(?:id|y)|tell|told|usual|whoever|wish(?:es)?)$/i;

it("names in the sources have no word that stops the reader", () => {
  const files = globSync("packages/*/{src,templates}/**/*.ts", { cwd: root }).toSorted();
  const faults = files.flatMap((path) =>
    wordsOfNames(path)
      .filter((word) => avoidedInNames.test(word))
      .map((word) => `${path}: ${word}`),
  );
  expect(faults).toEqual([]);
});

it("names of tests avoid phrases that stop the reader", () => {
  const files = globSync("{packages/*,examples/*,.}/test/**/*.test.ts", { cwd: root });
  expect(files.length).toBeGreaterThan(500);
  const names = files.flatMap((path) =>
    Array.from(
      readText(path).matchAll(
        /^\s*(?:it|test|describe)(?:\.\w+)?\(\s*(["`])(.+?)\1,|^\s*\]\)\(\s*(["`])(.+?)\3,/gm,
      ),
      ([, , name = "", , rowName = ""]) => name + rowName,
    ),
  );
  expect(names.length).toBeGreaterThan(5_000);
  expect(names.filter((name) => faultsIn(name).length > 0)).toEqual([]);
});

/** Messages in another form than `<subject> must be <expected>, got <value>`. */
const otherMessage =
  /\b(?:is|are) (?:of type )?(?:\$\{[^`]*?\}|empty)(?:[,:] expected |, but must be )|\bmust (?:be|list) [^`"\n]*, not \$\{|\breturned \$\{[^`]*?\}, expected /;

it.each([
  ["`port is ${port}, expected a whole number`", true],
  ["`PORT is ${JSON.stringify(text)}, but must be a whole number`", true],
  ["`--list must be array or rows, not ${list}`", true],
  ["`the handler returned ${typeof value}, expected a Response`", true],
  ["`port must be a whole number, got ${port}`", false],
  ['`invalid path "${path}": expected something like /articles`', false],
])("the message %s has another form: %j", (message, hasOther) => {
  expect(otherMessage.test(message)).toBe(hasOther);
});

it("messages about a value have the form `<subject> must be <expected>, got <value>`", () => {
  const files = globSync("packages/*/{src,templates}/**/*.ts", { cwd: root }).toSorted();
  expect(files.length).toBeGreaterThan(300);
  const faults = files.flatMap((path) => {
    const [found] = otherMessage.exec(readText(path)) ?? [];
    return found === undefined ? [] : [`${path}: ${found}`];
  });
  expect(faults).toEqual([]);
});

/** Lines of code, addresses and instructions to the linter are as long as they are. */
const isUnbreakable = /^\s*(?:\*|\/\/) (?:[^ ]+$|oxlint-)|[;,)}]$/;

it("comments have at most 100 columns", () => {
  const programs = "{bench,docs-site,scripts,{.,packages/*,examples/*}/{src,test,templates}}";
  const files = globSync([`${programs}/**/*.{ts,mjs,cjs}`, "packages/*/bin/*.mjs"], {
    cwd: root,
    exclude: ["**/{node_modules,dist}"],
  });
  expect(files.length).toBeGreaterThan(2_000);
  const wide = files.toSorted().flatMap((path) =>
    readText(path)
      .split("\n")
      .flatMap((line, index) => {
        const isComment = /^\s*(?:\/?\*|\/\/) ?/.test(line);
        const isWide = isComment && line.length > 100 && !isUnbreakable.test(line);
        return isWide ? [`${path}:${String(index + 1)}`] : [];
      }),
  );
  expect(wide).toEqual([]);
});

/** Beginnings after which a reader still has to guess what the sentence is about. */
const headless =
  /^(?:As|It|Least|Most|Of|So many|That|They|Those|What|Whatever|Which|Who|Whom|Whose)\b(?! significant)/;

it("a comment of the sources begins with what it is about", () => {
  const files = globSync("packages/*/src/**/*.ts", { cwd: root }).toSorted();
  expect(files.length).toBeGreaterThan(300);
  const faults = files.flatMap((path) =>
    Array.from(readText(path).matchAll(/\/\*\*\s*(?:\* )?(\S[^\n]*)/g), ([, line = ""]) => line)
      .filter((line) => headless.test(line))
      .map((line) => `${path}: ${line}`),
  );
  expect(faults).toEqual([]);
});

it.each(
  globSync(
    [
      "packages/*/README.md",
      "{AGENTS,README,CHANGELOG,CODE_OF_CONDUCT,CONTRIBUTING,SECURITY}.md",
      "packages/fetchwork/templates/project/*.md",
      "examples/*/*.md",
      "docs/!(glossary).md",
      "docs/!(conformance)/*.md",
      "docs-site/*.md",
      "packages/*/skills/*/*.md",
      ".{changeset,github}/**/*.md",
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

it("pages, templates and messages have URLs of localhost, because a browser may not open 0.0.0.0", () => {
  const pages = "{*.md,docs/**/*.md,{packages,examples}/*/*.md,packages/*/skills/**/*.md}";
  const files = globSync([pages, "packages/*/{src,templates}/**/*.{ts,md}"], { cwd: root });
  expect(files.length).toBeGreaterThan(400);
  expect(files.filter((path) => readText(path).includes("://0.0.0.0"))).toEqual([]);
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

/** Sentences with more than 20 words, but for lists: of errors, or with commas. */
function longSentencesIn(prose: string): readonly string[] {
  const plain = prose
    .replace(/`[^`]*`|\{@link [^}]*\}/g, "code")
    .replace(/\]\([^)]*\)/g, "]")
    .replace(/\s+/g, " ");
  return plain
    .split(/(?<=[.!?:;|]) | (?=@|- )/)
    .map((text) => text.replace(/^-/, "").trim())
    .filter((text) => text.split(" ").length > 20)
    .filter((text) => text.split(",").length < 4 && !text.startsWith("@throws"));
}

it("a sentence of a comment or a page has at most 20 words, unless it is a list", () => {
  const long = `${"word ".repeat(20)}end.`;
  expect(longSentencesIn(`Short. ${long}`)).toEqual([long]);
  const sources = globSync("packages/*/src/**/*.ts", { cwd: root });
  const pages = globSync(
    ["{README,CONTRIBUTING,SECURITY}.md", "docs/!(conformance|decisions)/*.md"],
    {
      cwd: root,
    },
  );
  expect(Math.min(sources.length / 5, pages.length)).toBeGreaterThan(30);
  const comments = sources.flatMap((path) => {
    const blocks = readText(path).match(/\/\*\*[\s\S]*?\*\/|(?:^ *\/\/ .*\n)+/gm) ?? [];
    return blocks.map((block) => [path, block.replace(/^ *(?:\/\*\*|\*\/|\*|\/\/) ?/gm, "")]);
  });
  const texts = pages.map((path) => [
    path,
    readText(path).replace(/^(`{3,})[\s\S]*?^\1[ \t]*$/gm, ""),
  ]);
  const paragraphs = [...comments, ...texts].flatMap(([path = "", text = ""]) =>
    text.split(/\n\s*\n|\n(?=#|\d\.|[-*|>])/).map((part) => [path, part]),
  );
  const faults = paragraphs.flatMap(([path = "", part = ""]) =>
    longSentencesIn(part).map((sentence) => `${path}: ${sentence}`),
  );
  expect(faults).toEqual([]);
});
