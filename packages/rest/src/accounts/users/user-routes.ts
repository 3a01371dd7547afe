import { z } from "zod";
import { bearerRequired } from "../../access.ts";
import type { Account } from "../../account.ts";
import { documentResponse, resourceRoutes } from "../../http/resource-routes.ts";
import { named } from "../../named-schema.ts";
import { createResourceController } from "../../operations/resource-controller.ts";
import { defineRoute, type Route } from "../../plan/route.ts";
import type { Call } from "../../resource/call.ts";
import { guardedSchema } from "../../resource/guarded-schema.ts";
import { jsonSchemaOf } from "../../schema.ts";
import { type AccountRoute, accountRoute } from "../account-route.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { pageLink } from "../mails/link.ts";
import { createUserController, type UserController } from "./user-controller.ts";
import { passwordSchema, role } from "./user-fields.ts";

const tag = "users";

/**
 * Makes the routes of users: those of a resource, in which `me` is the caller, and those for
 * password and role.
 *
 * @param controller - Default: the handlers of the package.
 */
export function userRoutes(
  context: AccountsContext,
  controller: UserController = createUserController(context),
): readonly AccountRoute[] {
  const { user } = context;
  const missing = { description: "User not found" };
  const changed = documentResponse("user", user.changed);

  return [
    ...standardRoutes(context, controller),
    defineRoute({
      method: "PUT",
      path: "/users/:id/password",
      operation: "updatePassword",
      summary: "Change the password",
      description: "Signs the user out everywhere",
      tag,
      access: "password",
      conditional: true,
      body: z.object({ password: passwordSchema, totp: z.string().max(40).optional() }),
      responses: { 200: changed, 404: missing },
      handle: controller.updatePassword,
    }),
    defineRoute({
      method: "PUT",
      path: "/users/:id/role",
      operation: "updateRole",
      summary: "Change the role of a user",
      description: "Signs the user out everywhere",
      tag,
      access: "admin",
      conditional: true,
      body: z.object({ role }),
      responses: { 200: changed, 404: missing },
      handle: controller.updateRole,
    }),
  ].map(accountRoute);
}

/** The routes of the resource, for the users by identifier and, as `me`, for the caller. */
function standardRoutes(context: AccountsContext, controller: UserController): readonly Route[] {
  const { user, signUp } = context;
  const { create, ...others } = controller;
  const referredTo = { 409: { description: "Other documents refer to it" } };
  // The body that creates a user has more fields than the resource: see `creationOf`.
  const routes = resourceRoutes(user, { ...createResourceController(user), ...others });

  return routes.map((route): Route => {
    const { action, checksCaller, responses } = route;
    if (action === "create") {
      return { ...route, ...creationOf(context), access: signUp, handle: create };
    }
    return {
      ...route,
      responses: action === "remove" ? { ...responses, ...referredTo } : responses,
      checksCaller: action === "show" || checksCaller,
      // The rule of the route has let the caller pass, and its schema the body.
      handle(given: Call<never, never>) {
        const { params, user: caller } = given as Call<never, Account | undefined>;
        if (params["id"] !== "me") return route.handle(given);
        if (caller === undefined) throw bearerRequired(undefined);
        return route.handle({ ...given, params: { ...params, id: caller.id } });
      },
    };
  });
}

/** Fields that are sent with a creation, and by no update. */
const setOnce: readonly string[] = ["email", "role"];

/** Makes the route that creates a user; an open sign-up also has a link to confirm the address. */
function creationOf({ linkOrigins, mails, signUp, user }: AccountsContext): Partial<Route> {
  const needsLink = signUp === "public" && mails !== undefined;
  const link = z.object({ link: pageLink(linkOrigins).optional() });
  const fields = needsLink ? user.creation.extend(link.shape) : user.creation;
  const readOnly = new Set([...user.readOnly].filter((field) => !setOnce.includes(field)));
  const body = guardedSchema(fields, { readOnly, secret: user.secret });
  const input = jsonSchemaOf(body, "input");
  return {
    summary: signUp === "public" ? "Sign up" : "Create a user",
    body,
    bodyReference: named("NewUser", input, "What creates one user"),
    atomic: false,
    responses: {
      201: {
        description: "The user",
        schema: user.changed,
        headers: { ETag: "Version of the document", Location: "Address of the user" },
      },
      ...(needsLink ? { 202: { description: "A mail with the next step will be sent" } } : {}),
      403: { description: "Only the master key and admins may set a role" },
      409: { description: "The email is already registered" },
      429: { description: "Too many sign-ups from this address; see Retry-After" },
      503: { description: "Too many passwords are being hashed" },
    },
  };
}
