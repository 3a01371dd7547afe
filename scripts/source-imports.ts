import { parseSync, Visitor } from "rolldown/utils";

/** What one module says about others, and the error codes in its text. */
export interface SourceFacts {
  /** Specifiers of every import: static, dynamic, re-export, and in types. */
  readonly imports: readonly string[];
  /** Specifiers after `export * from`; `export * as name` is a name and not listed. */
  readonly starExports: readonly string[];
  /** String literals that are an error code, such as `ERR_OAUTH_RESPONSE`. */
  readonly errorCodes: readonly string[];
}

/**
 * Reads a module with a real parser, so that comments and strings that look like imports do not
 * count.
 *
 * @throws {SyntaxError} when the text does not parse, or an import's specifier is neither a literal
 *   nor `pathToFileURL(…).href`, a file that the user names.
 */
export function readSource(path: string, text: string): SourceFacts {
  const { program, errors } = parseSync(path, text);
  const [fault] = errors;
  if (fault) throw new SyntaxError(`${path}: ${fault.message}`);

  const imports = new Set<string>();
  const starExports = new Set<string>();
  const errorCodes = new Set<string>();
  new Visitor({
    ImportDeclaration: ({ source }) => void imports.add(source.value),
    ExportNamedDeclaration: ({ source }) => void (source && imports.add(source.value)),
    ExportAllDeclaration({ source, exported }) {
      imports.add(source.value);
      if (!exported) starExports.add(source.value);
    },
    ImportExpression({ source }) {
      // A file that the user of a command names belongs to no package.
      if (/^pathToFileURL\(.+\)\.href$/s.test(slice(text, source))) return;
      if (source.type !== "Literal" || typeof source.value !== "string") {
        throw new SyntaxError(`${path}: import() of what is not a literal: ${slice(text, source)}`);
      }
      imports.add(source.value);
    },
    TSImportType: ({ source }) => void imports.add(source.value),
    Literal({ value }) {
      if (typeof value === "string" && /^ERR_[A-Z0-9_]+$/.test(value)) errorCodes.add(value);
    },
  }).visit(program);
  return { imports: [...imports], starExports: [...starExports], errorCodes: [...errorCodes] };
}

function slice(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
): string {
  return text.slice(start, end);
}
