import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { propertyRuns } from "../../../documents/test/property-runs.ts";
import type { OpenApiDocument } from "../../src/openapi/openapi.ts";
import type { JsonSchema } from "../../src/schema.ts";
import { memoryStore } from "../api-client.ts";
import { resolveReferences } from "../resolve-references.ts";
import { operationsOf, requestsFor } from "./requests.ts";
import { reset, sendPlan, snapshot } from "./send.ts";
import { makeWholeApi } from "./whole-api.ts";

interface Media {
  readonly schema?: JsonSchema;
  readonly example?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly (Media & { readonly name: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Media>> }>
  >;
}

function createAjv({ components }: OpenApiDocument): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  // oxlint-disable-next-line typescript/no-explicit-any -- its types and its CommonJS disagree
  (addFormats as any)(ajv);
  ajv.addSchema({ $id: "openapi", components });
  return ajv;
}

function compile(ajv: Ajv2020, schema: JsonSchema): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/');
  return ajv.compile(JSON.parse(text) as object);
}

/** Finds operations of a document, whose references are resolved once. */
function operationsIn(document: OpenApiDocument): (path: string, method: string) => Operation {
  const { paths } = resolveReferences(document);
  return (path, method) => paths[path]?.[method.toLowerCase()] as Operation;
}

async function makeApi() {
  const store = await memoryStore();
  return { store, ...(await makeWholeApi(store)) };
}

describe("the OpenAPI document", () => {
  it("is valid by the schema of OpenAPI 3.2", async () => {
    const { api } = await makeApi();
    const document = JSON.parse(JSON.stringify(api.openApi)) as Record<string, unknown>;
    expect(await new Validator().validate(document)).toEqual({ valid: true });
  });

  it("has no example that a page would send for its reader", async () => {
    const { api } = await makeApi();
    const operationAt = operationsIn(api.openApi);
    for (const { path, method } of operationsOf(api.openApi)) {
      const { parameters = [], requestBody } = operationAt(path, method);
      const bodies = Object.values(requestBody?.content ?? {});
      expect([...parameters, ...bodies].filter((one) => "example" in one)).toEqual([]);
    }
  });

  it("is the same each time", async () => {
    const [one, two] = [await makeApi(), await makeApi()];
    expect(one.api.openApi).toEqual(two.api.openApi);
  });
});

describe("a request built from the OpenAPI document", () => {
  it("gets an answer that the document describes; a refused one changes nothing", async () => {
    const { api, store, callers } = await makeApi();
    const ajv = createAjv(api.openApi);
    const validators = new Map<string, ValidateFunction>();
    const sender = { api, callers, ids: new Map<string, string[]>() };
    const operations = operationsOf(api.openApi);
    const operationAt = operationsIn(api.openApi);
    const statuses = new Map<string, Set<number>>();
    let stored = "";
    let turn = 0;

    await fc.assert(
      fc.asyncProperty(fc.oneof(...operations.map(requestsFor)), async (plan) => {
        if (turn % 10 === 0) {
          await reset(sender, store, turn / 10);
          stored = await snapshot(store);
        }
        turn += 1;
        const answer = await sendPlan(sender, plan);
        if (!answer) return;
        const { response, text } = answer;
        const { status } = response;
        const { operationId, responses } = operationAt(plan.path, plan.method);
        expect(status).toBeLessThan(500);
        const described = responses[status];
        expect(described, `${operationId} ${status} ${text}`).toBeDefined();
        statuses.set(operationId, (statuses.get(operationId) ?? new Set()).add(status));

        const type = response.headers.get("content-type")?.split(";")[0] ?? "";
        const { schema } = described?.content?.[type] ?? {};
        if (text === "") expect(described?.content).toSatisfy(isEmptyFor(status));
        else {
          expect(schema, `${operationId} ${status} ${type}`).toBeDefined();
          const key = `${operationId} ${status}`;
          const validate = validators.get(key) ?? compile(ajv, schema ?? {});
          validators.set(key, validate);
          expect([validate(JSON.parse(text)), validate.errors, text]).toEqual([true, null, text]);
        }

        const now = await snapshot(store);
        if (status >= 400) expect(now).toBe(stored);
        stored = now;
      }),
      { numRuns: propertyRuns(4_000, 8_000), seed: 20_261_121, endOnFailure: true },
    );
    // Each operation was reached, and most of them did what they do.
    expect([...statuses.keys()].toSorted()).toEqual(
      operations.map(({ path, method }) => operationAt(path, method).operationId).toSorted(),
    );
    const worked = [...statuses].filter(([, all]) => [...all].some((status) => status < 300));
    expect(worked.map(([name]) => name)).toEqual([...statuses.keys()]);
  }, 60_000);
});

/** An answer without body is described without one; HEAD, 204 and 304 are. */
function isEmptyFor(status: number): (content: unknown) => boolean {
  return (content) => content === undefined || status === 304;
}
