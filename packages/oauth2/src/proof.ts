import type { OAuth2Response } from "./response.ts";

/** What a {@link RequestProof} is asked to prove. */
export interface ProofTarget {
  readonly method: string;
  readonly url: URL;
  /** Access token that is sent along; `undefined` at endpoints of the authorization server. */
  readonly token: string | undefined;
}

/** Proves with every request the possession of a key (DPoP, RFC 9449). */
export interface RequestProof {
  /** Gives the value of the header `DPoP`. */
  prove(target: ProofTarget): Promise<string>;
  /**
   * Looks at every answer, and says whether the request is to be sent once more with a new proof, since the server
   * asked for a nonce (RFC 9449, 8 and 9). Asked again for the second answer; what it says then counts for nothing.
   */
  accept(response: OAuth2Response, target: ProofTarget): boolean;
}
