import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { OidcClient, type OidcClientOptions, type ServerMetadata } from "../src/oidc/index.ts";

/** A provider that exists in memory only. */
export const issuer: string = "https://op.example";
/** What it says about itself. */
export const metadata: ServerMetadata = {
  issuer,
  authorization_endpoint: `${issuer}/auth?tenant=1`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  userinfo_endpoint: `${issuer}/me`,
  introspection_endpoint: `${issuer}/introspect`,
  pushed_authorization_request_endpoint: `${issuer}/par`,
  end_session_endpoint: `${issuer}/logout?x=1`,
};
/** The key of the provider. */
export const { privateKey, publicKey } = await generateKeyPair("RS256");
const jwk = { ...(await exportJWK(publicKey)), kid: "k", alg: "RS256" };

/** A request as it arrived. */
export interface Sent {
  readonly path: string;
  readonly headers: Headers;
  readonly form: URLSearchParams;
}

/** A client whose server answers each path with what is given for it, and what it was sent. */
export function connect(
  answers: Readonly<Record<string, (sent: Sent) => Response | Promise<Response>>>,
  options: OidcClientOptions & { readonly metadata?: Partial<ServerMetadata> } = {},
): { readonly client: OidcClient; readonly sent: Sent[] } {
  const { metadata: changes, ...rest } = options;
  const sent: Sent[] = [];
  const client = new OidcClient({ ...metadata, ...changes }, "app", "s3cr3t-value", {
    redirectUri: "https://app.example/cb",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/jwks") return Response.json({ keys: [jwk] });
      const form = new URLSearchParams(await request.text());
      const one = { path: pathname, headers: request.headers, form };
      sent.push(one);
      const answer = answers[pathname];
      if (answer === undefined) throw new Error(`nothing at ${pathname}`);
      return answer(one);
    },
    ...rest,
  });
  return { client, sent };
}

/** Signs claims with the key of the provider. */
export const sign = (claims: object, typ?: string): Promise<string> =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "RS256", kid: "k", ...(typ !== undefined && { typ }) })
    .sign(privateKey);
/** Seconds since 1970. */
export const now = (): number => Math.floor(Date.now() / 1000);
/** An ID token of the provider for the client. */
export const idToken = (claims: object = {}): Promise<string> =>
  sign({ iss: issuer, aud: "app", sub: "user", iat: now(), exp: now() + 60, ...claims });
/** An answer with a JWT. */
export const jwtAnswer = (type: string, body: string): Response =>
  new Response(body, { headers: { "content-type": type } });
/** An answer of no use. */
export const html = (): Response =>
  new Response("<html>", { headers: { "content-type": "text/html" } });
/** A redirect to somebody else. */
export const away = (): Response =>
  new Response(null, { status: 307, headers: { location: "https://evil.example/" } });
