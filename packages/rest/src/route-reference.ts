import type { JsonSchema } from "./schema.ts";

/** One possible answer, for the OpenAPI document. */
export interface RouteResponse {
  readonly description: string;
  /** Schema of the JSON body; none for an answer without a body. */
  readonly schema?: JsonSchema | undefined;
  /** Headers by name, with what they tell. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A query parameter, for the OpenAPI document. */
export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** Whether the route refuses requests without it. Default: `false`. */
  readonly required?: boolean | undefined;
}
