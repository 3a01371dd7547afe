import type { DocumentOf } from "@fetchwork/rest";
import { defineUser } from "@fetchwork/rest/accounts";

/** Users: name, picture, email, role and password are there; `schema` adds fields of your own. */
export const user = defineUser({ changes: "documents" });

/** A user as the store keeps it. */
export type User = DocumentOf<typeof user>;
