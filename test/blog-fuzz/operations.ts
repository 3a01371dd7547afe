import type { JsonSchema, OpenApiDocument } from "@fetchwork/rest";
import { resolveReferences } from "../../packages/rest/test/resolve-references.ts";

interface Media {
  readonly schema?: JsonSchema;
}

/** A response as an OpenAPI document describes it. */
export interface DescribedResponse {
  readonly content?: Readonly<Record<string, Media>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}

/** An operation of an OpenAPI document. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** With parameters as `{name}`. */
  readonly path: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: JsonSchema;
  }[];
  /** Names of security schemes, any of which is accepted. */
  readonly schemes: readonly string[];
  readonly isBodyRequired: boolean;
  /** Schemas of the body by media type. */
  readonly bodies: Readonly<Record<string, Media>>;
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

/** Lists the operations of a document. */
export function operationsOf(document: OpenApiDocument): readonly Operation[] {
  const { paths } = resolveReferences(document);
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => {
      // The document is ours, and tests of @fetchwork/rest validate its form.
      const operation = described as {
        readonly operationId: string;
        readonly parameters?: Operation["parameters"];
        readonly security?: readonly Readonly<Record<string, unknown>>[];
        readonly requestBody?: {
          readonly required?: boolean;
          readonly content: Operation["bodies"];
        };
        readonly responses: Operation["responses"];
      };
      const { operationId: id, parameters = [], requestBody, responses, security = [] } = operation;
      return {
        id,
        method: method.toUpperCase(),
        path,
        parameters,
        schemes: security.flatMap((one) => Object.keys(one)),
        isBodyRequired: requestBody?.required ?? false,
        bodies: requestBody?.content ?? {},
        responses,
      };
    }),
  );
}
