import { createContext } from "@fetchwork/http";
import { z } from "zod";
import { createApi } from "../src/http/api.ts";
import type { Authentication } from "../src/http/authentication.ts";
import { resourceRoutes } from "../src/http/resource-routes.ts";
import { createResourceController } from "../src/operations/resource-controller.ts";
import { defineResource } from "../src/resource/define-resource.ts";
import { memoryStore } from "./api-client.ts";
import type { Answer } from "./as-users.ts";

/**
 * Opens notes that users create, their authors change, and admins remove, for callers whom another
 * system knows.
 */
export async function openNotes(
  authentication: Authentication,
): Promise<
  (
    method: string,
    path: string,
    body?: unknown,
    sent?: { readonly token?: string | undefined; readonly cookie?: string | undefined },
  ) => Promise<Answer>
> {
  const note = defineResource({
    name: "note",
    path: "/notes",
    schema: z.object({ text: z.string() }),
    owner: "author",
    access: { list: "public", create: "user", update: "owner", remove: "admin" },
  });
  const routes = resourceRoutes(note, createResourceController(note));
  const store = await memoryStore();
  const api = createApi({ title: "Notes", version: "1.0.0", store, authentication, routes });
  return async (method, path, body, { token, cookie } = {}) => {
    const headers = new Headers({ "content-type": "application/json" });
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    if (cookie !== undefined) headers.set("cookie", cookie);
    const request = new Request(new URL(path, "http://localhost"), {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const response = await api.handler(request, createContext(request));
    const text = await response.text();
    const json = text === "" ? undefined : JSON.parse(text);
    return { status: response.status, headers: response.headers, json };
  };
}
