import type { CollectionDefinition, Stored } from "@fetchwork/documents";
import type { Account } from "../account.ts";
import type { Fields } from "../fields.ts";
import { named } from "../named-schema.ts";
import type { JsonSchema } from "../schema.ts";

/** Fields of an owner that documents show. */
export interface PublicUser {
  readonly id: string;
  /** `null` where the user has none, or the caller may not see it. */
  readonly name: string | null;
  /** `null` where the user has none, or the caller may not see it. */
  readonly picture: string | null;
}

/** The users of an API, as far as documents show their owners. */
export interface PublicUsers {
  readonly collection: CollectionDefinition<Fields>;
  /**
   * Shows a caller of a user what everyone may see, and of that only what this caller sees. The
   * holder of the master key is not a user, and counts as nobody in particular.
   */
  show(user: Stored<Fields>, viewer: Account | undefined): PublicUser;
  /** Makes the entity tag of what a caller sees of a user. */
  tagOf(user: Stored<Fields>, viewer: Account | undefined): string;
}

const textOrNull: JsonSchema = { type: ["string", "null"] };

/** Schema of an owner field as it is shown; `null` for a user who was removed. */
export const ownerSchema: JsonSchema = {
  anyOf: [
    named(
      "PublicUser",
      {
        type: "object",
        properties: { id: { type: "string" }, name: textOrNull, picture: textOrNull },
        required: ["id", "name", "picture"],
      },
      "What everyone may see of a user",
    ),
    { type: "null" },
  ],
};
