import type { AccessRules } from "./access-rules.ts";
import type { Field } from "./field.ts";
import type { ResourceNames } from "./resource-names.ts";

/** Everything that the files of a resource are made of. */
export interface ResourceDefinition {
  readonly names: ResourceNames;
  readonly fields: readonly Field[];
  readonly access: AccessRules;
  /** Field that holds the user who created the document; absent when documents have no owner. */
  readonly owner: string | undefined;
  readonly softDelete: boolean;
  readonly list: "array" | "rows";
  /** Whether the project has users, who sign in. */
  readonly hasUsers: boolean;
  /** Whether changes are announced by webhooks. */
  readonly hasWebhooks: boolean;
}
