import { isNode, type AstNode } from "./ast.ts";

/** A script, or why it is none. */
export type ParsedScript =
  | { readonly program: AstNode }
  | { readonly program: undefined; readonly line: number; readonly message: string };

type Parse = (typeof import("@babel/parser"))["parse"];

/** Parses the source of one file. */
export type ScriptParser = (path: string, source: string) => ParsedScript;

let loading: Promise<ScriptParser> | undefined;

/** Whether a file is JavaScript or TypeScript. */
export function isScript(path: string): boolean {
  return /\.(?:[cm]?[jt]s|[jt]sx)$/i.test(path);
}

/** Loads `@babel/parser`, once. */
export function loadScriptParser(): Promise<ScriptParser> {
  return (loading ??= import("@babel/parser").then(
    ({ parse }) =>
      (path, source) =>
        parseWith(parse, path, source),
  ));
}

function parseWith(parse: Parse, path: string, source: string): ParsedScript {
  const isTypes = /\.d\.[cm]?ts$/.test(path);
  const language = /\.[cm]?tsx?$/.test(path)
    ? [["typescript", { dts: isTypes }] as ["typescript", object], ...jsxFor(path)]
    : (["jsx"] as const);
  // Without an import or export only the position of `await` and the like tell; try both.
  const kinds = ["unambiguous", "module"] as const;
  let failure: unknown;
  for (const sourceType of kinds) {
    try {
      const file: unknown = parse(source, {
        sourceType,
        allowReturnOutsideFunction: sourceType === "unambiguous",
        plugins: [...language, "decorators"],
        // Names in `declare module` are not looked for there.
        allowUndeclaredExports: isTypes,
        // Version 7 makes calls of them without this.
        createImportExpressions: true,
      });
      const program = isNode(file) ? file["program"] : undefined;
      if (isNode(program)) return { program };
    } catch (error) {
      failure ??= error;
    }
  }
  const message = failure instanceof Error ? failure.message : "it cannot be parsed";
  return { program: undefined, line: lineOfError(failure), message: tidy(message) };
}

function jsxFor(path: string): readonly ["jsx"] | readonly [] {
  return path.endsWith("x") ? ["jsx"] : [];
}

function lineOfError(error: unknown): number {
  const loc = error instanceof Error && "loc" in error ? error.loc : undefined;
  const isPlace = typeof loc === "object" && loc !== null && "line" in loc;
  return isPlace && typeof loc.line === "number" ? loc.line : 1;
}

function tidy(message: string): string {
  return message.replace(/\s*\(\d+:\d+\)\s*$/, "").split("\n")[0] ?? "";
}
