/** A schema of any library that follows Standard Schema, version 1, such as zod, Valibot or ArkType. */
export interface DocumentSchema<Output> {
  /** What the standard defines. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
    ) => DocumentSchemaResult<Output> | Promise<DocumentSchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a schema makes of a document. */
export type DocumentSchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly DocumentSchemaIssue[] };

/** What a schema found wrong. */
export interface DocumentSchemaIssue {
  /** What is wrong, in the words of the schema's library. */
  readonly message: string;
  /** Where it is wrong. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
