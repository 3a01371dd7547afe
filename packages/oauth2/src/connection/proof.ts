import type { Received } from "./connection.ts";
import type { OAuth2Response } from "../message/response.ts";

/** Request that a {@link RequestProof} proves. */
export interface ProofTarget {
  readonly method: string;
  readonly url: URL;
  /** Access token that is sent along; `undefined` at endpoints of the authorization server. */
  readonly token: string | undefined;
}

/** Proves with every request the possession of a key (DPoP, RFC 9449). */
export interface RequestProof {
  /** Thumbprint of the public key for authorization (`dpop_jkt`). Default: none. */
  readonly thumbprint?: string | undefined;
  /** Returns the value of the header `DPoP`. */
  prove(target: ProofTarget): Promise<string>;
  /**
   * Receives every response. Returns whether the server asked for a nonce (RFC 9449, 8 and 9). The
   * request must then be sent again with a new proof. Also called for the second response; its
   * result is then ignored.
   */
  accept(response: OAuth2Response, target: ProofTarget): boolean;
}

/** A request that may carry a proof. */
export interface ProvenRequest<R extends Received> {
  readonly proof: RequestProof | undefined;
  readonly target: ProofTarget;
  /** Sends the request, with this value of the header `DPoP`. */
  readonly send: (dpop: string | undefined) => Promise<R>;
  /** Whether the request can be sent twice. Default: true. */
  readonly isRepeatable?: boolean | undefined;
}

/** Sends a request with a proof if there is one, and once more when the server asks for a nonce. */
export async function sendProven<R extends Received>({
  proof,
  target,
  send,
  isRepeatable = true,
}: ProvenRequest<R>): Promise<R> {
  if (proof === undefined) return send(undefined);
  const first = await send(await proof.prove(target));
  if (!proof.accept(first.head, target) || !isRepeatable) return first;
  await first.stream?.body?.cancel();
  const second = await send(await proof.prove(target));
  proof.accept(second.head, target);
  return second;
}
