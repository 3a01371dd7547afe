import type { Stored, Transaction } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import { forbidden } from "../../access.ts";
import type { Account } from "../../account.ts";
import { etagOf } from "../../etag.ts";
import type { Fields } from "../../fields.ts";
import { refuseConflicts } from "../../operations/refuse-conflicts.ts";
import { checkReferences } from "../../operations/relations/check-references.ts";
import { fieldError } from "../../field-error.ts";
import { requireWritable } from "../../plan/field-writes.ts";
import { badFields, Problem } from "../../problem.ts";
import { type Call, type ResourceCall, writeTogether } from "../../resource/call.ts";
import { afterChange } from "../../resource/hooks.ts";
import type { UserInput } from "../account-operations.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { readyMails } from "../mails/ready-mails.ts";
import { countAlways, networkOf } from "../../attempt-limiter.ts";
import { hashPassword } from "../password.ts";
import type { StoredUser, UserFields } from "./define-user.ts";
import { forgetUserIn } from "./forget-user.ts";

/** Fields to create a user; `link` for a sign-up whose address has to be confirmed. */
export type UserCreation = UserInput & Pick<UserFields, "role">;

/** Creates a user: by the master key or an admin, or as an open sign-up of the user's own. */
export async function createUser(
  context: AccountsContext,
  call: Call<UserCreation, Account | undefined>,
): Promise<Response> {
  const { link, password, ...fields } = call.body;
  requireWritable(context.user, call, call.sent ?? { ...call.body });
  const { apiKey, role } = call.user ?? {};
  // A key of an admin makes no admin, by whom it would do what keys may not.
  if (apiKey !== undefined && fields.role !== "user") throw forbidden("an API key sets no role");
  if (call.isMaster || role === "admin") {
    const passwordHash = await hashPassword(password);
    const created = await insertUser(context, call, { ...fields, passwordHash, sessionVersion: 1 });
    return shown(context, created);
  }
  if (fields.role !== "user") throw forbidden("only the master key and admins set a role");
  const network = networkOf(call.context.ip ?? "");
  await countAlways(context.signUpLimiter, `Sign-up from ${network}`);
  const passwordHash = await hashPassword(password);
  const user: StoredUser = { ...fields, passwordHash, sessionVersion: 1, unconfirmed: true };
  const { mails } = context;
  if (mails === undefined) return shown(context, await insertUser(context, call, user));
  if (link === undefined) {
    const message = "link is required: the page that confirms the address";
    throw badFields([fieldError("link", "required", message)]);
  }
  await readyMails(context);
  await countAlways(context.mailLimiter, `Sign-up of ${user.email}`);
  await insertOrRenew(context, call, user);
  // The response is the same for an address that is known. Its owner learns of it by mail.
  await mails.queue({ kind: "sign-up", email: user.email, link });
  return empty(202);
}

/** Stores a user, with the hooks of the resource. */
export async function insertUser(
  { user: resource }: AccountsContext,
  call: ResourceCall<unknown>,
  user: StoredUser,
): Promise<Stored<StoredUser>> {
  const { collection, hooks } = resource;
  const created = await writeTogether(call, async (transaction) => {
    const fields = await fieldsBefore(resource, call, transaction, user);
    return refuseConflicts(transaction.collection(collection).insert(fields));
  });
  if (hooks.afterCreate) {
    await afterChange(call, () => hooks.afterCreate?.({ call, document: { ...created } }));
  }
  return created;
}

/** Runs the hook and the checks before a user is stored; returns what to store. */
async function fieldsBefore(
  resource: AccountsContext["user"],
  call: ResourceCall<unknown>,
  transaction: Transaction,
  user: StoredUser,
): Promise<StoredUser> {
  const given: Fields & StoredUser = { ...user };
  const fields =
    (await resource.hooks.beforeCreate?.({ call, transaction, fields: given })) ?? given;
  await checkReferences(resource, transaction, fields);
  // Hooks return the fields they were given, or such as the resource has.
  return fields as unknown as StoredUser;
}

/** Stores a user, or in the place of one with the same address who has never confirmed it. */
async function insertOrRenew(
  context: AccountsContext,
  call: Call<UserCreation, Account | undefined>,
  user: StoredUser,
): Promise<void> {
  try {
    await insertUser(context, call, user);
  } catch (error) {
    if (!isTaken(error)) throw error;
    const { email } = user;
    // It is looked for in the transaction, so that of many sign-ups at once none fails.
    await refuseConflicts(
      call.store.transaction(async (transaction) => {
        const users = transaction.collection(context.user.collection);
        const [found] = await users.find({ where: { email }, limit: 1 });
        if (found?.unconfirmed !== true) return;
        const fields = await fieldsBefore(context.user, call, transaction, user);
        await users.replace(found.id, { ...fields, sessionVersion: found.sessionVersion + 1 });
        await forgetUserIn(transaction, found.id);
      }),
    );
  }
}

/** Whether a user was refused for an address that another one has. */
export function isTaken(error: unknown): boolean {
  return error instanceof Problem && error.status === 409 && error.errors[0]?.param === "email";
}

function shown({ user: resource }: AccountsContext, created: Stored<StoredUser>): Response {
  return json(resource.present(created, { user: created }), {
    status: 201,
    headers: { etag: etagOf(created), location: `/users/${created.id}` },
  });
}
