// oxlint-disable-next-line typescript/ban-ts-comment, jsdoc/check-tag-names -- optional: without it, payloads are `any`
/** @ts-ignore */
import type { components } from "@octokit/openapi-webhooks-types";
import type { EmitterWebhookEventName } from "./event-names.ts";

/** GitHub's names: those of the default vendor, where `vendor` is `github`. */
export type GithubEventName =
  | Exclude<EmitterWebhookEventName, `vendor_app_authorization${string}`>
  | "github_app_authorization"
  | "github_app_authorization.revoked"
  | "repository_dispatch.sample.collected";

type Schemas = components["schemas"];

// The dot first: the text before an underscore may have it, as in `pull_request.review_requested`.
type Hyphenated<Text extends string> = Text extends `${infer Head}.${infer Tail}`
  ? `${Hyphenated<Head>}-${Hyphenated<Tail>}`
  : Text extends `${infer Head}_${infer Tail}`
    ? `${Head}-${Hyphenated<Tail>}`
    : Text;

type ActionName<Name extends string> = Extract<GithubEventName, `${Name}.${string}`>;

/** Schemas that are not named after their event. */
interface Irregular {
  readonly "custom_property.promote_to_enterprise": "webhook-custom-property-promoted-to-enterprise";
  readonly "projects_v2.closed": "webhook-projects-v2-project-closed";
  readonly "projects_v2.created": "webhook-projects-v2-project-created";
  readonly "projects_v2.deleted": "webhook-projects-v2-project-deleted";
  readonly "projects_v2.edited": "webhook-projects-v2-project-edited";
  readonly "projects_v2.reopened": "webhook-projects-v2-project-reopened";
  readonly "repository_dispatch.sample.collected": "webhook-repository-dispatch-sample";
}

type SchemaName<Name extends string> = Name extends keyof Irregular
  ? Irregular[Name]
  : `webhook-${Hyphenated<Name>}`;

type SchemaOf<Name extends string> = Name extends unknown
  ? SchemaName<Name> extends keyof Schemas
    ? Schemas[SchemaName<Name>]
    : UndescribedPayload
  : never;

/** An event that GitHub's description lacks. */
interface UndescribedPayload {
  readonly action?: string;
  readonly [field: string]: unknown;
}

/**
 * Events of GitHub. Each payload is looked up when it is used, never all payloads, which keeps the
 * type check fast. An event with actions has the union of their payloads, which narrows by
 * `action`.
 */
export type GithubEvents = {
  readonly [Name in GithubEventName]: [ActionName<Name>] extends [never]
    ? SchemaOf<Name>
    : SchemaOf<ActionName<Name>>;
};
