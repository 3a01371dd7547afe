import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { OAuth2Issuer, OAuth2Service } from "oauth2-mock-server";
import { closeServer } from "./provider-server.ts";

/** An `oauth2-mock-server` on this machine, with its endpoints below `/<realm>`. */
export interface MockServer {
  /** URL without the realm. */
  readonly base: string;
  readonly issuer: OAuth2Issuer;
  readonly service: OAuth2Service;
  close(): Promise<void>;
}

/** Starts a mock server with one RSA key. */
export async function startMockServer(realm: string): Promise<MockServer> {
  const issuer = new OAuth2Issuer();
  await issuer.keys.generate("RS256");
  const service = new OAuth2Service(issuer);
  const server = createServer((request, response) => {
    const { url = "" } = request;
    if (!url.startsWith(`/${realm}/`)) {
      response.writeHead(404).end();
      return;
    }
    request.url = url.slice(realm.length + 1);
    service.requestHandler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  issuer.url = `${base}/${realm}`;
  return { base, issuer, service, close: () => closeServer(server) };
}
