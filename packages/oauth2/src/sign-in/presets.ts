import { isJsonRecord, parseJsonRecord, type JsonRecord } from "../json-record.ts";
import { openIdConnect, readStandardClaims, type ProviderPreset } from "./provider.ts";

/** Google. Add `params: { access_type: "offline", prompt: "consent" }` for a refresh token. */
const google: ProviderPreset = openIdConnect("https://accounts.google.com");

/** GitLab. */
const gitlab: ProviderPreset = openIdConnect("https://gitlab.com");
/** Slack. */
const slack: ProviderPreset = openIdConnect("https://slack.com");

/**
 * Microsoft, for the accounts of every organization and for personal ones. For one organization set
 * `issuer` to `https://login.microsoftonline.com/<tenant id>/v2.0` and `expectedIssuer` to
 * `undefined`.
 */
const microsoft: ProviderPreset = {
  ...openIdConnect("https://login.microsoftonline.com/common/v2.0"),
  expectedIssuer: "https://login.microsoftonline.com/{tenantid}/v2.0",
  readProfile: (sources) => ({
    ...readStandardClaims(sources),
    // An administrator can give a user any address; this optional claim states that its domain is
    // theirs.
    emailVerified: [true, 1, "1", "true"].some((value) => value === sources.claims["xms_edov"]),
  }),
};

/** Apple. The client secret is a JWT; see `appleClientSecret`. */
const apple: ProviderPreset = {
  issuer: "https://appleid.apple.com",
  // Apple demands the form where a scope is asked for.
  params: { scope: "openid email name", response_mode: "form_post" },
  readProfile: (sources) => ({
    ...readStandardClaims(sources),
    emailVerified: [true, "true"].some((value) => value === sources.claims["email_verified"]),
    name: appleName(sources.parameters.get("user")),
  }),
};

/** GitHub, with an OAuth app or a GitHub app. */
const github: ProviderPreset = {
  issuer: "https://github.com/login/oauth",
  metadata: {
    authorization_endpoint: "https://github.com/login/oauth/authorize",
    token_endpoint: "https://github.com/login/oauth/access_token",
    token_endpoint_auth_methods_supported: ["client_secret_post"],
  },
  params: { scope: "read:user user:email" },
  resources: {
    user: "https://api.github.com/user",
    emails: "https://api.github.com/user/emails",
  },
  readProfile({ resources: { user, emails } }) {
    const { id, login, name, avatar_url } = recordOf(user);
    const verified = (Array.isArray(emails) ? emails : [])
      .map(recordOf)
      .filter((one) => one["verified"] === true);
    const chosen = verified.find((one) => one["primary"] === true) ?? verified[0];
    return {
      id: Number.isSafeInteger(id) ? String(id) : undefined,
      // The address of the public profile is not known to be verified.
      email: chosen?.["email"],
      emailVerified: chosen !== undefined,
      name: name || login,
      picture: avatar_url,
    };
  },
};

/** Discord. */
const discord: ProviderPreset = {
  issuer: "https://discord.com",
  metadata: {
    authorization_endpoint: "https://discord.com/oauth2/authorize",
    token_endpoint: "https://discord.com/api/oauth2/token",
    revocation_endpoint: "https://discord.com/api/oauth2/token/revoke",
  },
  params: { scope: "identify email" },
  resources: { user: "https://discord.com/api/users/@me" },
  readProfile({ resources: { user } }) {
    const { id, email, verified, global_name, username, avatar } = recordOf(user);
    const image = typeof avatar === "string" ? `${String(id)}/${avatar}` : "";
    return {
      id,
      email,
      emailVerified: verified === true,
      name: global_name || username,
      picture: /^\d+\/\w+$/.test(image) && `https://cdn.discordapp.com/avatars/${image}.png`,
    };
  },
};

/** The providers that are known as data. */
export const providers: Readonly<
  Record<
    "apple" | "discord" | "github" | "gitlab" | "google" | "microsoft" | "slack",
    ProviderPreset
  >
> = { apple, discord, github, gitlab, google, microsoft, slack };

function recordOf(value: unknown): JsonRecord {
  return isJsonRecord(value) ? value : {};
}

/** Apple sends the name by the browser, at the first sign-in: nothing else is taken from there. */
function appleName(user: string | null): string | undefined {
  const name = recordOf(parseJsonRecord(user ?? "")?.["name"]);
  const parts = [name["firstName"], name["lastName"]].filter((part) => typeof part === "string");
  return parts.join(" ").trim() || undefined;
}
