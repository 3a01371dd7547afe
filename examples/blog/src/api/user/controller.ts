import type { Stored } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import {
  createResourceController,
  etagOf,
  forbidden,
  hashPassword,
  noneMatchHolds,
  notFound,
  Problem,
  refuseConflicts,
  requireOwner,
  requirePreconditions,
  view,
  writeConditionally,
  type Account,
  type Call,
  type Fields,
  type OutputOf,
  type WriteTarget,
} from "@fetchwork/rest";
import { forgetLinks } from "../../services/forget-links.ts";
import { nameOf, pictureOf } from "../../services/profile.ts";
import { publicView, user, type newPassword, type newUser, type userChange } from "./model.ts";

export const { list } = createResourceController(user);

export async function show(call: Call<unknown, Account>): Promise<Response> {
  const { params, request, store, user: caller } = call;
  const found = await store.collection(user.collection).get(idOf(params, caller));
  if (!found) throw notFound();
  const seesAll = caller.role === "admin" || caller.id === found.id;
  const etag = etagOf(found.version, seesAll ? variantOf(params, caller) : "public");
  requirePreconditions(request, etag);
  if (noneMatchHolds(request.headers.get("if-none-match"), etag)) {
    return empty(304, { headers: { etag } });
  }
  return json(view(found, seesAll ? user.list.selectable : publicView), { headers: { etag } });
}

export async function create({ body, store }: Call<OutputOf<typeof newUser>>): Promise<Response> {
  const { email, password, role } = body;
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
  return answer(created, { status: 201, headers: { location: `/users/${created.id}` } });
}

export async function update(call: Call<OutputOf<typeof userChange>, Account>): Promise<Response> {
  const { name, picture } = call.body;
  const updated = await change(call, ({ email }) => ({
    ...(name === undefined ? {} : { name: name || nameOf(String(email)) }),
    ...(picture === undefined ? {} : { picture: picture ?? pictureOf(String(email)) }),
  }));
  return answer(updated);
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
    if (current["passwordHash"] !== call.user.passwordHash) {
      throw new Problem(401, {
        detail: "the password has changed meanwhile",
        headers: { "www-authenticate": 'Basic realm="api", charset="UTF-8"' },
      });
    }
    return { passwordHash, sessionVersion: Number(current["sessionVersion"]) + 1 };
  });
  return answer(updated);
}

export async function remove(call: Call<unknown, Account>): Promise<Response> {
  await writeConditionally(
    targetOf(call),
    async ({ id, version }, users) => (await users.remove(id, { ifVersion: version })) || undefined,
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
function variantOf(params: Call["params"], caller: Account): string | undefined {
  return params["id"] === "me" ? caller.id : undefined;
}

function targetOf({
  params,
  request,
  store,
  user: caller,
}: Call<unknown, Account>): WriteTarget<Fields> {
  return {
    store,
    collection: user.collection,
    id: idOf(params, caller),
    request,
    etag: ({ version }) => etagOf(version, variantOf(params, caller)),
  };
}

/** Changes a user for itself or for an admin. */
async function change(
  call: Call<unknown, Account>,
  changed: (current: Stored<Fields>) => Fields,
): Promise<Stored<Fields>> {
  return writeConditionally(targetOf(call), (current, users) => {
    requireOwner(call.user, current.id);
    return users.update(current.id, changed(current), { ifVersion: current.version });
  });
}

/** What the user itself, an admin or the holder of the master key sees. */
function answer(document: Stored<Fields>, init?: ResponseInit): Response {
  const headers = new Headers(init?.headers);
  headers.set("etag", etagOf(document.version));
  return json(view(document, user.list.selectable), { ...init, headers });
}
