import type { Change, Collection, Meta, Stored, Where } from "@fetchwork/documents";
import { optionError, WebhookUsageError } from "../../../errors.ts";
import { checkOptions } from "../../../check-options.ts";
import type { Breaker } from "../deliveries/breaker.ts";
import type { Vendor } from "../../../vendors/define-vendor.ts";
import type { Catalogue } from "../events/catalogue.ts";
import { checkHeaders } from "./endpoint-headers.ts";
import { type EndpointSecrets, type SecretsVault, validPrevious } from "./endpoint-secrets.ts";
import type { EndpointRecord } from "../records.ts";
import { isEventName, isTenant, tenantForm, topicsOf } from "./subscriptions.ts";
import { checkTarget, type TargetRules } from "./target-url.ts";

/** Fields of an endpoint to create. */
export interface EndpointInput {
  /** Where events are sent; `https:`, without credentials. */
  readonly url: string;
  /**
   * Tenant whose events it gets: 1 to 64 letters, digits, `_` and `-`; it stays. Default: none, and
   * it gets events of no tenant.
   */
  readonly tenant?: string | undefined;
  /**
   * Names of events: `issues` takes every `issues` event, `issues.opened` those with that action,
   * `order.*` all whose name begins so. At most 100. Default: all events.
   */
  readonly events?: readonly string[] | undefined;
  /** Default: 32 random bytes, as `whsec_` and Base64. */
  readonly secret?: string | undefined;
  /**
   * Headers that every delivery carries, such as `authorization`: at most 20, of at most 1,024
   * characters. They are kept with the secret. Default: none.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** At most 500 characters. Default: none. */
  readonly description?: string | undefined;
}

/** Change of an endpoint; an absent field stays, and `null` removes an optional field. */
export interface EndpointChange {
  readonly url?: string | undefined;
  /** Names of events; `null`: all of them. */
  readonly events?: readonly string[] | null | undefined;
  /** Takes the place of the old one at once; see `rotateSecret`. */
  readonly secret?: string | undefined;
  /** Further headers of deliveries; `null`: none. */
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  /** Text for people; `null`: none. */
  readonly description?: string | null | undefined;
  /**
   * `"enabled"` resumes deliveries; those that were given up in between are for `replayAll`.
   * `"disabled"` stops deliveries: pending ones are given up when they are due.
   */
  readonly status?: EndpointRecord["status"] | undefined;
}

/** A receiver of events, without its secret and the values of its headers. */
export type WebhookEndpoint = Omit<EndpointRecord, "secrets" | "topics"> &
  Pick<Meta, "id" | "version" | "createdAt">;

/** Guards a change of an endpoint against a change in between. */
interface EndpointWriteOptions {
  /**
   * The version that the endpoint must have; else the change rejects with the error of the store
   * whose `code` ends in `_VERSION`. Default: any version.
   */
  readonly ifVersion?: number | undefined;
}

/** How a secret is replaced. */
interface RotateOptions extends EndpointWriteOptions {
  /** The new secret. Default: a random one. */
  readonly secret?: string | undefined;
  /** Milliseconds for which the old one signs too, 0 to 30 days. Default: 24 hours. */
  readonly overlap?: number | undefined;
}

/** Selects endpoints. */
interface EndpointQuery {
  /** Default: those of all tenants, and of none. */
  readonly tenant?: string | undefined;
  /** Maximum number of endpoints, 1 to 1000. Default: 100. */
  readonly limit?: number | undefined;
  /** Number of endpoints to skip. Default: 0. */
  readonly offset?: number | undefined;
}

/** Manages the receivers of a sender. */
export interface Endpoints {
  /**
   * Adds one. Only this call returns the secret.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_TARGET`, `ERR_WEBHOOKS_SECRET`, or
   * `ERR_WEBHOOKS_OPTION` for another field
   */
  create(input: EndpointInput): Promise<WebhookEndpoint & { readonly secret: string }>;
  /** Resolves to `undefined` when there is no such endpoint. */
  get(id: string): Promise<WebhookEndpoint | undefined>;
  /**
   * Lists endpoints in the order in which they were created.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
   */
  list(query?: EndpointQuery): Promise<readonly WebhookEndpoint[]>;
  /** Counts the endpoints of a tenant; all without one. */
  count(query?: Pick<EndpointQuery, "tenant">): Promise<number>;
  /** Changes the given fields; `undefined` without endpoint. Throws as `create`. */
  update(
    id: string,
    change: EndpointChange,
    options?: EndpointWriteOptions,
  ): Promise<WebhookEndpoint | undefined>;
  /**
   * Replaces the secret. For a time deliveries carry the signatures of both, and the receiver can
   * change its own at any moment. Only this call returns the new secret.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_SECRET`, or `ERR_WEBHOOKS_OPTION` also for a scheme
   * with one signature a delivery
   */
  rotateSecret(
    id: string,
    options?: RotateOptions,
  ): Promise<(WebhookEndpoint & { readonly secret: string }) | undefined>;
  /** Removes it. Pending deliveries are given up when they are due. */
  remove(id: string, options?: EndpointWriteOptions): Promise<boolean>;
}

const changeNames = ["url", "events", "secret", "headers", "description"] as const;
const day = 86_400_000;
/** Together with the current one as many signatures as receivers of all schemes read. */
const maxPrevious = 7;

type CheckedFields = Pick<Change<EndpointRecord>, "description" | "events" | "url">;

/** Makes the endpoints of a sender. */
export function storedEndpoints(
  documents: Collection<EndpointRecord>,
  {
    rules,
    vendor,
    breaker,
    vault,
    catalogue,
  }: {
    readonly rules: TargetRules;
    readonly vendor: Vendor;
    readonly breaker: Breaker;
    readonly vault: SecretsVault;
    readonly catalogue: Catalogue;
  },
): Endpoints {
  function check(input: EndpointChange): CheckedFields {
    const { url, events, description } = input;
    const checked: { -readonly [K in keyof CheckedFields]: CheckedFields[K] } = {};
    if (url !== undefined) checked.url = checkTarget(url, rules);
    // The store removes a field that is `undefined`.
    if (events !== undefined)
      checked.events = events === null ? undefined : checkEvents(events, catalogue);
    if (description !== undefined) {
      checked.description = description === null ? undefined : checkDescription(description);
    }
    return checked;
  }

  function checkSecrets({ secret, headers }: EndpointChange): Partial<EndpointSecrets> {
    if (secret !== undefined) vendor.scheme.createKey(secret);
    return {
      ...(secret !== undefined && { secret, previous: undefined }),
      ...(headers !== undefined && {
        headers: headers === null ? undefined : checkHeaders(headers, vendor),
      }),
    };
  }

  /** Makes the stored fields of secrets: the text, and the facts that may be shown. */
  function secretFields(
    tenant: string | undefined,
    secrets: EndpointSecrets,
  ): Pick<EndpointRecord, "headerNames" | "previousSecretUntil" | "secrets"> {
    const { headers, previous } = secrets;
    return {
      secrets: vault.write(tenant, secrets),
      headerNames: headers && Object.keys(headers),
      previousSecretUntil: previous?.[0]?.until,
    };
  }

  async function update(
    id: string,
    input: EndpointChange,
    options?: EndpointWriteOptions,
  ): Promise<WebhookEndpoint | undefined> {
    const { status, events } = input;
    checkOptions("an endpoint", input, [...changeNames, "status"]);
    checkWriteOptions(options);
    const fields = check(input);
    const changed = checkSecrets(input);
    const change = {
      ...fields,
      // For how long the old URL has failed means nothing for another one.
      ...(fields.url !== undefined && { failingSince: undefined }),
      ...(status !== undefined && statusFields(status)),
    };
    const stored = await documents.update(
      id,
      // Fields made from the stored document: topics of its tenant, and secrets that stay.
      ({ tenant, secrets }) => ({
        ...change,
        ...(events !== undefined && { topics: topicsOf(tenant, fields.events) }),
        ...(Object.keys(changed).length > 0 &&
          secretFields(tenant, { ...vault.read(tenant, secrets), ...changed })),
      }),
      options,
    );
    if (fields.url !== undefined || status !== undefined) await breaker.forget(id);
    return stored && shown(stored);
  }

  return {
    async create(input) {
      checkOptions("an endpoint", input, [...changeNames, "tenant"]);
      const url = checkTarget(input.url, rules);
      const { tenant, secret = randomSecret() } = input;
      checkTenant(tenant);
      const fields = check(input);
      const topics = topicsOf(tenant, fields.events);
      const secrets = { secret, ...checkSecrets({ ...input, secret }) };
      const stored = await documents.insert({
        ...fields,
        ...secretFields(tenant, secrets),
        tenant,
        topics,
        url,
        status: "enabled",
      });
      return { ...shown(stored), secret };
    },
    async get(id) {
      const stored = await documents.get(id);
      return stored && shown(stored);
    },
    async list(query = {}) {
      checkOptions("endpoints.list", query, ["limit", "offset", "tenant"]);
      const { limit = 100, offset = 0, tenant } = query;
      const where = ofTenant(tenant);
      if (!(Number.isSafeInteger(limit) && limit >= 1 && limit <= 1000)) {
        throw optionError("limit", limit, "1 to 1000");
      }
      if (!(Number.isSafeInteger(offset) && offset >= 0)) {
        throw optionError("offset", offset, "a whole number from 0");
      }
      return (await documents.find({ where, sort: ["createdAt"], limit, offset })).map(shown);
    },
    async count(query = {}) {
      checkOptions("endpoints.count", query, ["tenant"]);
      return documents.count({ where: ofTenant(query.tenant) });
    },
    update,
    async rotateSecret(id, options = {}) {
      checkOptions("rotateSecret", options, ["secret", "overlap", "ifVersion"]);
      const { secret = randomSecret(), overlap = day, ifVersion } = options;
      if (!(Number.isFinite(overlap) && overlap >= 0 && overlap <= 30 * day)) {
        throw optionError("overlap", overlap, "milliseconds of at most 30 days");
      }
      const { scheme } = vendor;
      if (overlap > 0 && scheme.combine === undefined) {
        throw optionError("overlap", overlap, `0: ${scheme.name} has one signature a delivery`);
      }
      scheme.createKey(secret);
      const until = new Date(Date.now() + overlap).toISOString();
      const stored = await documents.update(
        id,
        ({ tenant, secrets: text }) => {
          const secrets = vault.read(tenant, text);
          const last = { secret: secrets.secret, until };
          // One that the receiver may still have signs until its time, however often this is done.
          const all = [last, ...validPrevious(secrets)].slice(0, maxPrevious);
          const previous = overlap > 0 ? all : undefined;
          return secretFields(tenant, { ...secrets, secret, previous });
        },
        { ifVersion },
      );
      return stored && { ...shown(stored), secret };
    },
    async remove(id, options) {
      checkWriteOptions(options);
      const isRemoved = await documents.remove(id, options);
      await breaker.forget(id);
      return isRemoved;
    },
  };
}

function checkWriteOptions(options: EndpointWriteOptions | undefined): void {
  checkOptions("a change of an endpoint", options, ["ifVersion"]);
}

/** Makes the stored fields of a status: why and when an endpoint was disabled. */
function statusFields(status: EndpointRecord["status"]): Change<EndpointRecord> {
  if (status === "disabled") {
    return { status, disabledAt: new Date().toISOString(), disabledReason: "manual" };
  }
  if (status !== "enabled") throw optionError("status", status, "enabled or disabled");
  return {
    status,
    disabledAt: undefined,
    disabledReason: undefined,
    failingSince: undefined,
  };
}

function shown(stored: Stored<EndpointRecord>): WebhookEndpoint {
  const { id, url, tenant, events, description, status, createdAt, version } = stored;
  const { disabledReason, disabledAt, failingSince, headerNames, previousSecretUntil } = stored;
  const rest = { disabledReason, disabledAt, failingSince, headerNames, previousSecretUntil };
  return { id, url, tenant, events, description, status, ...rest, createdAt, version };
}

function checkTenant(tenant: string | undefined): void {
  if (tenant === undefined || isTenant(tenant)) return;
  throw optionError("tenant", tenant, tenantForm);
}

function ofTenant(tenant: string | undefined): Where<EndpointRecord> {
  checkTenant(tenant);
  return tenant === undefined ? {} : { tenant };
}

function checkEvents(given: readonly unknown[], catalogue: Catalogue): readonly string[] {
  const names = Array.isArray(given) ? given.filter(isFilter) : [];
  if (names.length === 0 || names.length > 100 || names.length < given.length) {
    throw optionError("events", given, "1 to 100 names of events");
  }
  const unknown = names.find((name) => !catalogue.isUseful(name));
  if (unknown !== undefined) throw optionError("events", unknown, "events that are sent");
  return names;
}

function isFilter(name: unknown): name is string {
  return typeof name === "string" && isEventName(name.replace(/\.\*$/, ""));
}

function checkDescription(description: string): string {
  if (typeof description === "string" && description.length <= 500) return description;
  throw new WebhookUsageError(
    "ERR_WEBHOOKS_OPTION",
    "description must be a string of at most 500 characters",
  );
}

function randomSecret(): string {
  return `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;
}
