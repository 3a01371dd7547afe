import { openStore, type Store } from "@fetchwork/documents";
import { runHandler, type Handler } from "@fetchwork/http";
import { createSessionTokens } from "@fetchwork/rest";
import type { OpenAccounts } from "@fetchwork/rest/accounts";
import type { OpenService } from "@fetchwork/service";
import { senderCollections } from "@fetchwork/webhooks/sender";
import { argon2id } from "../../packages/rest/src/accounts/argon2.ts";
import {
  emailChanges,
  issueToken,
  passwordResets,
} from "../../packages/rest/src/accounts/mails/mailed-tokens.ts";
import { passkeyCollection } from "../../packages/rest/src/accounts/passkeys/passkey.ts";
import { jwtSecret, masterKey, openBlog } from "../../examples/blog/test/open-blog.ts";
import { article } from "../../examples/blog/src/api/article/model.ts";
import { user } from "../../examples/blog/src/api/user/model.ts";
import { app as blog } from "../../examples/blog/src/app.ts";
import { createContract } from "./contract.ts";
import { operationsOf } from "./operations.ts";
import { createRandom } from "./random.ts";
import { makeRequest, type CallerName, type FuzzRequest, type Pools } from "./requests.ts";
import { writeRequest } from "./write-request.ts";

/** How the blog is fuzzed. */
export interface FuzzOptions {
  /** URL of an empty store. */
  readonly storeUrl: string;
  readonly seed: number;
  /** Number of requests that are sent. */
  readonly count: number;
  /** Stands around the handler, to add faults that must be found. Default: nothing. */
  readonly around?: ((handler: Handler) => Handler) | undefined;
}

/** What a fuzz found. */
export interface FuzzResult {
  readonly sent: number;
  /** One line for each kind of fault, with the seed, the number of the request, and the request. */
  readonly faults: readonly string[];
  /** Statuses by operation. */
  readonly statuses: ReadonlyMap<string, ReadonlySet<number>>;
  /** Names of the operations of the document. */
  readonly operations: readonly string[];
}

/** Requests after which the store is filled again. */
const roundLength = 200;

const password = "correct horse";
const passwordHash = await cheapHash();

/** Sends requests to the blog and checks each response against its OpenAPI document. */
export async function fuzzBlog({
  around = (handler) => handler,
  count,
  seed,
  storeUrl,
}: FuzzOptions): Promise<FuzzResult> {
  const random = createRandom(seed);
  const store = await openStore(storeUrl, { collections: blog.collections });
  const failures: unknown[] = [];
  const app = openWithUsers(store, {
    tokenLifetime: 3_600,
    signInFailures: 3,
    // Without a server of mails they are shown, where tests can leave them out.
    mail: { from: "blog@example.com", linkOrigins: ["https://app.example"] },
  });
  const tokens = createSessionTokens({ secret: jwtSecret, lifetime: 3_600 });
  const handler = around(app.handler);
  const operations = operationsOf(app.openApi);
  const checkHeaders = createContract(app.openApi);
  const faults = new Map<string, string>();
  const statuses = new Map<string, Set<number>>();
  const background: Promise<unknown>[] = [];
  let pools: Pools | undefined;
  let sent = 0;
  try {
    for (let turn = 0; sent < count; turn += 1) {
      if (pools === undefined || turn % roundLength === 0) {
        await Promise.all(background.splice(0));
        pools = await fill(app, store, turn / roundLength);
      }
      const made = makeRequest(random, operations, pools);
      const request = writeRequest(made, await tokenOf(made.credentials.caller, pools));
      if (!request) continue;
      sent += 1;
      const copy = request.clone();
      const response = await answer(request);
      const read = {
        status: response.status,
        headers: response.headers,
        text: await response.text(),
      };
      const name = made.operation?.id ?? "none";
      statuses.set(name, (statuses.get(name) ?? new Set()).add(read.status));
      const fault = checkHeaders(made, read);
      if (fault !== undefined) {
        const key = `${name} ${fault.slice(0, 60)}`;
        if (!faults.has(key)) {
          const why =
            failures.at(-1) instanceof Error && read.status >= 500
              ? ` (${String(failures.at(-1))})`
              : "";
          faults.set(
            key,
            `${name}: the response ${fault}${why}; seed ${seed}, request ${sent}: ${await shown(copy, made)}`,
          );
        }
      }
      remember(pools, made, read);
    }
    await Promise.all(background);
  } finally {
    await app.stop({ grace: 0 });
    await store.close();
  }
  return {
    sent,
    faults: [...faults.values()],
    statuses,
    operations: operations.map(({ id }) => id),
  };

  async function answer(request: Request): Promise<Response> {
    try {
      return await runHandler(handler, request, {
        // Another network in each round, since failures of a network are counted.
        ip: `198.51.100.${Math.floor(sent / roundLength) % 256}`,
        reportError: (error) => failures.push(error),
        waitUntil: (promise) =>
          background.push(promise.catch((error: unknown) => failures.push(error))),
      });
    } catch (error) {
      failures.push(error);
      return new Response(null, { status: 500 });
    }
  }

  async function tokenOf(
    caller: CallerName,
    { apiKeys, sessionTokens, users }: Pools,
  ): Promise<string | undefined> {
    if (caller === "nobody") return undefined;
    if (caller === "master") return masterKey;
    if (caller === "key") return random.pickOr(apiKeys, "none");
    const index = ["ann", "bob", "root"].indexOf(caller);
    // One of a session, which other requests may have ended, or one that lasts.
    if (index >= 0 && random.chance(0.3))
      return random.pickOr(sessionTokens.slice(index, index + 1), "none");
    const id = users[index];
    const account = id === undefined ? undefined : await store.collection(user.collection).get(id);
    return account ? tokens.issue(account) : "not-a-token";
  }
}

/** Empties the store and puts three users, their articles, a webhook and a reset into it. */
async function fill({ accounts, sender }: OpenBlog, store: Store, round: number): Promise<Pools> {
  for (const one of blog.collections) {
    await store.collection(one as typeof article.collection).removeMany({ where: {} });
  }
  const users: string[] = [];
  const emails: string[] = [];
  const articles: string[] = [];
  const resetTokens: string[] = [];
  const emailTokens: string[] = [];
  const apiKeys: string[] = [];
  const keyIds: string[] = [];
  const refreshTokens: string[] = [];
  const sessionTokens: string[] = [];
  const passkeys: string[] = [];
  const sessions: string[] = [];
  for (const name of ["ann", "bob", "root"]) {
    // Another address each time, since failures of an account are counted.
    const email = `${name}-${round}@example.com`;
    const role = name === "root" ? ("admin" as const) : ("user" as const);
    const picture = "https://pictures.example/1.png";
    const stored = await store
      .collection(user.collection)
      .insert({ name, email, role, picture, passwordHash, sessionVersion: 1 });
    users.push(stored.id);
    emails.push(email);
    const { context } = accounts;
    resetTokens.push(await issueToken(context, passwordResets, stored));
    emailTokens.push(await issueToken(context, emailChanges, stored, `new-${email}`));
    const { key, stored: kept } = await context.keys.create(stored, {
      name: "fuzz",
      scopes: ["articles:read", "users:read"],
    });
    apiKeys.push(key);
    keyIds.push(kept.id);
    const client = { address: undefined, agent: undefined, method: "password" } as const;
    const { refreshToken, token } = await accounts.context.sessions.begin(stored, client);
    refreshTokens.push(refreshToken);
    sessionTokens.push(token);
    const passkey = { user: stored.id, name: "p", credential: name, publicKey: "", counter: 0 };
    const more = { transports: [], isBackedUp: false, usedAt: null };
    passkeys.push((await store.collection(passkeyCollection).insert({ ...passkey, ...more })).id);
    for (const { id } of await accounts.context.sessions.list(stored)) sessions.push(id);
    const fields = { title: `Of ${name}`, content: "Some words", author: stored.id };
    articles.push((await store.collection(article.collection).insert(fields)).id);
  }
  const webhook = await sender.endpoints.create({
    url: "https://hooks.example/",
    events: ["article"],
  });
  const payload = JSON.stringify({ action: "created", article: { id: "one" } });
  const event = await store
    .collection(senderCollections.events)
    .insert({ name: "article", payload });
  // As the sender stores it, which does not run here.
  const stored = await store.collection(senderCollections.deliveries).insert({
    eventId: event.id,
    eventName: "article",
    endpointId: webhook.id,
    status: "pending",
    dueAt: event.createdAt,
    expiresAt: event.createdAt,
    attempts: 0,
    history: [],
  });
  return {
    users,
    emails,
    articles,
    webhooks: [webhook.id],
    deliveries: [stored.id],
    resetTokens,
    emailTokens,
    apiKeys,
    keyIds,
    refreshTokens,
    sessionTokens,
    passkeys,
    sessions,
    cursors: new Map(),
    password,
  };
}

function remember(
  { articles, cursors, webhooks }: Pools,
  { path, query }: FuzzRequest,
  { headers }: { readonly headers: Headers },
): void {
  if (query.every(([name]) => name !== "sort")) {
    const known = cursors.get(path) ?? [];
    for (const [, cursor = ""] of (headers.get("link") ?? "").matchAll(/[?&]after=([^&>]+)/g)) {
      if (known.length < 20) known.push(decodeURIComponent(cursor));
    }
    cursors.set(path, known);
  }
  const [, kind, id = ""] =
    /^\/(articles|webhooks)\/(.+)$/.exec(headers.get("location") ?? "") ?? [];
  if (kind === "articles") articles.push(id);
  if (kind === "webhooks") webhooks.push(id);
}

/** A request as a person repeats it. */
async function shown(request: Request, { credentials }: FuzzRequest): Promise<string> {
  const { headers, method, url } = request;
  const bytes = await request.text();
  return JSON.stringify({
    as: credentials.caller,
    method,
    url,
    headers: Object.fromEntries(headers),
    body: bytes.slice(0, 500),
  });
}

/** A hash of the lowest cost that there is, since sign-ins come by the hundred. */
async function cheapHash(): Promise<string> {
  const nonce = new Uint8Array(16);
  const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 32 };
  const tag = await argon2id({ ...cost, message: Buffer.from(password), nonce }, "first");
  const bare = (bytes: Uint8Array): string =>
    Buffer.from(bytes).toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=8,t=1,p=1$${bare(nonce)}$${bare(tag)}`;
}

/** The blog, which has users. */
type OpenBlog = OpenService & { readonly accounts: OpenAccounts };

function openWithUsers(...given: Parameters<typeof openBlog>): OpenBlog {
  const opened = openBlog(...given);
  const { accounts } = opened;
  if (accounts === undefined) throw new Error("the blog has users");
  return { ...opened, accounts };
}
