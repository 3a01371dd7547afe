import type { Store, Stored } from "@fetchwork/documents";
import {
  AccessToken,
  OAuth2Error,
  TokenManager,
  TokenUnavailableError,
  type TokenHash,
} from "@fetchwork/oauth2";
import { ChallengeError } from "@fetchwork/oauth2/oidc";
import type { Fields } from "../../fields.ts";
import { notFound, Problem } from "../../problem.ts";
import { isOf } from "./account-provider.ts";
import { type Connection, providerProblem } from "./connection.ts";
import { type Identity, identityCollection, identityId } from "./identity.ts";
import { createKeptTokens, forgetIdentity, type KeptTokens } from "./kept-tokens.ts";
import type { Person } from "./linked-users.ts";

/** Operations on the tokens that providers issue for users. */
export interface ProviderAccess {
  /** Keeps a token of somebody who is linked. */
  keep(person: Person, token: AccessToken): Promise<void>;
  /**
   * Asks a provider what it knows of a user now, with the kept token, which is renewed where
   * needed.
   *
   * @throws Problem 404 without a link or token, 409 when the provider takes the token no more, 503
   */
  userInfo(connection: Connection, userId: string): Promise<Fields>;
  /** Links of a user, the oldest first. */
  links(userId: string): Promise<readonly Stored<Identity>[]>;
  /**
   * Ends a link of a user, forgets its token and revokes it. The token is forgotten here with any
   * response of the provider; the result is whether the provider has none any more.
   *
   * @throws Problem 404 without the link
   */
  unlink(
    userId: string,
    id: string,
    connectionOf: (issuer: string) => Connection | undefined,
  ): Promise<boolean>;
}

/** Makes {@link ProviderAccess}. */
export function createProviderAccess(store: Store, secret: string): ProviderAccess {
  const tokens = createKeptTokens(store, secret);
  const identities = store.collection(identityCollection);
  const links = (userId: string): Promise<readonly Stored<Identity>[]> =>
    identities.find({ where: { userId }, sort: ["createdAt"] });

  return {
    links,
    async keep(person, token) {
      const id = identityId(person.issuer, person.id);
      // Some providers give a refresh token at the first sign-in only.
      const hadRefreshToken = typeof (await tokens.get(id))?.["refresh_token"] === "string";
      if (token.refreshToken === undefined && hadRefreshToken) return;
      await new TokenManager(token.client, { store: tokens, key: id }).set(token);
      if ((await identities.get(id)) === undefined) await forgetIdentity(store, id, tokens);
    },

    async userInfo(connection, userId) {
      const { name } = connection.settings;
      const link = (await links(userId)).find(({ issuer }) => isOf(connection.settings, issuer));
      if (link === undefined) throw new Problem(404, { detail: `there is no link to ${name}` });
      const kept = await tokens.get(link.id);
      if (kept === undefined) {
        throw new Problem(404, { detail: `no token of ${name} is kept; sign in with it again` });
      }
      try {
        const client = await connection.provider.connect();
        // The manager is of this call only: the store, which all processes share, says what holds.
        const manager = new TokenManager(client, { store: tokens, key: link.id });
        return await ask(connection, manager, link.sub);
      } catch (error) {
        if (!(error instanceof OAuth2Error)) throw error;
        if (!isWithdrawn(error)) throw providerProblem(name, error);
        await forgetToken(tokens, link.id, kept);
        const detail = `${name} takes the token no more; sign in with it again`;
        throw new Problem(409, { detail, cause: error });
      }
    },

    async unlink(userId, id, connectionOf) {
      const link = await identities.get(id);
      if (link?.userId !== userId) throw notFound("link");
      const token = await forgetIdentity(store, id, tokens);
      return token === undefined || revoke(token, connectionOf(link.issuer));
    },
  };
}

async function ask(connection: Connection, manager: TokenManager, sub: string): Promise<Fields> {
  const token = await manager.getToken();
  try {
    return await profileOf(connection, token, sub);
  } catch (error) {
    if (!isRefused(error)) throw error;
    // Withdrawn before its time; another one may do.
    return profileOf(connection, await manager.getToken({ refused: token }), sub);
  }
}

/** The claims of OpenID Connect Core, 5.1, also of a provider that has other ones. */
async function profileOf(
  { preset, provider, settings }: Connection,
  token: AccessToken,
  expectedSub: string,
): Promise<Fields> {
  const client = await provider.connect();
  if (client.metadata.userinfo_endpoint !== undefined && preset.resources === undefined)
    return client.userInfo(token, { expectedSub });
  if (preset.resources === undefined)
    throw new Problem(404, { detail: `${settings.name} shows no profile` });
  const { email, emailVerified, id, name, picture } = await provider.readProfile(
    token,
    new URLSearchParams(),
  );
  if (id !== expectedSub) throw new OAuth2Error("the profile is that of another user");
  return { sub: id, email, email_verified: emailVerified, name, picture };
}

function isRefused(error: unknown): boolean {
  // A token endpoint that refuses this application says nothing about the user.
  return error instanceof OAuth2Error && error.status === 401 && error.code !== "invalid_client";
}

function isWithdrawn(error: OAuth2Error): boolean {
  const isGone = error instanceof TokenUnavailableError || error instanceof ChallengeError;
  return isGone || isRefused(error) || error.code === "invalid_grant";
}

/** Forgets a token unless another one replaced it: a refused refresh token is not sent again. */
async function forgetToken(tokens: KeptTokens, id: string, refused: TokenHash): Promise<void> {
  await tokens.lock(id, async () => {
    const current = await tokens.get(id);
    if (current?.["refresh_token"] === refused["refresh_token"]) await tokens.delete(id);
  });
}

async function revoke(hash: TokenHash, connection: Connection | undefined): Promise<boolean> {
  try {
    const client = await connection?.provider.connect();
    if (client?.metadata.revocation_endpoint === undefined) return false;
    const token = AccessToken.fromHash(client, hash);
    const kind = token.refreshToken === undefined ? "access_token" : "refresh_token";
    await token.revoke({ token_type_hint: kind });
    return true;
  } catch (error) {
    // The response says so; what is at the provider ends with its time.
    if (error instanceof OAuth2Error) return false;
    throw error;
  }
}
