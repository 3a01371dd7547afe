import { hkdfSync } from "node:crypto";
import { seal, unseal } from "@fetchwork/documents";
import { optionError, WebhookUsageError } from "../../../errors.ts";

/** Parts of an endpoint that only the sender may know. */
export interface EndpointSecrets {
  readonly secret: string;
  /** Secrets before, the last one first, that sign too until their times. */
  readonly previous?: readonly PreviousSecret[] | undefined;
  /** Headers that every delivery carries. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

interface PreviousSecret {
  readonly secret: string;
  /** ISO 8601. */
  readonly until: string;
}

/** Returns the secrets before that sign now. */
export function validPrevious({ previous = [] }: EndpointSecrets): readonly PreviousSecret[] {
  const now = new Date().toISOString();
  return previous.filter(({ until }) => until > now);
}

/** Writes and reads the secrets of endpoints, each for its tenant: other tenants' do not open. */
export interface SecretsVault {
  /** Returns the text that is stored: sealed when the vault has keys, else JSON. */
  write(tenant: string | undefined, secrets: EndpointSecrets): string;
  /**
   * Reads it.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_SECRET` when no key opens it
   */
  read(tenant: string | undefined, text: string): EndpointSecrets;
}

const shortest = 32;

/**
 * Makes the vault of a sender. The first key seals, all of them open.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION` for a key of fewer than 32 characters
 */
export function createVault(sealWith: string | readonly string[] = []): SecretsVault {
  const keys = [sealWith].flat().map(keyOf);
  const [first] = keys;
  return {
    write(tenant, secrets) {
      const text = JSON.stringify(secrets);
      return first === undefined ? text : seal(first, tenant ?? "", [text]);
    },
    read(tenant, text) {
      const opened = text.startsWith("{") ? text : openWithAny(keys, tenant ?? "", text);
      // Written by `write`, which nobody else can have sealed.
      return JSON.parse(opened) as EndpointSecrets;
    },
  };
}

function keyOf(text: string): Buffer {
  if (typeof text !== "string" || text.length < shortest) {
    throw optionError("sealWith", "a shorter one", `keys of at least ${shortest} characters`);
  }
  return Buffer.from(hkdfSync("sha256", text, Buffer.alloc(32), "webhook endpoints", 32));
}

function openWithAny(keys: readonly Buffer[], context: string, text: string): string {
  for (const key of keys) {
    try {
      return new TextDecoder().decode(unseal(key, context, text));
    } catch {
      // Sealed with another key.
    }
  }
  throw new WebhookUsageError(
    "ERR_WEBHOOKS_SECRET",
    "the secret of the endpoint was sealed with a key that sealWith does not have",
  );
}
