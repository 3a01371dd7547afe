import { Browser, startProvider, type Page } from "../../../oauth2/test/provider-server.ts";

/** A provider and what was asked of its token endpoints. */
export interface SignInServer {
  readonly issuer: string;
  /** Grant types of the tokens that it gave, in their order. */
  readonly grants: readonly string[];
  close(): Promise<void>;
}

export const clientSecret = "canary-client-secret-canary-client";

/**
 * Starts `oidc-provider` with a public client `cli`, a confidential one `secret`, and a device
 * client.
 */
export async function startSignInServer(accessTokenLifetime = 3600): Promise<SignInServer> {
  const given: string[] = [];
  const grants = ["authorization_code", "refresh_token"];
  const server = await startProvider(() => ({
    pkce: { required: () => true },
    clients: [
      {
        client_id: "cli",
        token_endpoint_auth_method: "none",
        application_type: "native",
        redirect_uris: ["http://127.0.0.1/callback"],
        grant_types: [...grants, "urn:ietf:params:oauth:grant-type:device_code"],
      },
      {
        client_id: "secret",
        client_secret: clientSecret,
        application_type: "native",
        redirect_uris: ["http://127.0.0.1/callback"],
        grant_types: grants,
      },
    ],
    scopes: ["openid", "offline_access", "email", "profile"],
    issueRefreshToken: (_ctx, _client, code) => code.scopes.has("offline_access"),
    rotateRefreshToken: () => true,
    ttl: { AccessToken: () => accessTokenLifetime },
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      introspection: { enabled: true, allowedPolicy: () => true },
      userinfo: { enabled: true },
    },
  }));
  server.provider.on("grant.success", ({ oidc }) =>
    given.push(String(oidc.params?.["grant_type"])),
  );
  return { issuer: server.issuer, grants: given, close: () => server.close() };
}

/** Follows the address as a browser does, up to the page of the command. */
export function signIn(url: string): Promise<Page> {
  return new Browser().open(url);
}

/** Types the code of a device. */
export async function confirmDevice(
  address: string,
  userCode: string,
  choice: Readonly<Record<string, string>> = { confirm: "yes" },
): Promise<void> {
  const browser = new Browser();
  const xsrfOf = ({ text }: Page): string => /name="xsrf" value="([^"]+)"/.exec(text)?.[1] ?? "";
  const first = await browser.open(address);
  const form = { xsrf: xsrfOf(first), user_code: userCode };
  const second = await browser.open(address, "none", form);
  const last = { xsrf: xsrfOf(second), user_code: userCode, ...choice };
  await browser.open(address, "none", last);
}
