import { defineRoute } from "@fetchwork/rest";
import * as controller from "./controller.ts";
import { session } from "./model.ts";

export const authRoutes = [
  defineRoute({
    method: "POST",
    path: "/auth",
    operation: "signIn",
    summary: "Signs a user in by email and password",
    tag: "auth",
    access: "master+password",
    answer: session,
    responses: { 201: { description: "A session" } },
    handle: controller.signIn,
  }),
  defineRoute({
    method: "DELETE",
    path: "/auth",
    operation: "signOut",
    summary: "Signs the caller out everywhere",
    tag: "auth",
    access: "user",
    responses: { 204: { description: "All tokens of the user are invalid now" } },
    handle: controller.signOut,
  }),
];
