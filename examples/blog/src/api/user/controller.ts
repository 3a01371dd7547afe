import type { Change } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import {
  createResourceController,
  hashPassword,
  Problem,
  type Account,
  type Call,
  type OutputOf,
} from "@fetchwork/rest";
import {
  etagOf,
  forbidden,
  networkOf,
  noneMatchHolds,
  notFound,
  refuseConflicts,
  releaseReferences,
  requireOwner,
  requirePreconditions,
  writeConditionally,
  writeTogether,
  type WriteTarget,
} from "@fetchwork/rest/handlers";
import { forgetLinks } from "../../services/forget-links.ts";
import { nameOf, pictureOf } from "../../services/profile.ts";
import {
  user,
  type newPassword,
  type newUser,
  type User,
  type userChange,
  type UserFields,
} from "./model.ts";

export const { list } = createResourceController(user);

export async function show(call: Call<unknown, Account>): Promise<Response> {
  const { params, request, store, user: caller } = call;
  const found = await store.collection(user.collection).get(idOf(params, caller));
  if (!found) throw notFound();
  const etag = tagOf(call, found);
  requirePreconditions(request, etag);
  if (noneMatchHolds(request.headers.get("if-none-match"), etag)) {
    return empty(304, { headers: { etag } });
  }
  return json(user.present(found, call), { headers: { etag } });
}

/** Whoever may sign up, only the master key and admins make admins. */
export async function create(call: Call<OutputOf<typeof newUser>>): Promise<Response> {
  const { body, store } = call;
  const { email, password, role } = body;
  if (!call.isMaster && !isAdmin(call.user)) {
    if (role !== "user") throw forbidden("only the master key and admins set a role");
    await countSignUp(call);
  }
  const created = await refuseConflicts(
    store.collection(user.collection).insert({
      email,
      role,
      name: body.name || nameOf(email),
      picture: body.picture ?? pictureOf(email),
      passwordHash: await hashPassword(password),
      sessionVersion: 1,
    }),
  );
  return json(user.present(created, { user: created }), {
    status: 201,
    headers: { etag: etagOf(created.version), location: `/users/${created.id}` },
  });
}

/**
 * Limits sign-ups of a network, as wrong passwords of an account are limited.
 *
 * @throws Problem 429 with `Retry-After` after too many.
 */
async function countSignUp({ attempts, context }: Call): Promise<void> {
  // No account has such a name: names of accounts are in lower case.
  const account = `Sign-up from ${networkOf(context.ip ?? "")}`;
  const attempt = await attempts?.begin({ account });
  await attempt?.end("failure"); // So it counts, whatever becomes of it.
}

function isAdmin(caller: unknown): boolean {
  return (caller as Account | undefined)?.role === "admin";
}

export async function update(call: Call<OutputOf<typeof userChange>, Account>): Promise<Response> {
  const { name, picture } = call.body;
  const updated = await change(call, ({ email }) => ({
    ...(name === undefined ? {} : { name: name || nameOf(email) }),
    ...(picture === undefined ? {} : { picture: picture ?? pictureOf(email) }),
  }));
  return answer(call, updated);
}

/**
 * Ends all sessions besides: whoever knew the old password is signed out. The password was checked against the
 * caller as it was then; when it has changed since, the old one counts no more.
 */
export async function updatePassword(
  call: Call<OutputOf<typeof newPassword>, Account>,
): Promise<Response> {
  if (idOf(call.params, call.user) !== call.user.id) {
    throw forbidden("users change their own password only");
  }
  const passwordHash = await hashPassword(call.body.password);
  const updated = await change(call, (current) => {
    if (current.passwordHash !== call.user.passwordHash) {
      throw new Problem(401, {
        detail: "the password has changed meanwhile",
        headers: { "www-authenticate": 'Basic realm="api", charset="UTF-8"' },
      });
    }
    return { passwordHash, sessionVersion: current.sessionVersion + 1 };
  });
  return answer(call, updated);
}

export async function remove(call: Call<unknown, Account>): Promise<Response> {
  await writeTogether(call, (transaction) =>
    writeConditionally({ ...targetOf(call), transaction }, async ({ id, version }, users) => {
      await releaseReferences(call.resources, transaction, { resource: user, id });
      return (await users.remove(id, { ifVersion: version })) || undefined;
    }),
  );
  await forgetLinks(call.store, idOf(call.params, call.user));
  return empty();
}

/** `me` is the caller. */
function idOf(params: Call["params"], caller: Account): string {
  const id = params["id"] ?? "";
  return id === "me" ? caller.id : id;
}

/** `me` shows each caller another user, so its entity tags name the user. */
function tagOf(call: Call<unknown, Account>, document: User): string {
  const isMe = call.params["id"] === "me";
  return isMe ? etagOf(document.version, call.user.id) : user.tagOf(document, call);
}

function targetOf(call: Call<unknown, Account>): WriteTarget<UserFields> {
  const { params, request, store } = call;
  return {
    store,
    collection: user.collection,
    id: idOf(params, call.user),
    request,
    etag: (current) => tagOf(call, current),
  };
}

/** Changes a user for itself or for an admin. */
async function change(
  call: Call<unknown, Account>,
  changed: (current: User) => Change<UserFields>,
): Promise<User> {
  return writeConditionally(targetOf(call), (current, users) => {
    requireOwner(call.user, current.id);
    return users.update(current.id, changed(current), { ifVersion: current.version });
  });
}

function answer(call: Call<unknown, Account>, changed: User): Response {
  return json(user.present(changed, call), { headers: { etag: tagOf(call, changed) } });
}
