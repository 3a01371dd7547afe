import { mockTransport } from "@fetchwork/http";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type ApiClient, createClient } from "../src/client/index.ts";
import { defineRoute } from "../src/plan/route.ts";
import { openApi } from "./api-client.ts";

const csv = "id,total\n1,2\n";

const report = defineRoute({
  method: "GET",
  path: "/report",
  operation: "showReport",
  summary: "Show the report",
  tag: "reports",
  access: "public",
  query: [{ name: "empty", description: "Whether it is empty", schema: { type: "boolean" } }],
  response: z.string(),
  responseType: "text/csv",
  responses: { 200: { description: "The report" }, 404: { description: "Report not found" } },
  handle: ({ query }) =>
    new Response(query.get("empty") === "true" ? "" : csv, {
      headers: { "content-type": "text/csv; charset=utf-8" },
    }),
});
const routes = [report];

async function open(handler?: () => Response) {
  const { api } = await openApi({ routes });
  const accepted: (string | null)[] = [];
  const client = createClient<typeof routes>({
    baseUrl: "http://api.example",
    openApi: api.openApi,
    transport: mockTransport((request, context) => {
      accepted.push(request.headers.get("accept"));
      return handler?.() ?? api.handler(request, context);
    }),
  });
  return { accepted, api, client };
}

describe("a route whose response is not JSON", () => {
  it("has its media type in the description, and errors keep theirs", async () => {
    const { api } = await open();
    expect(api.openApi.paths["/report"]).toMatchObject({
      get: {
        responses: {
          200: { content: { "text/csv": { schema: { type: "string" } } } },
          404: { $ref: "#/components/responses/ReportNotFound" },
        },
      },
    });
    expect(JSON.stringify(api.openApi)).not.toContain('"application/json"');
  });

  it("returns its text to the typed client, which asks for it", async () => {
    const { accepted, client } = await open();
    const { data } = await client.showReport();
    expect(data).toBe(csv);
    expect(accepted).toEqual(["text/csv"]);
    expect((await client.showReport({}, { query: { empty: true } })).data).toBe("");
    const call = (typed: ApiClient<typeof routes>) => typed.showReport();
    expectTypeOf<Awaited<ReturnType<typeof call>>["data"]>().toEqualTypeOf<string>();
  });

  it("fails in the typed client with a response of another type, such as a page", async () => {
    const headers = { "content-type": "text/html" };
    const { client } = await open(() => new Response("<h1>Hello</h1>", { headers }));
    await expect(client.showReport()).rejects.toMatchObject({ code: "ERR_REST_RESPONSE" });
  });

  it("returns a problem as a problem", async () => {
    const { client } = await open(() => Response.json({ detail: "gone" }, { status: 410 }));
    await expect(client.showReport()).rejects.toMatchObject({ status: 410 });
  });

  it.each(["csv", "", "text/csv\n"])("does not have the media type %j", (responseType) => {
    const define = (): unknown => defineRoute({ ...report, responseType });
    expect(define).toThrow("responseType of showReport must be");
  });

  it("has a schema of its text", () => {
    const define = (): unknown => defineRoute({ ...report, response: undefined });
    expect(define).toThrow("responseType of showReport must be");
  });
});
