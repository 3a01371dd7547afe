import type { Stored } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import {
  conflictAware,
  createResourceController,
  etagOf,
  forbidden,
  hashPassword,
  noneMatchHolds,
  notFound,
  requireOwner,
  view,
  writeConditionally,
  type Account,
  type Call,
  type Fields,
  type OutputOf,
} from "@fetchwork/rest";
import { nameOf, pictureOf } from "../../services/profile.ts";
import { publicView, user, type newPassword, type newUser, type userChange } from "./model.ts";

export const { list, remove } = createResourceController(user);

export async function show({
  params,
  request,
  store,
  user: caller,
}: Call<unknown, Account>): Promise<Response> {
  const found = await store.collection(user.collection).get(idOf(params, caller));
  if (!found) throw notFound();
  const headers = { etag: etagOf(found.version) };
  if (noneMatchHolds(request.headers.get("if-none-match"), found.version)) {
    return empty(304, { headers });
  }
  const seesAll = caller.role === "admin" || caller.id === found.id;
  return json(view(found, seesAll ? user.list.selectable : publicView), { headers });
}

export async function create({ body, store }: Call<OutputOf<typeof newUser>>): Promise<Response> {
  const { email, password, role } = body;
  const created = await conflictAware(
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

/** Ends all sessions besides: whoever knew the old password is signed out. */
export async function updatePassword(
  call: Call<OutputOf<typeof newPassword>, Account>,
): Promise<Response> {
  if (idOf(call.params, call.user) !== call.user.id) {
    throw forbidden("users change their own password only");
  }
  const passwordHash = await hashPassword(call.body.password);
  const updated = await change(call, ({ sessionVersion }) => ({
    passwordHash,
    sessionVersion: Number(sessionVersion) + 1,
  }));
  return answer(updated);
}

/** `me` is the caller. */
function idOf(params: Call["params"], caller: Account): string {
  const id = params["id"] ?? "";
  return id === "me" ? caller.id : id;
}

/** Changes a user for itself or for an admin. */
function change(
  { params, request, store, user: caller }: Call<unknown, Account>,
  changed: (current: Stored<Fields>) => Fields,
): Promise<Stored<Fields>> {
  const users = store.collection(user.collection);
  return writeConditionally(request.headers.get("if-match"), {
    read: () => users.get(idOf(params, caller)),
    write(current) {
      requireOwner(caller, current.id);
      return users.update(current.id, changed(current), { ifVersion: current.version });
    },
  });
}

/** What the user itself, an admin or the holder of the master key sees. */
function answer(document: Stored<Fields>, init?: ResponseInit): Response {
  const headers = new Headers(init?.headers);
  headers.set("etag", etagOf(document.version));
  return json(view(document, user.list.selectable), { ...init, headers });
}
