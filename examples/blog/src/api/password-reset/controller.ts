import { empty, json } from "@fetchwork/http";
import { Problem, type Call, type OutputOf } from "@fetchwork/rest";
import { notFound, view } from "@fetchwork/rest/handlers";
import type { SignInLimits } from "../../services/sign-in-limits.ts";
import { user, type newPassword } from "../user/model.ts";
import { holderView, resets, type NewReset } from "./model.ts";
import type { ResetMails } from "./reset-mails.ts";

/** What the routes of resets do. */
export interface ResetController {
  readonly create: (call: Call<NewReset>) => Promise<Response>;
  readonly show: (call: Call) => Promise<Response>;
  readonly update: (call: Call<OutputOf<typeof newPassword>>) => Promise<Response>;
}

/** The address has the token in it, which stays here. */
const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

/** Sends and takes the tokens of users who have lost their password. */
export function createResetController(
  mails: ResetMails | undefined,
  { passwords, resets: requests }: SignInLimits,
): ResetController {
  return {
    /** Answers before it looks for the user, so that neither answer nor time tell whether there is one. */
    async create(call) {
      if (!mails) throw new Problem(503, { detail: "no mails can be sent: SMTP_URL is not set" });
      if (await mails.isBusy()) {
        const after = { "retry-after": "60" };
        throw new Problem(503, { detail: "the server of mails is slow", headers: after });
      }
      const attempt = await requests?.begin({ account: `Reset of ${call.body.email}` });
      await attempt?.end("failure"); // So it counts, whether there is such a user or not.
      await mails.queue(call.body);
      return empty(202);
    },

    async show({ params, store }) {
      const found = await resets.find(store, params["token"] ?? "");
      if (!found) throw notFound();
      return json({ user: view(found, holderView) }, { headers });
    },

    async update({ body, context, params, store }) {
      const changed = await resets.use(store, params["token"] ?? "", body.password);
      if (!changed) throw notFound();
      await passwords?.forget({ account: changed.email, address: context.ip });
      return json(user.present(changed, { user: changed }), { headers });
    },
  };
}
