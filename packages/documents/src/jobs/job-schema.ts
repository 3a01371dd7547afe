/** A schema of any library that follows Standard Schema, version 1, such as zod, Valibot or ArkType. */
export interface JobSchema<Input, Parsed> {
  /** What the standard defines. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaOutcome<Parsed> | Promise<SchemaOutcome<Parsed>>;
    readonly types?: { readonly input: Input; readonly output: Parsed } | undefined;
  };
}

/** What a schema makes of a value. */
type SchemaOutcome<Parsed> =
  | { readonly value: Parsed; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Names the places that a schema rejects; not the values, which may be secret. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, maxShown).map(({ message, path = [] }) => {
    const place = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    return `${place === "" ? "the input" : place}: ${message}`;
  });
  return shown.join("; ").slice(0, maxText);
}

const maxShown = 5;
const maxText = 500;
