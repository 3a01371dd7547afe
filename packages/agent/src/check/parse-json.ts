/** A JSON value, or where it is none. */
export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly line: number; readonly message: string };

/** Parses JSON; accepts comments and trailing commas where tools do (tsconfig, `.jsonc`). */
export function parseJson(path: string, source: string): ParsedJson {
  const lenient =
    /(?:^|\/)(?:(?:tsconfig|jsconfig)[^/]*|typedoc)\.json$|\.jsonc$|(?:^|\/)\.vscode\//.test(path);
  const text = lenient ? plainJson(source) : source;
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    const position = /position (\d+)/.exec(message)?.[1];
    const before = position === undefined ? text : text.slice(0, Number(position));
    return {
      ok: false,
      line: before.split("\n").length,
      // V8 quotes the source in its message; that may be anything.
      message: `it is not JSON: ${/^[^."]*(?: in JSON)?/.exec(message)?.[0].trim() || "unexpected end"}`,
    };
  }
}

function plainJson(source: string): string {
  const withoutComments = source.replace(
    /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g,
    (part) => (part.startsWith('"') ? part : part.replace(/[^\n]/g, " ")),
  );
  return withoutComments.replace(/"(?:[^"\\\n]|\\.)*"?|,(?=\s*[}\]])/g, (part) =>
    part === "," ? " " : part,
  );
}
