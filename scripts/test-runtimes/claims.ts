import type { Runtime } from "./runtimes.ts";

/** Why an entry does not do its work on a runtime. */
export interface Exception {
  /** Whether it can be imported there all the same. */
  readonly imports: boolean;
  readonly reason: string;
}

/** Where one entry of a package does its work. */
export interface Claim {
  /** What a program imports. */
  readonly entry: string;
  /** Its test: a file of `program/smoke`. */
  readonly test: string;
  /** What the test does, in a few words for the table. */
  readonly does: string;
  /** What its test leaves out on a runtime where it runs. Default: nothing. */
  readonly without?: Readonly<Partial<Record<Runtime["id"], string>>>;
  /** Default: it does its work on every runtime. */
  readonly except?: Readonly<Partial<Record<Runtime["id"], Exception>>>;
}

const listens: Exception = { imports: true, reason: "listens, which a worker does not" };
const sockets: Exception = { imports: true, reason: "undici gets no connection there" };
const files: Exception = { imports: true, reason: "needs files that stay" };
const database: Exception = { imports: true, reason: "needs `node:sqlite`, or PostgreSQL" };
const store: Exception = {
  imports: false,
  reason: "keeps its documents in `@fetchwork/documents`",
};

/**
 * What the packages claim. A claim that does not hold fails `npm run test:runtimes`, and so does
 * one too few.
 */
export const claims: readonly Claim[] = [
  {
    entry: "@fetchwork/kit",
    test: "kit",
    does: "reads a body up to a limit, masks a URL, reads credentials and addresses",
  },
  {
    entry: "@fetchwork/endpoint",
    test: "endpoint",
    does: "expands a template, sends what it built",
  },
  {
    entry: "@fetchwork/endpoint/typed",
    test: "endpoint-typed",
    does: "typed calls, an error, a schema that refuses",
  },
  {
    entry: "@fetchwork/http",
    test: "http",
    does: "handler and middleware on the runtime's server; client: retries, streams, timeouts",
  },
  {
    entry: "@fetchwork/http/serve",
    test: "http-serve",
    does: "listens, answers, adapts a listener of Node, closes",
    except: { workerd: listens },
  },
  {
    entry: "@fetchwork/http/undici",
    test: "http-undici",
    does: "sends over connections of undici",
    except: { workerd: sockets },
  },
  {
    entry: "@fetchwork/middleware",
    test: "middleware",
    does: "sixteen middlewares in one chain",
    without: {
      workerd:
        "password hashes (Argon2id, bcrypt), whose WebAssembly is refused; gzip is made by the runtime, other codings are not",
    },
  },
  {
    entry: "@fetchwork/middleware/node",
    test: "middleware-node",
    does: "serves files and ranges, profiles the process",
    except: { workerd: files },
  },
  {
    entry: "@fetchwork/webhooks",
    test: "webhooks",
    does: "receives signed deliveries, refuses forged ones",
  },
  {
    entry: "@fetchwork/webhooks/github",
    test: "webhooks-github",
    does: "receives as GitHub signs",
  },
  {
    entry: "@fetchwork/webhooks/signature",
    test: "webhooks-signature",
    does: "signs and verifies a published vector",
  },
  {
    entry: "@fetchwork/webhooks/vendors",
    test: "webhooks-vendors",
    does: "receives as Standard Webhooks and Stripe sign",
  },
  {
    entry: "@fetchwork/webhooks/inbox",
    test: "webhooks-inbox",
    does: "stores a delivery once, handles it at the second try",
    except: { workerd: { ...store, imports: true } },
  },
  {
    entry: "@fetchwork/webhooks/portal",
    test: "webhooks-portal",
    does: "serves its page, manages the endpoints of a tenant and sends a test",
    except: { workerd: { ...store, imports: true } },
  },
  {
    entry: "@fetchwork/webhooks/sender",
    test: "webhooks-sender",
    does: "delivers at the second try",
    except: { workerd: { ...store, imports: true } },
  },
  {
    entry: "@fetchwork/oauth2",
    test: "oauth2",
    does: "authorization code with PKCE, one refresh for all",
  },
  {
    entry: "@fetchwork/oauth2/oidc",
    test: "oauth2-oidc",
    does: "discovery, sign-in, ID tokens",
  },
  {
    entry: "@fetchwork/oauth2/oidc/logout",
    test: "oauth2-logout",
    does: "verifies a logout token, ends a session",
  },
  {
    entry: "@fetchwork/oauth2/sign-in",
    test: "oauth2-sign-in",
    does: "login, callback, and one that is forged",
  },
  {
    entry: "@fetchwork/oauth2/mcp",
    test: "oauth2-mcp",
    does: "two refused calls, repeated with one refresh",
  },
  {
    entry: "@fetchwork/oauth2/compat",
    test: "oauth2-compat",
    does: "settings of the process, snake-case objects",
  },
  {
    entry: "@fetchwork/oauth2/node",
    test: "oauth2-node",
    does: "token over undici, kept in a file",
    except: { workerd: sockets },
  },
  {
    entry: "@fetchwork/oauth2/node/store",
    test: "oauth2-store",
    does: "token in a file, refreshed by one of two managers",
    except: { workerd: files },
  },
  {
    entry: "@fetchwork/documents",
    test: "documents",
    does: "documents in memory and in a SQLite file: unique, search, transactions",
    except: { workerd: database },
  },
  {
    entry: "@fetchwork/documents/jobs",
    test: "documents-jobs",
    does: "jobs in a SQLite file: in order, tried again, in a transaction, by schedule",
    except: { workerd: database },
  },
  {
    entry: "@fetchwork/rest",
    test: "rest",
    does: "an API: sign up, sign in, create, list, change",
    except: { workerd: store },
  },
  {
    entry: "@fetchwork/rest/accounts",
    test: "rest-accounts",
    does: "users who sign up, sign in, refresh their session and end it",
    except: { workerd: store },
  },
  {
    entry: "@fetchwork/rest/accounts/providers",
    test: "rest-accounts-providers",
    does: "sends users to a provider, refuses forged callbacks",
    except: { workerd: { ...store, imports: true } },
  },
  {
    entry: "@fetchwork/service",
    test: "service",
    does: "a service with users: settings, a call that queues a job, a job that runs",
    except: { workerd: store },
  },
  {
    entry: "@fetchwork/service/test",
    test: "service-test",
    does: "a service in memory, with clients of a user and of nobody",
    except: { workerd: store },
  },
  {
    entry: "@fetchwork/verify",
    test: "verify",
    does: "finds in a service what an anonymous caller reads against its definition",
    except: { workerd: store },
  },
  {
    entry: "@fetchwork/rest/handlers",
    test: "rest-handlers",
    does: "entity tags, conditions and merge patches of a route of one's own",
  },
  {
    entry: "@fetchwork/rest/client",
    test: "rest-client",
    does: "the typed client of an API on Node",
  },
  {
    entry: "@fetchwork/agent",
    test: "agent",
    does: "a scripted model writes a project",
    except: { workerd: files },
  },
  {
    entry: "@fetchwork/agent/acp",
    test: "agent-acp",
    does: "a prompt of an editor by the Agent Client Protocol",
    except: { workerd: files },
  },
  {
    entry: "@fetchwork/agent/server",
    test: "agent-server",
    does: "the task API over a socket",
    except: { workerd: listens },
  },
  {
    entry: "fetchwork",
    test: "fetchwork",
    does: "runs commands in the process",
    except: { workerd: { imports: true, reason: "is a program of a terminal" } },
  },
  {
    entry: "fetchwork/bin/fetchwork.mjs",
    test: "fetchwork-command",
    does: "the command: `new`, `add`, `agent --replay`",
    except: { workerd: { imports: false, reason: "is a program of a terminal" } },
  },
];
