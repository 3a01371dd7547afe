// #if users
import type { DocumentOf } from "@fetchwork/rest";
import { defineUser } from "@fetchwork/rest/accounts";

/** Users: name, picture, email, role and password are there; `schema` adds fields of your own. */
// #if !rows && !webhooks
//+ export const user = defineUser();
// #endif
// #if rows && !webhooks
//+ export const user = defineUser({ list: { shape: "rows" } });
// #endif
// #if !rows && webhooks
export const user = defineUser({ changes: "documents" });
// #endif
// #if rows && webhooks
//+ export const user = defineUser({ changes: "documents", list: { shape: "rows" } });
// #endif

/** A user as the store keeps it. */
export type User = DocumentOf<typeof user>;
// #endif
