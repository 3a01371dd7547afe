import { empty, json } from "@fetchwork/http";
import { z } from "zod";
import { forbidden } from "../../access.ts";
import type { Account } from "../../account.ts";
import { named } from "../../named-schema.ts";
import { defineRoute } from "../../plan/route.ts";
import { notFound, Problem } from "../../problem.ts";
import type { Call } from "../../resource/call.ts";
import type { JsonSchema } from "../../schema.ts";
import { type AccountRoute, accountRoute } from "../account-route.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { passwordRequired } from "../create-authentication.ts";
import { requireSecondFactor } from "../second-factor/require-second-factor.ts";
import { refuseKeys } from "../users/own-account.ts";
import { createPageCookie } from "./page-cookie.ts";
import {
  clientOf,
  personalHeaders,
  requireSameOrigin,
  startPageSession,
  startSession,
} from "./start-session.ts";

const tag = "auth";
const totp = z
  .string()
  .max(40)
  .optional()
  .describe("Code of the second factor, or a recovery code, if the user has a second factor");
const code = z.object({ totp });
const refusedCode = { description: "Email, password or code (`totp`) is missing or wrong" };

/** Describes what signing in responds with. */
export function sessionSchema(user: JsonSchema): JsonSchema {
  return named(
    "Session",
    {
      type: "object",
      properties: {
        token: { type: "string", description: "Send it as Bearer token or as `access_token`" },
        expiresIn: { type: "integer", description: "Validity of the token, in seconds" },
        refreshToken: { type: "string", description: "For one `POST /auth/refresh`" },
        user,
      },
      required: ["token", "expiresIn", "refreshToken", "user"],
    },
    "What a client needs to act for a user",
  );
}

/** Makes the routes by which users sign in with their password, stay signed in, and sign out. */
export function authRoutes(context: AccountsContext): readonly AccountRoute[] {
  const { sessions, user } = context;
  const access = context.signIn === "master" ? "master+password" : "password";
  const session = { description: "A session", schema: sessionSchema(user.changed) };
  const cookie = createPageCookie({ isSecure: context.isSecure });

  /** The user whose password was right. */
  async function passed(
    call: Call<{ readonly totp?: string | undefined }, Account>,
  ): Promise<Parameters<typeof startSession>[2]> {
    const found = await call.store.collection(user.collection).get(call.user.id);
    if (found === undefined) throw notFound("user");
    // It may have been changed while it was checked.
    if (found.passwordHash !== call.user.passwordHash) throw passwordRequired();
    await requireSecondFactor(context, call, { user: found.id, code: call.body.totp });
    return { found, method: "password" };
  }

  return [
    defineRoute({
      method: "POST",
      path: "/auth",
      operation: "signIn",
      summary: "Sign in with email and password",
      description: `Send email and password as HTTP Basic credentials${context.signIn === "master" ? ", and the master key as `access_token`" : ""}. Users with a second factor send its code as \`totp\` too`,
      tag,
      access,
      body: code,
      responses: { 201: session, 401: refusedCode },
      handle: async (call) => {
        const response = await startSession(context, call, await passed(call));
        return json(response, { status: 201, headers: personalHeaders });
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/auth",
      operation: "signOut",
      summary: "Sign out everywhere",
      tag,
      access: "user",
      responses: { 204: { description: "All sessions and tokens of the user are invalid now" } },
      handle: async (call) => {
        refuseKeys(call);
        const { id } = call.user;
        // Another session version makes tokens without a session invalid too.
        await call.store
          .collection(user.collection)
          .update(id, (current) => ({ ...current, sessionVersion: current.sessionVersion + 1 }));
        await sessions.endAll(id);
        return empty();
      },
    }),
    defineRoute({
      method: "POST",
      path: "/auth/refresh",
      operation: "refreshSession",
      summary: "Refresh a session",
      description: "Each refresh token can be used once; the response has the next one",
      tag,
      access: "public",
      body: z.object({ refreshToken: z.string().max(300) }),
      responses: {
        200: session,
        401: {
          description: "The refresh token is invalid, or was used before, which ends the session",
        },
      },
      handle: async (call) => {
        const refreshed = await sessions.refresh(call.body.refreshToken, clientOf(call));
        if (refreshed.outcome === "reused") {
          call.report(new Error(`a refresh token of user ${refreshed.user} was used twice`));
        }
        if (refreshed.outcome !== "refreshed") throw refreshRefused();
        const { account, grant } = refreshed;
        const found = await call.store.collection(user.collection).get(account.id);
        if (found === undefined) throw refreshRefused();
        return json(
          { ...grant, user: user.present(found, { user: found }) },
          { headers: personalHeaders },
        );
      },
    }),
    defineRoute({
      method: "POST",
      path: "/auth/cookie",
      operation: "signInPage",
      summary: "Sign in with a cookie",
      description: `For pages of this origin; scripts cannot read the cookie${context.signIn === "master" ? ". For admins only" : ""}`,
      tag,
      access: "password",
      body: code,
      responses: {
        201: {
          description: "Signed in",
          schema: { type: "object", properties: { user: user.changed }, required: ["user"] },
        },
        401: refusedCode,
        403: { description: "Not from a page of this origin, or not an admin" },
      },
      handle: async (call) => {
        requireSameOrigin(context, call);
        const isOpen = context.signIn === "public" || call.user.role === "admin";
        if (!isOpen) throw forbidden("only admins may do this");
        return startPageSession(context, call, await passed(call));
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/auth/cookie",
      operation: "signOutPage",
      summary: "Sign out of this session",
      tag,
      access: "user",
      responses: { 204: { description: "The session has ended" } },
      handle: async ({ user: { id, session: current } }) => {
        if (current !== undefined) await sessions.end(id, current);
        return empty(204, { headers: { ...personalHeaders, "set-cookie": cookie.removal } });
      },
    }),
  ].map(accountRoute);
}

function refreshRefused(): Problem {
  return new Problem(401, {
    detail: "invalid refresh token: sign in again",
    headers: { "www-authenticate": 'Bearer realm="api", error="invalid_token"' },
  });
}
