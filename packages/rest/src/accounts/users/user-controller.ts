import { json } from "@fetchwork/http";
import type { Account } from "../../account.ts";
import { writeConditionally } from "../../operations/conditional-write.ts";
import {
  createResourceController,
  type ResourceController,
} from "../../operations/resource-controller.ts";
import type { Call } from "../../resource/call.ts";
import type { Code } from "../account-operations.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { passwordRequired } from "../create-authentication.ts";
import { hashPassword } from "../password.ts";
import { requireSecondFactor } from "../second-factor/require-second-factor.ts";
import { createUser, type UserCreation } from "./create-user.ts";
import { type AccountCall, ownUser, refuseKeys, userIdOf } from "./own-account.ts";

/** Body that sets another password. */
export type NewPassword = Code & { readonly password: string };

/** Handlers of the routes of users. Replace a handler by spreading: `{ ...controller, list }`. */
export interface UserController extends Omit<ResourceController, "create" | "restore"> {
  readonly create: (call: Call<UserCreation, Account | undefined>) => Promise<Response>;
  readonly updatePassword: (call: AccountCall<NewPassword>) => Promise<Response>;
  readonly updateRole: (
    call: AccountCall<{ readonly role: "user" | "admin" }>,
  ) => Promise<Response>;
}

/** Makes the handlers of users. The identifier of `me` is the caller's when they are called. */
export function createUserController(context: AccountsContext): UserController {
  const { sessions, user } = context;
  const { list, patch, remove, show, update } = createResourceController(user);

  return {
    list,
    show,
    update,
    patch,
    create: (call) => createUser(context, call),
    remove,
    async updatePassword(call) {
      const { id } = await ownUser(context, call);
      await requireSecondFactor(context, call, { user: id, code: call.body.totp });
      return changeAccess(call, { passwordHash: await hashPassword(call.body.password) });
    },
    updateRole(call) {
      refuseKeys(call);
      return changeAccess(call, { role: call.body.role });
    },
  };

  /**
   * Changes what sessions depend on, and ends them. A password was checked against the caller as it
   * was then; when it has changed since, it counts no more.
   */
  async function changeAccess(
    call: AccountCall,
    change: { readonly passwordHash: string } | { readonly role: "user" | "admin" },
  ): Promise<Response> {
    const id = userIdOf(call);
    const { request, store, user: caller } = call;
    const changed = await writeConditionally(
      {
        store,
        collection: user.collection,
        id,
        name: user.name,
        request,
        etag: (current) => user.tagOf(current, call),
      },
      (current, users) => {
        const isOutdated = "passwordHash" in change && current.passwordHash !== caller.passwordHash;
        if (isOutdated) throw passwordRequired();
        const sessionVersion = current.sessionVersion + 1;
        return users.update(id, { ...change, sessionVersion }, { ifVersion: current });
      },
    );
    await sessions.endAll(id);
    return json(user.present(changed, call), { headers: { etag: user.tagOf(changed, call) } });
  }
}
