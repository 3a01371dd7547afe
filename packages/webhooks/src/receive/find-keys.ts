import { optionError, WebhookError } from "../errors.ts";
import type { SignatureKey, SignatureScheme } from "../schemes/signature-scheme.ts";
import type { DeliveryContext, SecretFunction } from "./webhooks-options.ts";

/** Finds the keys of a delivery. The first one signs. */
export type FindKeys = (delivery: DeliveryContext) => Promise<readonly SignatureKey[]>;

/**
 * Makes keys of secrets: once, or of those that a function returns for a delivery.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`, `ERR_WEBHOOKS_SECRET`
 */
export function createFindKeys(
  scheme: SignatureScheme,
  secret: string | readonly string[] | SecretFunction,
  additionalSecrets: readonly string[],
): FindKeys {
  if (!Array.isArray(additionalSecrets)) {
    throw optionError("additionalSecrets", typeof additionalSecrets, "a list of secrets");
  }
  const additional = additionalSecrets.map((text: string) => scheme.createKey(text));
  if (typeof secret === "function") return findKeysOf(secret, scheme, additional);
  const secrets = typeof secret === "string" ? [secret] : secret;
  if (!Array.isArray(secrets) || secrets.length === 0 || secrets.includes("")) {
    throw optionError("secret", secrets?.length === 0 ? "" : typeof secret, "a secret");
  }
  const keys = secrets.map((text: string) => scheme.createKey(text));
  const found = Promise.resolve([...keys, ...additional]);
  return () => found;
}

function findKeysOf(
  findSecrets: SecretFunction,
  scheme: SignatureScheme,
  additional: readonly SignatureKey[],
): FindKeys {
  return async (delivery) => {
    try {
      const secrets = (await findSecrets(delivery)) ?? [];
      const list = typeof secrets === "string" ? [secrets] : secrets;
      return [...list.map((text) => scheme.createKey(text)), ...additional];
    } catch (cause) {
      throw new WebhookError("ERR_WEBHOOKS_SECRET_FUNCTION", "the secret function failed", {
        cause,
        event: { id: delivery.id, name: delivery.name },
      });
    }
  };
}
