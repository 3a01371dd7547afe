import {
  validateEventName as validateVendorEventName,
  type ValidateEventNameOptions,
} from "../dispatch/validate-event-name.ts";
import type { TopLevelName, WebhookEvent } from "../event-map.ts";
import type { GithubEventName, GithubEvents } from "../vendors/github-events.ts";
import { github, githubEventNames } from "../vendors/github.ts";

/** A name in {@link emitterEventNames}: an event, or `<event>.<action>`. */
export type EmitterWebhookEventName = GithubEventName;

/**
 * An event of GitHub. `EmitterWebhookEvent<"issues.opened">` has the name `issues` and the payload
 * of that action; without a name, it is any event, and narrows by `name`. Payloads have types when
 * `@octokit/openapi-webhooks-types` is installed.
 */
export type EmitterWebhookEvent<Name extends EmitterWebhookEventName = TopLevelName<GithubEvents>> =
  WebhookEvent<GithubEvents, Name>;

/** Every event name of GitHub, and every `<event>.<action>`. Frozen. */
export const emitterEventNames: readonly EmitterWebhookEventName[] = githubEventNames;

/** Options of GitHub's `validateEventName`: those of any vendor, without `vendor`. */
type GithubEventNameOptions = Omit<ValidateEventNameOptions, "vendor">;

/**
 * Checks that handlers can be registered for a name.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_EVENT_NAME` for a value that is not a string, for `*` and
 *   `error` always, and for an unknown name unless `onUnknownEventName` is `warn` or `ignore`
 */
export function validateEventName<Options extends GithubEventNameOptions>(
  name: string,
  options?: Options,
): asserts name is Options extends { readonly onUnknownEventName: "throw" }
  ? EmitterWebhookEventName
  : string {
  validateVendorEventName(name, { ...options, vendor: github });
}
