import { X509Certificate } from "node:crypto";
import { TLSSocket, type PeerCertificate } from "node:tls";
import type { KoaContextWithOIDC } from "oidc-provider";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeTransport } from "../../src/node/node-transport.ts";
import { OidcClient, type OidcClientOptions } from "../../src/oidc/index.ts";
import {
  hasOpenssl,
  makeCertificates,
  type Certificate,
  type Certificates,
} from "../certificates.ts";
import { startProvider, type ProviderServer } from "../provider-server.ts";

describe.skipIf(!hasOpenssl())(
  "clients with certificates, against oidc-provider (needs openssl)",
  () => {
    let certificates: Certificates;
    let server: ProviderServer;

    beforeAll(async () => {
      certificates = makeCertificates();
      const { ca, server: own, selfSigned } = certificates;
      const { publicKey, raw } = new X509Certificate(selfSigned.cert);
      const jwk = { ...publicKey.export({ format: "jwk" }), x5c: [raw.toString("base64")] };
      const common = {
        grant_types: ["client_credentials"],
        response_types: [],
        redirect_uris: [],
        tls_client_certificate_bound_access_tokens: true,
      };
      server = await startProvider(
        () => ({
          clients: [
            {
              client_id: "by-authority",
              token_endpoint_auth_method: "tls_client_auth",
              tls_client_auth_subject_dn: "CN=client",
              ...common,
            },
            {
              client_id: "by-itself",
              token_endpoint_auth_method: "self_signed_tls_client_auth",
              jwks: { keys: [jwk] },
              ...common,
            },
          ],
          clientAuthMethods: ["tls_client_auth", "self_signed_tls_client_auth"],
          features: {
            devInteractions: { enabled: false },
            clientCredentials: { enabled: true },
            introspection: { enabled: true },
            mTLS: {
              enabled: true,
              certificateBoundAccessTokens: true,
              tlsClientAuth: true,
              selfSignedTlsClientAuth: true,
              getCertificate: (ctx) => peer(ctx).x509 ?? "",
              certificateAuthorized: (ctx) => peer(ctx).isAuthorized,
              certificateSubjectMatches: (ctx, property, expected) =>
                property === "tls_client_auth_subject_dn" && expected === `CN=${peer(ctx).name}`,
            },
          },
        }),
        { ...own, ca, requestCert: true, rejectUnauthorized: false },
      );
    });

    afterAll(async () => server.close());

    const client = (id: string, certificate?: Certificate): Promise<OidcClient> => {
      const { ca } = certificates;
      // Of a fetch that is given, nobody can tell whether it has a certificate.
      const sender: OidcClientOptions =
        certificate === undefined
          ? { fetch: nodeTransport({ ca }) }
          : { connectionOpts: { ca, ...certificate } };
      return OidcClient.discover(server.issuer, id, null, {
        authScheme: "tls_client_auth",
        ...sender,
      });
    };

    it("are refused where they have none, before anything is sent", async () => {
      const { issuer } = server;
      const { ca } = certificates;
      const options: OidcClientOptions = {
        authScheme: "tls_client_auth",
        connectionOpts: { ca },
      };
      await expect(OidcClient.discover(issuer, "by-authority", null, options)).rejects.toThrow(
        "tls_client_auth needs a certificate",
      );
    });

    it("get a token that is bound to the certificate, signed by an authority", async () => {
      const oidc = await client("by-authority", certificates.client);
      const token = await oidc.clientCredentials.getToken();
      const introspection = await oidc.introspect(token);
      const { fingerprint256 } = new X509Certificate(certificates.client.cert);
      const thumbprint = Buffer.from(fingerprint256.replaceAll(":", ""), "hex").toString(
        "base64url",
      );
      expect(introspection).toMatchObject({ active: true, cnf: { "x5t#S256": thumbprint } });
    });

    it("get a token with a certificate that has signed itself", async () => {
      const oidc = await client("by-itself", certificates.selfSigned);
      expect((await oidc.clientCredentials.getToken()).token).not.toBe("");
    });

    it.each<readonly [string, string, keyof Certificates | undefined]>([
      ["no certificate", "by-authority", undefined],
      ["that of another subject", "by-authority", "stranger"],
      ["one of no authority", "by-authority", "selfSigned"],
      ["no certificate", "by-itself", undefined],
      ["another one that has signed itself", "by-itself", "otherSelfSigned"],
    ])("get nothing with %s, as %s", async (_case, id, name) => {
      const certificate = name === undefined ? undefined : certificates[name];
      const oidc = await client(id, typeof certificate === "string" ? undefined : certificate);
      await expect(oidc.clientCredentials.getToken()).rejects.toMatchObject({
        code: "invalid_client",
        status: 401,
      });
    });

    it("trust no server whose authority they were not told", async () => {
      const { issuer } = server;
      await expect(OidcClient.discover(issuer, "by-itself")).rejects.toMatchObject({
        code: "ERR_OAUTH_CONNECTION",
      });
    });
  },
);

function peer({ req }: KoaContextWithOIDC): {
  readonly x509: X509Certificate | undefined;
  readonly isAuthorized: boolean;
  readonly name: string;
} {
  const { socket } = req;
  if (!(socket instanceof TLSSocket)) throw new Error("no TLS");
  const x509 = socket.getPeerX509Certificate();
  const { subject }: Partial<PeerCertificate> = socket.getPeerCertificate();
  return { x509, isAuthorized: socket.authorized, name: String(subject?.CN) };
}
