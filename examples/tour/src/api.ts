import { createEndpoint, type Endpoint } from "@fetchwork/endpoint";

/** Makes a builder of requests for an API; with a token they are those of its user. */
export function apiAt(origin: string, token?: string): Endpoint {
  const endpoint = createEndpoint({ baseUrl: origin, userAgent: "tour" });
  if (token === undefined) return endpoint;
  return endpoint.defaults({ headers: { authorization: `Bearer ${token}` } });
}
