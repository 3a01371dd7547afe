import type { Stored } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import { z } from "zod";
import { named } from "../../named-schema.ts";
import { defineRoute } from "../../plan/route.ts";
import { notFound } from "../../problem.ts";
import type { JsonSchema } from "../../schema.ts";
import type { ShownKey } from "../account-operations.ts";
import { type AccountRoute, accountRoute } from "../account-route.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { requireRecentSignIn } from "../sessions/recent-sign-in.ts";
import { personalHeaders } from "../sessions/start-session.ts";
import { ownOrAdmin, ownUser, ownUserOrAdmin } from "../users/own-account.ts";
import type { ApiKey } from "./api-key.ts";

const tag = "auth";

const scopePattern = /^(?:\*|[a-z][a-z\d-]{0,63}):(?:read|write)$/;
const newKey = z.object({
  name: z.string().trim().min(1).max(100),
  scopes: z
    .array(z.string().regex(scopePattern, "a scope must be like articles:read or *:write"))
    .min(1)
    .max(50)
    .describe("First part of a path and `read` or `write`: `articles:read`; `*` is every path"),
  expiresAt: z.iso
    .datetime()
    .refine((time) => Date.parse(time) > Date.now(), "expiresAt must be in the future")
    .optional()
    .describe("Default: never"),
});

const time = { type: ["string", "null"], format: "date-time" };
const properties = {
  id: { type: "string" },
  name: { type: "string" },
  scopes: { type: "array", items: { type: "string" } },
  createdAt: { type: "string", format: "date-time" },
  usedAt: time,
  expiresAt: time,
};
const schema: JsonSchema = named(
  "ApiKey",
  { type: "object", properties, required: Object.keys(properties) },
  "A key with which a program acts for a user",
);
const created = { ...properties, key: { type: "string", description: "Sent as `access_token`" } };
const made: JsonSchema = named(
  "CreatedApiKey",
  { type: "object", properties: created, required: Object.keys(created) },
  "A new key, which is shown only once",
);

/** Makes the routes by which users make and end API keys; admins list and end those of others. */
export function keyRoutes(context: AccountsContext): readonly AccountRoute[] {
  const { keys } = context;
  const missing = { description: "User or API key not found" };

  return [
    defineRoute({
      method: "GET",
      path: "/users/:id/keys",
      operation: "listKeys",
      summary: "List API keys of a user",
      description: ownOrAdmin,
      tag,
      access: "user",
      responses: {
        200: { description: "Keys, the oldest first", schema: { type: "array", items: schema } },
        404: missing,
      },
      handle: async (call) => {
        const { id } = await ownUserOrAdmin(context, call);
        return json((await keys.list(id)).map(shown), { headers: personalHeaders });
      },
    }),
    defineRoute({
      method: "POST",
      path: "/users/:id/keys",
      operation: "createKey",
      summary: "Create an API key",
      description: "For the caller (`me`), who must have signed in within the last 15 minutes",
      tag,
      access: "user",
      body: newKey,
      responses: {
        201: { description: "The key, which is shown only once", schema: made },
        404: missing,
        409: { description: "The user already has 100 keys" },
      },
      handle: async (call) => {
        await ownUser(context, call);
        await requireRecentSignIn(context, call);
        const { expiresAt, ...wanted } = call.body;
        const { key, stored } = await keys.create(call.user, {
          ...wanted,
          expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
        });
        return json({ ...shown(stored), key }, { status: 201, headers: personalHeaders });
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/users/:id/keys/:key",
      operation: "removeKey",
      summary: "Delete an API key",
      description: ownOrAdmin,
      tag,
      access: "user",
      responses: { 204: { description: "Deleted" }, 404: missing },
      handle: async (call) => {
        const { id } = await ownUserOrAdmin(context, call);
        if (!(await keys.remove(id, call.params["key"] ?? ""))) throw notFound("API key");
        return empty();
      },
    }),
  ].map(accountRoute);
}

function shown({ id, name, scopes, createdAt, usedAt, expiresAt }: Stored<ApiKey>): ShownKey {
  return {
    id,
    name,
    scopes,
    createdAt,
    usedAt: usedAt === null ? null : new Date(usedAt).toISOString(),
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  };
}
