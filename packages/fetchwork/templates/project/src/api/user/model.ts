// #if users
import type { DocumentOf } from "@fetchwork/rest";
import { defineUser } from "@fetchwork/rest/accounts";

/** Users: name, picture, email, role and password are there; `schema` adds fields of your own. */
// #if !rows
export const user = defineUser();
// #endif
// #if rows
//+ export const user = defineUser({ list: { shape: "rows" } });
// #endif

/** A user as the store keeps it. */
export type User = DocumentOf<typeof user>;
// #endif
