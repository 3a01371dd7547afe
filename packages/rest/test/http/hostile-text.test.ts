import { json } from "@fetchwork/http";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineRoute, type RouteMethod } from "../../src/plan/route.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { openApi } from "../api-client.ts";

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.looseObject({ text: z.string() }),
  access: {
    list: "public",
    show: "public",
    create: "public",
    update: "public",
    remove: "public",
    restore: "public",
  },
  search: ["text"],
  filter: ["text"],
  softDelete: true,
  bulk: true,
});

/** A route of one's own, which gets whatever passes. */
const echo = (method: RouteMethod) =>
  defineRoute({
    method,
    path: "/echo/:name",
    operation: `echo${method}`,
    summary: "Echoes",
    tag: "echo",
    access: "public",
    query: [{ name: "a", description: "A text", schema: { type: "string" } }],
    responses: { 200: { description: "What came" } },
    handle: ({ body, params, query }) => json({ body, params, query: [...query] }),
  });

async function open() {
  const reportError = vi.fn();
  const routes = [
    ...resourceRoutes(note, createResourceController(note)),
    echo("GET"),
    echo("POST"),
    echo("PATCH"),
  ];
  const { send } = await openApi({ routes, reportError });
  return { reportError, send };
}

const json_ = "application/json";
const form = "application/x-www-form-urlencoded";

describe("createApi refuses hostile text", () => {
  it("in a body that is nested more deeply than calls can be", async () => {
    const { reportError, send } = await open();
    const deep = `${"[".repeat(20_000)}"\\u0000"${"]".repeat(20_000)}`;
    for (const path of ["/notes", "/echo/x"]) {
      const body = `{"text":"a","deep":${deep}}`;
      const response = await send("POST", path, { body, headers: { "content-type": json_ } });
      expect(response.status).toBe(400);
    }
    expect(reportError).not.toHaveBeenCalled();
  });

  it.each([
    ["GET", "/notes/%00"],
    ["GET", "/notes/a%00b"],
    ["PUT", "/notes/%00"],
    ["PATCH", "/notes/%00"],
    ["DELETE", "/notes/%00"],
    ["POST", "/notes/%00/restore"],
    ["GET", "/echo/%00"],
    ["HEAD", "/echo/%00"],
    ["GET", "/nowhere/%00"],
    ["GET", "/notes/%ED%A0%80"],
    ["GET", "/nowhere/%ed%bf%bf"],
    ["GET", "/notes?q=%ED%B0%80"],
    ["GET", "/notes?q=%00"],
    ["GET", "/notes?text=%00"],
    ["GET", "/notes?text[prefix]=a%00"],
    ["GET", "/notes?fields=%00"],
    ["GET", "/notes?sort=%00"],
    ["GET", "/notes?after=%00"],
    ["GET", "/notes?trash=%00"],
    ["GET", "/notes?%00=1"],
    ["GET", "/echo/x?a=%00"],
  ])("in a URL: %s %s", async (method, path) => {
    const { reportError, send } = await open();
    const response = await send(method, path);
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(reportError).not.toHaveBeenCalled();
  });

  it.each([
    [json_, '{"text":"\\u0000"}', "text"],
    [json_, '{"text":"a\\ud800b"}', "text"],
    [json_, '{"text":"\\uDFFF"}', "text"],
    [json_, '{"text":"a","more":{"deep":["a","\\u0000"]}}', "more.deep.1"],
    [json_, '{"text":"a","\\u0000":1}', "\uFFFD"],
    [json_, '{"text":"a","x":{"\\udc00":1}}', "x.\uFFFD"],
    [form, "text=%00", "text"],
    [form, "text=a&text=%00", "text.1"],
    [form, "text=a&%00=1", "\uFFFD"],
    [
      "multipart/form-data; boundary=b",
      '--b\r\nContent-Disposition: form-data; name="text"\r\n\r\n\0\r\n--b--\r\n',
      "text",
    ],
  ])("in a body of %s: %j", async (type, body, param) => {
    const { reportError, send } = await open();
    const init = { headers: { "content-type": type }, body };
    for (const [method, path] of [
      ["POST", "/notes"],
      ["POST", "/notes/bulk"],
      ["PUT", "/notes/x"],
      ["PATCH", "/notes/x"],
      ["POST", "/echo/x"],
      ["PATCH", "/echo/x"],
    ] as const) {
      const response = await send(method, path, init);
      expect(await response.json()).toMatchObject({ status: 400, param, name: "invalid" });
    }
    expect(reportError).not.toHaveBeenCalled();
  });

  it("with the name of the parameter that has it", async () => {
    const { send } = await open();
    const refused = await (await send("GET", "/echo/x?b=1&a=x%ED%A0%80y")).json();
    expect(refused).toMatchObject({ status: 400, param: "a", name: "invalid" });
  });

  it("and takes text that only looks like it", async () => {
    const { send } = await open();
    const body = '{"text":"\\ud83d\\ude00 \\\\u0000 %00"}';
    const init = { headers: { "content-type": json_ }, body };
    const created = await send("POST", "/notes", init);
    expect(created.status).toBe(201);
    expect(await created.json()).toMatchObject({ text: "\u{1F600} \\u0000 %00" });
    expect((await send("GET", "/echo/%2500?a=%2500")).status).toBe(200);
    expect((await send("GET", "/echo/%ED%9F%BF?a=%F0%9F%98%80%EE%80%80")).status).toBe(200);
  });
});
