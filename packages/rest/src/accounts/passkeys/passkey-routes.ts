import type { Stored } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import { z } from "zod";
import { countAttempt } from "../../attempt-limiter.ts";
import { basicChallenge } from "../../basic-challenge.ts";
import { named } from "../../named-schema.ts";
import { defineRoute, type RouteResponse } from "../../plan/route.ts";
import { notFound, Problem } from "../../problem.ts";
import type { JsonSchema } from "../../schema.ts";
import type { ShownPasskey } from "../account-operations.ts";
import { type AccountRoute, accountRoute } from "../account-route.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { sessionSchema } from "../sessions/auth-routes.ts";
import { requireRecentSignIn } from "../sessions/recent-sign-in.ts";
import {
  personalHeaders,
  requireSameOrigin,
  startPageSession,
  startSession,
} from "../sessions/start-session.ts";
import { ownOrAdmin, ownUserOrAdmin, refuseKeys } from "../users/own-account.ts";
import type { Passkey } from "./passkey.ts";
import type { Passkeys } from "./passkeys.ts";

const tag = "auth";

/** Texts in base64url; a large response of an authenticator has some kilobytes. */
const bytes = z.string().max(20_000);
const credential = {
  id: z.string().max(2_000),
  rawId: z.string().max(2_000),
  type: z.literal("public-key"),
  clientExtensionResults: z.object({}).default({}),
};

/** `PublicKeyCredential.toJSON()` of a browser (WebAuthn Level 3, 5.1). */
const registration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: z.array(z.string().max(50)).max(10).default([]),
  }),
});
const assertion = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: z.string().max(200).nullish(),
  }),
});

const schema: JsonSchema = named(
  "Passkey",
  {
    type: "object",
    properties: {
      id: { type: "string" },
      name: { type: "string" },
      isBackedUp: { type: "boolean", description: "Whether it is on more than one device" },
      createdAt: { type: "string", format: "date-time" },
      usedAt: { type: ["string", "null"], format: "date-time" },
    },
    required: ["id", "name", "isBackedUp", "createdAt", "usedAt"],
  },
  "A passkey of a user",
);

/** Makes the routes by which users register passkeys, and sign in with them. */
export function passkeyRoutes(
  context: AccountsContext,
  passkeys: Passkeys,
): readonly AccountRoute[] {
  const { user } = context;
  const refused = { description: "The response of the passkey is invalid" };
  const missing = { description: "User or passkey not found" };
  const access = context.signIn;

  return [
    defineRoute({
      method: "POST",
      path: "/passkeys/registration-options",
      operation: "beginPasskey",
      summary: "Start to register a passkey",
      description: "For the caller, who must have signed in within the last 15 minutes",
      tag,
      access: "user",
      responses: { 200: options("create") },
      handle: async (call) => {
        refuseKeys(call);
        await requireRecentSignIn(context, call);
        const found = await call.store.collection(user.collection).get(call.user.id);
        if (found === undefined) throw notFound("user");
        return json(await passkeys.beginRegistration(found), { headers: personalHeaders });
      },
    }),
    defineRoute({
      method: "POST",
      path: "/passkeys",
      operation: "registerPasskey",
      summary: "Register a passkey",
      tag,
      access: "user",
      body: z.object({ name: z.string().trim().min(1).max(100), response: registration }),
      responses: {
        201: { description: "The passkey", schema },
        422: refused,
        409: { description: "Already registered, or the user has 50 passkeys" },
      },
      handle: async (call) => {
        refuseKeys(call);
        const made = await passkeys.finishRegistration(call.user, call.body);
        return json(shown(made), { status: 201, headers: personalHeaders });
      },
    }),
    defineRoute({
      method: "POST",
      path: "/passkeys/sign-in-options",
      operation: "beginPasskeySignIn",
      summary: "Start a sign-in with a passkey",
      tag,
      access,
      responses: { 200: options("get") },
      handle: async () => json(await passkeys.beginSignIn(), { headers: personalHeaders }),
    }),
    defineRoute({
      method: "POST",
      path: "/passkeys/sign-in",
      operation: "signInWithPasskey",
      summary: "Sign in with a passkey",
      tag,
      access,
      body: z.object({
        response: assertion,
        cookie: z.boolean().default(false).describe("Return a cookie instead of tokens"),
      }),
      responses: {
        201: { description: "A session", schema: sessionSchema(user.changed) },
        422: refused,
        401: { description: "Unknown passkey" },
        429: { description: "Too many invalid responses for this user; see Retry-After" },
        403: { description: "A cookie is for pages of this origin only" },
      },
      handle: async (call) => {
        if (call.body.cookie) requireSameOrigin(context, call);
        const { userHandle, ...signed } = call.body.response.response;
        const response = { ...signed, ...(userHandle ? { userHandle } : {}) };
        const { attempts, context: client } = call;
        const found = await passkeys.finishSignIn(
          { ...call.body.response, response },
          (id, check) =>
            countAttempt(attempts, { account: `Passkeys of ${id}`, address: client.ip }, check),
        );
        if (found === undefined)
          throw new Problem(401, { detail: "unknown passkey", headers: basicChallenge });
        const signedIn = { found, method: "passkey" } as const;
        if (call.body.cookie) return startPageSession(context, call, signedIn);
        const session = await startSession(context, call, signedIn);
        return json(session, { status: 201, headers: personalHeaders });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/users/:id/passkeys",
      operation: "listPasskeys",
      summary: "List passkeys of a user",
      description: ownOrAdmin,
      tag,
      access: "user",
      responses: {
        200: {
          description: "Passkeys, the oldest first",
          schema: { type: "array", items: schema },
        },
        404: missing,
      },
      handle: async (call) => {
        const { id } = await ownUserOrAdmin(context, call);
        return json((await passkeys.list(id)).map(shown), { headers: personalHeaders });
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/users/:id/passkeys/:passkey",
      operation: "removePasskey",
      summary: "Delete a passkey",
      description: ownOrAdmin,
      tag,
      access: "user",
      responses: { 204: { description: "Deleted" }, 404: missing },
      handle: async (call) => {
        const { id } = await ownUserOrAdmin(context, call);
        if (!(await passkeys.remove(id, call.params["passkey"] ?? ""))) throw notFound("passkey");
        return empty();
      },
    }),
  ].map(accountRoute);
}

function options(of: "create" | "get"): RouteResponse {
  return {
    description: `What \`navigator.credentials.${of}\` takes as \`publicKey\`, in JSON`,
    schema: { type: "object", additionalProperties: true },
  };
}

function shown({ id, name, isBackedUp, createdAt, usedAt }: Stored<Passkey>): ShownPasskey {
  return {
    id,
    name,
    isBackedUp,
    createdAt,
    usedAt: usedAt === null ? null : new Date(usedAt).toISOString(),
  };
}
