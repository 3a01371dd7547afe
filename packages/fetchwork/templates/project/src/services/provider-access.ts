// #if oidc
import type { Store, Stored } from "@fetchwork/documents";
import {
  AccessToken,
  OAuth2Error,
  TokenManager,
  TokenUnavailableError,
  type TokenHash,
} from "@fetchwork/oauth2";
import { ChallengeError, type OidcClient, type UserInfo } from "@fetchwork/oauth2/oidc";
import { Problem } from "@fetchwork/rest";
import { identities, identityId, type Identity } from "../api/social/model.ts";
import { createKeptTokens, forgetIdentity, type KeptTokens } from "./kept-tokens.ts";
import type { ProviderUser } from "./linked-users.ts";
import { providerProblem, type ProviderClients } from "./provider-clients.ts";
import { withoutSlash, type Provider } from "./providers.ts";
import type { Seal } from "./seal.ts";

/** What is done with the tokens that providers give for users. */
export interface ProviderAccess {
  /** Keeps a token of somebody who is linked. */
  keep(store: Store, person: ProviderUser, token: AccessToken): Promise<void>;
  /**
   * Asks a provider what it knows of a user now, with the token that is kept, which is renewed where needed.
   *
   * @throws Problem 404 without a link or token, 409 when the provider takes the token no more, 503
   */
  userInfo(store: Store, provider: Provider, userId: string): Promise<UserInfo>;
  /**
   * Ends the links of a user to a provider, forgets their tokens and revokes them. Whatever the provider answers, they
   * are forgotten here; the result is whether it has none any more.
   *
   * @throws Problem 404 without a link
   */
  unlink(store: Store, provider: Provider, userId: string): Promise<boolean>;
}

/** Makes {@link ProviderAccess}. */
export function createProviderAccess(clientOf: ProviderClients, seal: Seal): ProviderAccess {
  return {
    async keep(store, person, token) {
      const id = identityId(person.issuer, person.sub);
      const tokens = createKeptTokens(store, seal);
      // Some providers give a refresh token at the first sign-in only.
      if (token.refreshToken === undefined && hasRefreshToken(await tokens.get(id))) return;
      await new TokenManager(token.client, { store: tokens, key: id }).set(token);
      const isLinked = (await store.collection(identities).get(id)) !== undefined;
      if (!isLinked) await forgetIdentity(store, id);
    },

    async userInfo(store, provider, userId) {
      const { name } = provider;
      const [link] = await linksOf(store, provider, userId);
      if (link === undefined) throw notLinked(name);
      const tokens = createKeptTokens(store, seal);
      const kept = await tokens.get(link.id);
      if (kept === undefined) {
        throw new Problem(404, { detail: `no token of ${name} is kept; sign in with it again` });
      }
      try {
        const client = await clientOf(provider);
        // Of this call only: the store, which all processes share, says what holds.
        const manager = new TokenManager(client, { store: tokens, key: link.id });
        return await ask(client, manager, link.sub);
      } catch (error) {
        if (!isWithdrawn(error)) throw providerProblem(name, error);
        await forgetToken(tokens, link.id, kept);
        const detail = `${name} takes the token no more; sign in with it again`;
        throw new Problem(409, { detail, cause: error });
      }
    },

    async unlink(store, provider, userId) {
      const links = await linksOf(store, provider, userId);
      if (links.length === 0) throw notLinked(provider.name);
      const tokens = createKeptTokens(store, seal);
      const revoked: boolean[] = [];
      for (const { id } of links) {
        const token = await forgetIdentity(store, id, tokens);
        revoked.push(token === undefined || (await revoke(clientOf, provider, token)));
      }
      return revoked.every(Boolean);
    },
  };
}

/** The links of a user to a provider, the first one first. */
async function linksOf(
  store: Store,
  provider: Provider,
  userId: string,
): Promise<readonly Stored<Identity>[]> {
  const links = await store.collection(identities).find({ where: { userId }, sort: ["createdAt"] });
  const issuer = withoutSlash(provider.issuer);
  return links.filter((link) => withoutSlash(link.issuer) === issuer);
}

async function ask(client: OidcClient, manager: TokenManager, sub: string): Promise<UserInfo> {
  const token = await manager.getToken();
  try {
    return await client.userInfo(token, { expectedSub: sub });
  } catch (error) {
    if (!isRefused(error)) throw error;
    // Withdrawn before its time; another one may do.
    const other = await manager.getToken({ refused: token });
    return client.userInfo(other, { expectedSub: sub });
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof ChallengeError && error.status === 401;
}

function isWithdrawn(error: unknown): boolean {
  if (error instanceof ChallengeError || error instanceof TokenUnavailableError) return true;
  return error instanceof OAuth2Error && error.code === "invalid_grant";
}

/** Forgets a token, unless another one has come meanwhile: a refresh token that is refused is not to be sent again. */
async function forgetToken(tokens: KeptTokens, id: string, refused: TokenHash): Promise<void> {
  await tokens.lock(id, async () => {
    const current = await tokens.get(id);
    if (current?.["refresh_token"] === refused["refresh_token"]) await tokens.delete(id);
  });
}

async function revoke(
  clientOf: ProviderClients,
  provider: Provider,
  hash: TokenHash,
): Promise<boolean> {
  try {
    const client = await clientOf(provider);
    if (client.metadata.revocation_endpoint === undefined) return false;
    const token = AccessToken.fromHash(client, hash);
    await token.revoke({
      token_type_hint: token.refreshToken === undefined ? "access_token" : "refresh_token",
    });
    return true;
  } catch (error) {
    // The answer says so; what is at the provider ends with its time.
    if (error instanceof OAuth2Error) return false;
    throw error;
  }
}

function hasRefreshToken(hash: TokenHash | undefined): boolean {
  return typeof hash?.["refresh_token"] === "string";
}

function notLinked(name: string): Problem {
  return new Problem(404, { detail: `there is no link to ${name}` });
}
// #endif
