import type { ScriptedAnswer } from "./model-server.ts";

type Files = ReadonlyMap<string, string>;

/** What a scripted project may have besides its files. */
export interface ProjectScriptOptions {
  /**
   * Answers that come before the others, so that they win: wrong first answers, faults, repairs.
   */
  readonly first?: readonly ScriptedAnswer[];
  /** Default: a plan that lists the files. */
  readonly sharedDeps?: string;
}

/** Answers for a whole project: its plan, its contract, and each file. */
export function projectScript(
  files: Files,
  { first = [], sharedDeps = planOf(files) }: ProjectScriptOptions = {},
): readonly ScriptedAnswer[] {
  return [
    ...first,
    { match: ["# Plan\n"], tool: null, text: sharedDeps },
    { tool: "project_files", arguments: { files: contractOf(files) } },
    ...[...files].map(([path, text]) => ({
      match: [`Answer with the source of ${path}.`],
      text,
      arguments: { content: text },
    })),
  ];
}

function planOf(files: Files): string {
  return `# Shared dependencies\n\n${[...files.keys()].map((path) => `- ${path}`).join("\n")}\n`;
}

/** A file depends on those whose names stand in its imports. */
function contractOf(files: Files): readonly unknown[] {
  return [...files].map(([path, text]) => ({
    path,
    purpose: `The file ${path}`,
    dependsOn: Array.from(
      text.matchAll(/(?:from |import |require\()"\.[^"]*?([^/"]+)"/g),
      ([, name = ""]) =>
        [...files.keys()].filter((other) => other !== path && other.endsWith(name)),
    ).flat(),
    exports: [],
  }));
}

/** A project of independent files. */
export function manyFiles(count: number): Files {
  return new Map(
    Array.from({ length: count }, (_, at) => [
      `src/part-${at}.js`,
      `export const part${at} = ${at};\n`,
    ]),
  );
}
