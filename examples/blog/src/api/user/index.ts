import { defineRoute } from "@fetchwork/rest";
import { documentResponse, listParameters, resourceListResponse } from "@fetchwork/rest/handlers";
import * as controller from "./controller.ts";
import {
  newPassword,
  newUser,
  shownUser,
  user,
  userByAnyone,
  userChange,
  userPage,
} from "./model.ts";

const tag = user.plural;
const found = documentResponse("user", user.output);
const changed = documentResponse("user", user.changed);
const created = { ...changed, headers: { ...changed.headers, Location: "Address of the user" } };
const notModified = { description: "Not modified", headers: found.headers };
const missing = { description: "There is no such user" };

export const userRoutes = [
  defineRoute({
    method: "GET",
    path: "/users",
    operation: "listUsers",
    summary: "Lists users",
    tag,
    access: "admin",
    query: listParameters(user),
    answer: userPage,
    responses: { 200: resourceListResponse(user), 304: notModified },
    handle: controller.list,
  }),
  defineRoute({
    method: "GET",
    path: "/users/:id",
    operation: "showUser",
    summary: "Shows one user, or with the id me the caller; others see id, name and picture",
    tag,
    access: "user",
    conditional: true,
    answer: userByAnyone,
    responses: { 200: found, 304: notModified, 404: missing },
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
    answer: shownUser,
    responses: {
      201: created,
      403: { description: "Only the master key and admins set a role" },
      409: { description: "The email is taken" },
      429: { description: "Too many sign-ups from this address; see Retry-After" },
      503: { description: "Too many passwords to hash" },
    },
    handle: controller.create,
  }),
  defineRoute({
    method: "PUT",
    path: "/users/:id",
    operation: "updateUser",
    summary: "Changes name and picture of the caller (me), or as admin of anyone",
    tag,
    access: "user",
    conditional: true,
    body: userChange,
    answer: shownUser,
    responses: { 200: changed, 404: missing },
    handle: controller.update,
  }),
  defineRoute({
    method: "PATCH",
    path: "/users/:id",
    operation: "patchUser",
    summary: "Applies a JSON Merge Patch to name and picture",
    tag,
    access: "user",
    conditional: true,
    body: userChange,
    answer: shownUser,
    responses: { 200: changed, 404: missing },
    handle: controller.update,
  }),
  defineRoute({
    method: "PUT",
    path: "/users/:id/password",
    operation: "updatePassword",
    summary: "Changes the password of the caller and signs it out everywhere",
    tag,
    access: "password",
    conditional: true,
    body: newPassword,
    answer: shownUser,
    responses: { 200: changed, 404: missing },
    handle: controller.updatePassword,
  }),
  defineRoute({
    method: "DELETE",
    path: "/users/:id",
    operation: "removeUser",
    summary: "Deletes a user",
    tag,
    access: "admin",
    conditional: true,
    responses: {
      204: { description: "It is deleted" },
      404: missing,
      409: { description: "Other documents refer to it" },
    },
    handle: controller.remove,
  }),
];
