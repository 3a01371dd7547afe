import { optionError, WebhookError } from "../errors.ts";
import type { MaybePromise, SignatureKey, SignatureScheme } from "../schemes/signature-scheme.ts";
import type { DeliveryContext, SecretFunction } from "./webhooks-options.ts";

/** Keys of so many secrets are remembered when a function gives the secrets. */
const maxKeys = 1000;

/** Finds the keys of a delivery; the first one signs. */
export type SecretRing = (delivery: DeliveryContext) => MaybePromise<readonly SignatureKey[]>;

/**
 * Makes keys of secrets: once, or when a function returns a secret for the first time.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`, `ERR_WEBHOOKS_SECRET`
 */
export function createSecretRing(
  scheme: SignatureScheme,
  secret: string | readonly string[] | SecretFunction,
  additionalSecrets: readonly string[],
): SecretRing {
  if (!Array.isArray(additionalSecrets)) {
    throw optionError("additionalSecrets", typeof additionalSecrets, "a list of secrets");
  }
  const additional = additionalSecrets.map((text: string) => scheme.createKey(text));
  if (typeof secret === "function") return ringOf(scheme, secret, additional);
  const secrets = typeof secret === "string" ? [secret] : secret;
  if (!Array.isArray(secrets) || secrets.length === 0 || secrets.includes("")) {
    throw optionError("secret", secrets?.length === 0 ? "" : typeof secret, "a secret");
  }
  const keys = [...secrets.map((text: string) => scheme.createKey(text)), ...additional];
  return () => keys;
}

function ringOf(
  scheme: SignatureScheme,
  findSecrets: SecretFunction,
  additional: readonly SignatureKey[],
): SecretRing {
  const known = new Map<string, SignatureKey>();
  const keyOf = (secret: string): SignatureKey => {
    const found = known.get(secret);
    if (found !== undefined) return found;
    const key = scheme.createKey(secret);
    const [oldest] = known.keys();
    if (known.size >= maxKeys && oldest !== undefined) known.delete(oldest);
    known.set(secret, key);
    return key;
  };
  return async (delivery) => {
    try {
      const secrets = (await findSecrets(delivery)) ?? [];
      const list = typeof secrets === "string" ? [secrets] : secrets;
      return [...list.map(keyOf), ...additional];
    } catch (cause) {
      throw new WebhookError("ERR_WEBHOOKS_SECRET_FUNCTION", "the secret function failed", {
        cause,
        event: { id: delivery.id, name: delivery.name },
      });
    }
  };
}
