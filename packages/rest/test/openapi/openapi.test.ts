import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { defineRoute } from "../../src/plan/route.ts";
import { writeReference } from "../../src/openapi/documentation.ts";
import { openApiDocument } from "../../src/openapi/openapi.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { openApi } from "../api-client.ts";
import { resolveReferences } from "../resolve-references.ts";

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string().max(9), done: z.boolean().default(false) }),
  access: { list: "public", show: "user", create: "master", update: "user", remove: "admin" },
  search: ["text"],
});
const routes = resourceRoutes(note, createResourceController(note));
const info = { title: "<Notes>", version: "2.0.0" };

describe("openApiDocument", () => {
  const whole = openApiDocument(info, routes);
  const document: any = resolveReferences(whole); // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes

  it("has every route once, under its path and method", () => {
    const operations = Object.entries<object>(document.paths).flatMap(([at, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${method} ${at} ${operationId}`),
    );
    expect(operations).toEqual([
      "get /notes listNotes",
      "query /notes queryNotes",
      "post /notes createNote",
      "get /notes/{id} showNote",
      "put /notes/{id} updateNote",
      "patch /notes/{id} patchNote",
      "delete /notes/{id} removeNote",
    ]);
  });

  it("describes the body from the schema that validates", () => {
    const { content } = document.paths["/notes"].post.requestBody;
    expect(Object.keys(content)).toEqual([
      "application/json",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
    ]);
    expect(content["application/json"].schema).toMatchObject({
      properties: { text: { type: "string", maxLength: 9 } },
      required: ["text"],
    });
    const update = document.paths["/notes/{id}"].put.requestBody.content["application/json"].schema;
    expect(update.required).toEqual([]);
  });

  it("describes null in an update where it is accepted, and every accepted type of a patch", () => {
    const { patch, put } = document.paths["/notes/{id}"];
    const nullable = (operation: typeof patch, field: string): boolean =>
      JSON.stringify(
        operation.requestBody.content["application/json"].schema.properties[field],
      ).includes('"null"');
    expect([nullable(put, "text"), nullable(put, "done")]).toEqual([true, true]);
    expect([nullable(patch, "text"), nullable(patch, "done")]).toEqual([false, true]);
    expect(Object.keys(patch.requestBody.content)).toEqual([
      "application/merge-patch+json",
      "application/json",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
    ]);
  });

  it("names what is sent and seen, once", () => {
    const refer = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
    expect(Object.keys(Object(whole.components["schemas"]))).toEqual([
      "PartialNote",
      "QueryNotesBody",
      "NewNote",
      "Note",
      "NoteUpdate",
      "NotePatch",
      "Problem",
    ]);
    const { get, post } = whole.paths["/notes"] as any; // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes
    const bodyOf = (described: typeof get): unknown => described.content["application/json"].schema;
    expect(bodyOf(post.requestBody)).toEqual(refer("NewNote"));
    expect(bodyOf(post.responses[201])).toEqual(refer("Note"));
    expect(bodyOf(get.responses[200])).toEqual({ type: "array", items: refer("PartialNote") });
    expect(get.responses[400]).toEqual({ $ref: "#/components/responses/BadRequest" });
  });

  it("leads references of schemas to their own parts into the document", () => {
    const leaf = z.object({ word: z.string() }).meta({ id: "Leaf" });
    const tree = z.object({
      leaf,
      get branches() {
        return z.array(tree);
      },
    });
    const grow = defineRoute({
      method: "POST",
      path: "/trees",
      operation: "growTree",
      summary: "Grows a tree",
      tag: "trees",
      access: "public",
      body: tree,
      responses: { 204: { description: "It grows" } },
      handle: () => new Response(null, { status: 204 }),
    });
    const { paths, components } = openApiDocument(info, [grow]);
    const { schemas = {} } = components as { schemas?: Record<string, any> }; // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes
    const { post } = paths["/trees"] as any; // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes
    const { $ref } = post.requestBody.content["application/json"].schema;
    const name = String($ref).split("/").at(-1) ?? "";
    expect(schemas[name].properties).toMatchObject({
      leaf: { $ref: "#/components/schemas/Leaf" },
      branches: { type: "array", items: { $ref } },
    });
    expect(schemas["Leaf"]).toMatchObject({ properties: { word: { type: "string" } } });
  });

  it("refuses two schemas of one name", () => {
    const other = defineResource({
      name: "note",
      path: "/others/notes",
      schema: z.object({ size: z.number() }),
      access: { create: "public" },
    });
    const both = [...routes, ...resourceRoutes(other, createResourceController(other))];
    expect(() => openApiDocument(info, both)).toThrow("two different schemas have the name");
  });

  it("says that an open route may ask who calls", () => {
    const kept = defineResource({
      name: "note",
      path: "/notes",
      schema: z.object({ text: z.string() }),
      access: { list: "public", show: () => true, create: "public" },
      softDelete: true,
    });
    const { paths } = openApiDocument(info, resourceRoutes(kept, createResourceController(kept)));
    const either = [{}, { token: [] }];
    expect(paths["/notes"]?.["get"]).toMatchObject({ security: either });
    expect(paths["/notes/{id}"]?.["get"]).toMatchObject({ security: either });
    expect(paths["/notes"]?.["post"]).toMatchObject({ security: [] });
  });

  it("names the credentials and the refusals of each rule", () => {
    expect(document.paths["/notes"].get.security).toEqual([]);
    expect(Object.keys(document.paths["/notes"].get.responses)).toEqual([
      "200",
      "304",
      "400",
      "default",
    ]);
    expect(document.paths["/notes"].post.security).toEqual([{ masterKey: [] }]);
    expect(Object.keys(document.paths["/notes"].post.responses)).toEqual(
      expect.arrayContaining(["201", "400", "401", "403", "413", "415"]),
    );
  });

  it("describes once what many operations do not find, and each of the others where it is", () => {
    const described = (description: string): unknown => {
      const route = defineRoute({
        method: "GET",
        path: "/one",
        operation: "showOne",
        summary: "One",
        tag: "one",
        access: "public",
        responses: { 404: { description } },
        handle: () => new Response(),
      });
      const { get } = openApiDocument(info, [route]).paths["/one"] as any; // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes
      return get.responses[404];
    };
    const { get, delete: remove } = whole.paths["/notes/{id}"] ?? {};
    const shared = { responses: { 404: { $ref: "#/components/responses/NoteNotFound" } } };
    expect([get, remove]).toMatchObject([shared, shared]);
    expect(whole.components["responses"]).toMatchObject({
      NoteNotFound: { description: "Note not found" },
    });
    expect(described("API key not found")).toEqual({
      $ref: "#/components/responses/APIKeyNotFound",
    });
    expect(described("Failure")).toMatchObject({ description: "Failure" });
    expect(described("Schlüssel not found")).toMatchObject({ description: "Schlüssel not found" });
  });

  it("describes the schemes that its operations use, and no others", () => {
    expect(Object.keys(document.components.securitySchemes)).toEqual(["token", "masterKey"]);
    expect(document.components.securitySchemes.token.description).toContain("access_token");
    expect(document.components.securitySchemes.masterKey.description).toContain("MASTER_KEY");
  });

  it("says how bodies, errors and repeated requests work, unless a service says it", () => {
    expect(document.info.description).toMatch(/bodies as JSON.*RFC 9457.*Idempotency-Key/s);
    const own = openApiDocument({ ...info, description: "Notes of a team." }, routes);
    expect(own["info"]).toMatchObject({ description: "Notes of a team." });
  });

  it("has a body only for operations that take one", () => {
    expect(document.paths["/notes/{id}"].delete).not.toHaveProperty("requestBody");
  });

  it("asks for the master key as a field where a password takes the Authorization header", () => {
    const signIn = defineRoute({
      method: "POST",
      path: "/auth",
      operation: "signIn",
      summary: "Sign in",
      description: "With email and password",
      tag: "auth",
      tagDescription: "Sign in and out",
      access: "master+password",
      body: z.object({ totp: z.string().optional() }),
      responses: { 201: { description: "A session" } },
      handle: () => new Response(null, { status: 201 }),
    });
    const described = openApiDocument(info, [signIn]);
    const { paths, tags } = resolveReferences(described) as any; // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes
    const { securitySchemes } = described["components"] as any; // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes
    expect(securitySchemes.password.description).toBe("Email and password of a user.");
    const { post } = paths["/auth"];
    const { schema } = post.requestBody.content["application/json"];
    expect(Object.keys(schema.properties)).toEqual(["access_token", "totp"]);
    expect(post).toMatchObject({
      security: [{ password: [] }],
      description: "With email and password",
    });
    expect(tags).toEqual([{ name: "auth", description: "Sign in and out" }]);
  });

  it("names operations in the imperative", () => {
    const names = Object.values<any>(document.paths) // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes
      .flatMap((methods) => Object.values<any>(methods)) // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes
      .map(({ summary }) => summary);
    expect(names).toEqual([
      "List notes",
      "Query notes",
      "Create a note",
      "Show a note",
      "Change fields of a note",
      "Patch a note",
      "Delete a note",
    ]);
  });

  it("names the parameters of lists and paths", () => {
    const names = (operation: { parameters: { name: string }[] }): string[] =>
      operation.parameters.map(({ name }) => name);
    expect(names(document.paths["/notes"].get)).toEqual([
      "q",
      "page",
      "limit",
      "after",
      "sort",
      "fields",
    ]);
    expect(names(document.paths["/notes/{id}"].delete)).toEqual([
      "id",
      "If-Match",
      "If-None-Match",
    ]);
    expect(
      document.paths["/notes"].get.responses["200"].content["application/json"].schema.items
        .required,
    ).toEqual([]);
  });
});

describe("the documentation", () => {
  it("is served as the document that describes the routes", async () => {
    const { api, send } = await openApi({ ...info, routes });
    const response = await send("GET", "/openapi.json");
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(api.openApi)));
  });

  it("loads nothing from another host, and escapes the title", async () => {
    const { send } = await openApi({ ...info, routes });
    const response = await send("GET", "/docs");
    const html = await response.text();
    expect(html).toContain("<title>&#60;Notes&#62;</title>");
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    for (const [, asset = ""] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect((await send("GET", asset)).status).toBe(200);
    }
  });

  it("is written as files that need no server", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "fetchwork-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeReference(openApiDocument(info, routes), folder);
    const html = await readFile(path.join(folder, "index.html"), "utf8");
    const files = await readdir(folder);
    for (const [, asset] of html.matchAll(/(?:src|href)="([^"]+)"/g))
      expect(files).toContain(asset);
    expect(await readFile(path.join(folder, "reference.js"), "utf8")).toContain("listNotes");
  });
});
