import { VersionError, type Store, type Stored } from "@fetchwork/documents";
import type { Account } from "../../account.ts";
import type { SessionTokens } from "../../session-tokens.ts";
import type { SessionResponse, SignInMethod } from "../account-operations.ts";
import type { UserResource } from "../users/define-user.ts";
import { whileSignedIn } from "../users/while-signed-in.ts";
import type { RefreshTokens } from "./refresh-token.ts";
import { type Session, sessionCollection } from "./session.ts";

/** The client that signs in. */
export interface Client {
  readonly address: string | undefined;
  readonly agent: string | undefined;
}

/** Tokens with which a client acts for a user. */
export type SessionGrant = Omit<SessionResponse, "user">;

/** Outcome of a refresh. */
export type Refreshed =
  | { readonly outcome: "refreshed"; readonly account: Account; readonly grant: SessionGrant }
  /** A token that was used before was shown again: somebody copied it, and the session ended. */
  | { readonly outcome: "reused"; readonly user: string }
  | { readonly outcome: "refused" };

/** The sessions of users. */
export interface Sessions {
  /** @throws Problem 401 when the sessions of the user were ended since the account was read. */
  begin(account: Account, by: Client & { readonly method: SignInMethod }): Promise<SessionGrant>;
  refresh(refreshToken: string, by: Client): Promise<Refreshed>;
  /** Whether a session has neither ended nor expired. */
  isLive(session: string): Promise<boolean>;
  /** The sessions of a user, the last used one first. */
  list(account: Account): Promise<readonly Stored<Session>[]>;
  /** Ends a session of a user; `false` where there is none. */
  end(user: string, session: string): Promise<boolean>;
  /** Ends all sessions of a user. */
  endAll(user: string): Promise<void>;
}

/** Options of {@link createSessions}. */
export interface SessionsOptions {
  readonly store: Store;
  readonly tokens: SessionTokens;
  readonly refreshTokens: RefreshTokens;
  readonly users: UserResource;
  /** Finds the account of a user. */
  readonly accountOf: (user: string) => Promise<Account | undefined>;
}

/** Time after which a session that is not refreshed ends, in milliseconds. */
const lifetime = 30 * 86_400_000;

/** A user has as many sessions at most; with one more the one that was used longest ago ends. */
const maxSessions = 100;

/**
 * Time in which a refresh may be repeated, in milliseconds: two windows of one browser refresh at
 * once, and a response may be lost. Each gets the same refresh token.
 */
const repeatTime = 30_000;

/** Makes {@link Sessions}. */
export function createSessions(options: SessionsOptions): Sessions {
  const { accountOf, refreshTokens, store, tokens, users } = options;
  const sessions = store.collection(sessionCollection);

  return {
    async begin(account, { method, ...client }) {
      const { id: user, sessionVersion } = account;
      await endOldest(user);
      const begun: Session = {
        user,
        sessionVersion,
        method,
        ...seen(client),
        generation: 0,
        usedAt: Date.now(),
        expiresAt: Date.now() + lifetime,
      };
      const session = await whileSignedIn(store, users, account, (transaction) =>
        transaction.collection(sessionCollection).insert(begun),
      );
      return grantFor(account, session);
    },
    async refresh(refreshToken, client) {
      const claims = refreshTokens.read(refreshToken);
      if (claims === undefined) return { outcome: "refused" };
      const session = await sessions.get(claims.session);
      if (session === undefined || session.expiresAt <= Date.now()) return { outcome: "refused" };
      const account = await accountOf(session.user);
      if (account?.sessionVersion !== session.sessionVersion) return { outcome: "refused" };
      const turned = await turn(session, claims.generation, client);
      if (turned === "ended") return { outcome: "refused" };
      if (turned !== "reused") {
        return { outcome: "refreshed", account, grant: await grantFor(account, turned) };
      }
      await sessions.remove(session.id);
      return { outcome: "reused", user: session.user };
    },
    async isLive(id) {
      const session = await sessions.get(id);
      return session !== undefined && session.expiresAt > Date.now();
    },
    async list({ id: user, sessionVersion }) {
      const found = await sessions.find({ where: { user }, limit: maxSessions });
      return found
        .filter((one) => one.sessionVersion === sessionVersion && one.expiresAt > Date.now())
        .toSorted((one, other) => other.usedAt - one.usedAt);
    },
    async end(user, id) {
      const session = await sessions.get(id);
      return session?.user === user && sessions.remove(id);
    },
    async endAll(user) {
      await sessions.removeMany({ where: { user } });
    },
  };

  /** Takes the next turn of a session, unless it has ended or the token's turn is over. */
  async function turn(
    session: Stored<Session>,
    generation: number,
    client: Client,
  ): Promise<Stored<Session> | "ended" | "reused"> {
    if (generation === session.generation) {
      const change = { ...seen(client), usedAt: Date.now(), expiresAt: Date.now() + lifetime };
      try {
        const next = { ...change, generation: generation + 1 };
        return (await sessions.update(session.id, next, { ifVersion: session })) ?? "ended";
      } catch (error) {
        if (!(error instanceof VersionError)) throw error;
        // Another window was faster; it has taken the turn that this one wanted.
        const current = await sessions.get(session.id);
        return current ? turn(current, generation, client) : "ended";
      }
    }
    const isRepeated =
      generation === session.generation - 1 && Date.now() - session.usedAt <= repeatTime;
    return isRepeated ? session : "reused";
  }

  async function grantFor(account: Account, session: Stored<Session>): Promise<SessionGrant> {
    const { generation, id } = session;
    return {
      token: await tokens.issue({ ...account, session: id }),
      expiresIn: tokens.lifetime,
      refreshToken: refreshTokens.make({ session: id, generation }),
    };
  }

  async function endOldest(user: string): Promise<void> {
    const found = await sessions.find({ where: { user }, limit: maxSessions + 1 });
    if (found.length < maxSessions) return;
    const oldest = found.toSorted((one, other) => one.usedAt - other.usedAt);
    for (const { id } of oldest.slice(0, found.length - maxSessions + 1)) await sessions.remove(id);
  }
}

/** A name of a client may be any text that fits a header; it is shown to its user only. */
function seen({ address, agent }: Client): Pick<Session, "address" | "agent"> {
  return { address: address?.slice(0, 100) ?? null, agent: agent?.slice(0, 300) ?? null };
}
