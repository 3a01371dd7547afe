/**
 * A schema of any library that follows Standard Schema, version 1, such as zod, Valibot or ArkType.
 *
 * @see https://standardschema.dev
 */
export interface StandardSchema<Input, Output = Input> {
  /** Part that the standard defines. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** Result of a schema for a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One thing that a schema found wrong. */
export interface SchemaIssue {
  /** Fault of the value, in the words of the schema's library. */
  readonly message: string;
  /** Where it is wrong. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
