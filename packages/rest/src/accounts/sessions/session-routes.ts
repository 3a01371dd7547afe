import type { Stored } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import { named } from "../../named-schema.ts";
import { defineRoute } from "../../plan/route.ts";
import { notFound } from "../../problem.ts";
import type { JsonSchema } from "../../schema.ts";
import type { ShownSession } from "../account-operations.ts";
import { type AccountRoute, accountRoute } from "../account-route.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { ownOrAdmin, ownUserOrAdmin } from "../users/own-account.ts";
import type { Session } from "./session.ts";
import { personalHeaders } from "./start-session.ts";

const tag = "auth";
const time = { type: "string", format: "date-time" };
const text = { type: ["string", "null"] };
const schema: JsonSchema = named(
  "ActiveSession",
  {
    type: "object",
    properties: {
      id: { type: "string" },
      method: { enum: ["password", "passkey", "provider"] },
      address: text,
      agent: text,
      isCurrent: { type: "boolean" },
      createdAt: time,
      usedAt: time,
      expiresAt: time,
    },
    required: ["id", "method", "address", "agent", "isCurrent", "createdAt", "usedAt", "expiresAt"],
  },
  "A client that a user is signed in with",
);

/** Makes the routes by which users see and end their sessions; admins end those of others. */
export function sessionRoutes(context: AccountsContext): readonly AccountRoute[] {
  const { sessions } = context;
  const missing = { description: "User or session not found" };

  return [
    defineRoute({
      method: "GET",
      path: "/users/:id/sessions",
      operation: "listSessions",
      summary: "List sessions of a user",
      description: ownOrAdmin,
      tag,
      access: "user",
      responses: {
        200: {
          description: "Sessions, the last used one first",
          schema: { type: "array", items: schema },
        },
        404: missing,
      },
      handle: async (call) => {
        const found = await sessions.list(await ownUserOrAdmin(context, call));
        return json(
          found.map((session) => shown(session, call.user.session)),
          { headers: personalHeaders },
        );
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/users/:id/sessions",
      operation: "endSessions",
      summary: "End all sessions of a user",
      description: ownOrAdmin,
      tag,
      access: "user",
      responses: { 204: { description: "Ended" }, 404: missing },
      handle: async (call) => {
        const { id } = await ownUserOrAdmin(context, call);
        await sessions.endAll(id);
        return empty();
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/users/:id/sessions/:session",
      operation: "endSession",
      summary: "End a session of a user",
      description: ownOrAdmin,
      tag,
      access: "user",
      responses: { 204: { description: "Ended" }, 404: missing },
      handle: async (call) => {
        const { id } = await ownUserOrAdmin(context, call);
        if (!(await sessions.end(id, call.params["session"] ?? ""))) throw notFound("session");
        return empty();
      },
    }),
  ].map(accountRoute);
}

function shown(session: Stored<Session>, current: string | undefined): ShownSession {
  const { id, method, address, agent, createdAt, usedAt, expiresAt } = session;
  return {
    id,
    method,
    address,
    agent,
    isCurrent: id === current,
    createdAt,
    usedAt: new Date(usedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}
