import { defineRoute, listParameters, listResponse, type Route } from "@fetchwork/rest";
import * as controller from "./controller.ts";
import { newPassword, newUser, user, userChange } from "./model.ts";

const tag = user.plural;
const found = {
  description: "The user",
  schema: user.output,
  headers: { ETag: "Version of the document" },
};
const missing = { description: "There is no such user" };
const changed = { description: "The document has changed since (If-Match)" };

export const userRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/users",
    operation: "listUsers",
    summary: "Lists users",
    tag,
    access: user.access.list,
    query: listParameters(user),
    responses: { 200: listResponse(tag, user.output) },
    handle: controller.list,
  }),
  defineRoute({
    method: "GET",
    path: "/users/:id",
    operation: "showUser",
    summary: "Shows one user, or with the id `me` the caller; others see id, name and picture",
    tag,
    access: "user",
    responses: { 200: found, 304: { description: "Not modified" }, 404: missing },
    handle: controller.show,
  }),
  defineRoute({
    method: "POST",
    path: "/users",
    operation: "createUser",
    summary: "Creates a user",
    tag,
    access: "master",
    body: newUser,
    responses: { 201: found, 409: { description: "The email is taken" } },
    handle: controller.create,
  }),
  defineRoute({
    method: "PUT",
    path: "/users/:id",
    operation: "updateUser",
    summary: "Changes name and picture of the caller (`me`), or as admin of anyone",
    tag,
    access: "user",
    body: userChange,
    responses: { 200: found, 404: missing, 412: changed },
    handle: controller.update,
  }),
  defineRoute({
    method: "PATCH",
    path: "/users/:id",
    operation: "patchUser",
    summary: "Applies a JSON Merge Patch to name and picture",
    tag,
    access: "user",
    body: userChange,
    responses: { 200: found, 404: missing, 412: changed },
    handle: controller.update,
  }),
  defineRoute({
    method: "PUT",
    path: "/users/:id/password",
    operation: "updatePassword",
    summary: "Changes the password of the caller and signs it out everywhere",
    tag,
    access: "password",
    body: newPassword,
    responses: { 200: found, 412: changed },
    handle: controller.updatePassword,
  }),
  defineRoute({
    method: "DELETE",
    path: "/users/:id",
    operation: "removeUser",
    summary: "Deletes a user",
    tag,
    access: user.access.remove,
    responses: { 204: { description: "It is deleted" }, 404: missing, 412: changed },
    handle: controller.remove,
  }),
];
