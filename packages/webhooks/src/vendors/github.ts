import { emitterEventNames } from "./event-names.ts";
import { hmacScheme } from "../schemes/hmac-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import type { GithubEventName, GithubEvents } from "./github-events.ts";

/** GitHub's event names, and every `<event>.<action>`. Frozen. */
export const githubEventNames: readonly GithubEventName[] = /* @__PURE__ */ githubNames();

/**
 * GitHub: `X-GitHub-Event`, `X-GitHub-Delivery`, `X-Hub-Signature-256`, `/api/github/webhooks`.
 *
 * Payloads have types when `@octokit/openapi-webhooks-types` is installed; it has no code.
 */
export const github: Vendor<GithubEvents> = /* @__PURE__ */ defineVendor<GithubEvents>({
  name: "github",
  path: "/api/github/webhooks",
  scheme: /* @__PURE__ */ hmacScheme(),
  eventHeader: "X-GitHub-Event",
  deliveryHeader: "X-GitHub-Delivery",
  eventNames: githubEventNames,
});

function githubNames(): readonly GithubEventName[] {
  const names = emitterEventNames.flatMap((name): readonly GithubEventName[] => {
    if (name === "vendor_app_authorization") return ["github_app_authorization"];
    if (name === "vendor_app_authorization.revoked") return ["github_app_authorization.revoked"];
    if (name === "repository_dispatch.sample")
      return [name, "repository_dispatch.sample.collected"];
    return [name];
  });
  return Object.freeze(names);
}
