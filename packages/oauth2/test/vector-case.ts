import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "vitest";
import {
  AccessToken,
  OAuth2Client,
  OAuth2Error,
  OAuth2UsageError,
  type OAuth2Response,
  type TokenOptions,
  type TokenParams,
} from "../src/index.ts";
import {
  json,
  startScriptedServer,
  type ScriptedAnswer,
  type ScriptedServer,
  type SeenRequest,
} from "./scripted-server.ts";

/** The clock of every case, in seconds since the epoch. */
export const now = 1_800_000_000;

export interface Hash {
  readonly [key: string]: unknown;
}

export interface Wire {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly host: string;
}

export interface Input {
  readonly client?: {
    readonly id?: string;
    readonly secret?: string | null;
    readonly options?: Hash;
  };
  readonly op: string;
  readonly grant?: string;
  readonly params?: Hash;
  readonly tokenOptions?: Hash;
  readonly server?: readonly ScriptedAnswer[];
  readonly token?: Hash;
  readonly verb?: string;
  readonly path?: string;
  readonly opts?: Hash;
  readonly code?: string;
  readonly username?: string;
  readonly password?: string;
  readonly claims?: Hash;
  readonly encoding?: { readonly algorithm: string; readonly key: string; readonly kid?: string };
  readonly value?: string;
  readonly hint?: "access_token" | "refresh_token";
  readonly hash?: Hash;
  readonly options?: Hash;
  readonly form?: string;
}

/** What the original did. */
export interface Recorded {
  readonly result?: unknown;
  readonly error?: {
    readonly class: string;
    readonly code?: unknown;
    readonly description?: unknown;
  };
  readonly wire?: readonly Wire[];
}

export interface VectorCase {
  readonly name: string;
  readonly input: Input;
  readonly gem: Recorded;
  readonly policy: "same" | "fix" | "choice";
  /**
   * What ours must do where it is not the same: words, a value, or a record in the form of `gem`.
   */
  readonly want?: unknown;
}

/** A case of `snake-case.json`. */
export interface SnakeCaseCase {
  readonly name: string;
  readonly input: string | object;
  readonly gem: unknown;
}

/** Cases of one file. */
export interface VectorFile {
  /** Name without its extension. */
  readonly name: string;
  readonly cases: readonly VectorCase[];
}

/** What ours did. */
export interface Outcome {
  /** In the form of the recorded results. */
  readonly result: unknown;
  /** The token of the result. */
  readonly token: AccessToken | undefined;
  readonly error: unknown;
  readonly seen: readonly SeenRequest[];
  readonly warnings: readonly string[];
}

/** Folder of the cases that belong to the package. */
export const ownVectors: string = join(import.meta.dirname, "vectors");

/** Folder of the cases: that of the package, or the one that `FETCHWORK_VECTORS` names. */
export function vectorFolder(given: string | undefined = process.env["FETCHWORK_VECTORS"]): string {
  if (given === undefined) return ownVectors;
  const inside = join(given, "oauth2");
  return existsSync(inside) ? inside : given;
}

/** Reads all files of a folder; those of `snake-case.json` are of another form. */
export function readVectors(folder: string): readonly VectorFile[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return files.map((file) => {
    const { cases } = JSON.parse(readFileSync(join(folder, file), "utf8")) as VectorFile;
    return { name: basename(file, ".json"), cases };
  });
}

/** Runs cases against a scripted server. */
export class CaseRunner implements AsyncDisposable {
  readonly #seen: SeenRequest[];
  readonly #base: ScriptedServer;
  readonly #base2: ScriptedServer;

  private constructor(seen: SeenRequest[], base: ScriptedServer, base2: ScriptedServer) {
    this.#seen = seen;
    this.#base = base;
    this.#base2 = base2;
  }

  static async start(): Promise<CaseRunner> {
    const seen: SeenRequest[] = [];
    const evil = json({ access_token: "EVIL", token_type: "bearer" });
    const base2 = await startScriptedServer("BASE2", seen, evil);
    return new CaseRunner(seen, await startScriptedServer("BASE", seen), base2);
  }

  /** Puts the origins of the servers in their places. */
  fill(test: VectorCase): VectorCase {
    const text = JSON.stringify(test);
    return JSON.parse(
      text.replaceAll("{BASE2}", this.#base2.origin).replaceAll("{BASE}", this.#base.origin),
    ) as VectorCase;
  }

  async run({ input }: VectorCase): Promise<Outcome> {
    this.#seen.length = 0;
    this.#base.script = input.server ?? [];
    const warnings: string[] = [];
    const done = { warnings, result: undefined, token: undefined, error: undefined };
    try {
      const returned = await perform(input, this.#clientOf(input, warnings));
      return { ...done, ...returned, seen: [...this.#seen] };
    } catch (error) {
      return { ...done, error, seen: [...this.#seen] };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#base[Symbol.asyncDispose]();
    await this.#base2[Symbol.asyncDispose]();
  }

  /** Made when it is first used, since it may throw. */
  #clientOf({ client = {} }: Input, warnings: string[]): () => OAuth2Client {
    const site = this.#base.origin;
    const options = { site, clock: () => now * 1000, ...camel(client.options) };
    if (client.options?.["site"] === null) Reflect.deleteProperty(options, "site");
    const logger = { debug: () => {}, warn: (text: string) => void warnings.push(text) };
    // What is recorded says nothing of the certificate, which an own `fetch` is trusted to have.
    if (client.options?.["auth_scheme"] === "tls_client_auth") Object.assign(options, { fetch });
    const { id = "abc", secret = "def" } = client;
    return () => new OAuth2Client(id, secret, { logger, ...options });
  }
}

/** Options by our names; those that are null are left out. */
export function camel(options: Hash = {}): Hash {
  const names = Object.entries(options).filter(([, value]) => value !== null);
  return Object.fromEntries(
    names.map(([key, value]) => [
      key.replace(/_([a-z])/g, (_, char: string) => char.toUpperCase()),
      value,
    ]),
  );
}

/** Names of how a call is made, among parameters with wire names. */
function paramsOf({ token_method, ...params }: Hash = {}): TokenParams {
  // A string of the vectors.
  return token_method === undefined ? params : { ...params, tokenMethod: token_method as "post" };
}

/** Names of the options of a token; what else is there is a field. */
export const optionNames: readonly string[] = [
  "mode",
  "header_format",
  "param_name",
  "token_name",
  "expires_latency",
];

function tokenOptionsOf(options: Hash = {}): TokenOptions {
  const entries = Object.entries(options).map(([key, value]) =>
    optionNames.includes(key)
      ? Object.entries(camel({ [key]: value ?? undefined }))
      : [[key, value]],
  );
  return Object.fromEntries(entries.flat());
}

type Returned = Partial<Pick<Outcome, "result" | "token">>;

async function perform(input: Input, clientOf: () => OAuth2Client): Promise<Returned> {
  const client = clientOf();
  const { params = {}, grant } = input;
  switch (input.op) {
    case "fromHash": {
      const hash = input.hash ?? {};
      const token = AccessToken.fromHash(client, hash, tokenOptionsOf(input.options));
      return { token, result: { token: describeToken(token), to_hash: token.toHash() } };
    }
    case "fromKvform":
      return ofToken(AccessToken.fromKvform(client, input.form ?? ""));
    case "authorizeUrl": {
      const strategy = grant === "authCode" ? client.authCode : client;
      return { result: (grant === "implicit" ? client.implicit : strategy).authorizeUrl(params) };
    }
    case "tokenUrl":
      return { result: client.tokenUrl(params) };
    case "revokeUrl":
      return { result: client.revokeUrl(params) };
    case "getToken":
      return ofToken(await requestToken(client, input));
    case "refresh": {
      const known = AccessToken.fromHash(client, input.token ?? {});
      return ofToken(await known.refresh(paramsOf(params), tokenOptionsOf(input.tokenOptions)));
    }
    case "revoke":
      return { result: (await revoke(client, input)).status };
    case "request":
      return { result: describeResponse(await request(client, input)) };
    default:
      throw new Error(`unknown operation ${input.op}`);
  }
}

/** With `raise_errors` false there may be no token. */
function ofToken(token: AccessToken | null | undefined): Returned {
  return { token: token ?? undefined, result: token ? describeToken(token) : null };
}

function describeToken(token: AccessToken): unknown {
  return {
    token: token.token,
    refresh_token: token.refreshToken ?? null,
    expires_in: token.expiresIn ?? null,
    expires_at: token.expiresAt ?? null,
    expired: token.expired(),
    extra: plain(token.params),
  };
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function requestToken(client: OAuth2Client, input: Input): Promise<AccessToken> {
  const params = paramsOf(input.params);
  const options = tokenOptionsOf(input.tokenOptions);
  switch (input.grant) {
    case "clientCredentials":
      return client.clientCredentials.getToken(params, options);
    case "authCode":
      return client.authCode.getToken(input.code ?? "", params, options);
    case "password":
      return client.password.getToken(input.username ?? "", input.password ?? "", params, options);
    case "assertion":
      return client.assertion.getToken(
        input.claims ?? {},
        input.encoding ?? { algorithm: "", key: "" },
        params,
        options,
      );
    default:
      return client.getToken(params, options);
  }
}

function revoke(client: OAuth2Client, input: Input): Promise<OAuth2Response> {
  const params = paramsOf(input.params);
  return input.token === undefined
    ? client.revokeToken(input.value ?? "", input.hint, params)
    : AccessToken.fromHash(client, input.token).revoke(params);
}

function request(client: OAuth2Client, input: Input): Promise<OAuth2Response> {
  const { verb = "get", path = "" } = input;
  const opts = camel(input.opts);
  return input.token === undefined
    ? client.request(verb, path, opts)
    : AccessToken.fromHash(client, input.token).request(verb, path, opts);
}

function describeResponse(response: OAuth2Response): unknown {
  return {
    status: response.status,
    body: response.body,
    content_type: response.contentType,
    parsed: plain(response.parsed),
  };
}

/**
 * A recorded result as our decisions want it: what no parser knows is the text (1A.4), also where
 * that is empty, for which the gem has nothing.
 */
function settled(result: unknown): unknown {
  const { body, content_type, parsed } = Object(result) as Hash;
  const isUnparsed = body === "" && content_type === "" && parsed === null;
  return isUnparsed ? { ...Object(result), parsed: body } : result;
}

/** A URL with its query as a sorted list, since the order means nothing. */
function comparable(url: unknown): unknown {
  if (typeof url !== "string" || !/^https?:/.test(url)) return url;
  const { origin, pathname, searchParams, hash } = new URL(url);
  return { origin, pathname, hash, query: sorted(searchParams) };
}

function sorted(pairs: Iterable<readonly [string, string]>): readonly string[] {
  return Array.from(pairs, ([name, value]) => `${name}=${value}`).toSorted();
}

function comparableWire(wire: Wire | SeenRequest): unknown {
  const { pathname, searchParams } = new URL(wire.target, "http://host");
  const type = wire.headers["content-type"]?.split(";")[0];
  const form = type === "application/x-www-form-urlencoded";
  const named = Object.entries(wire.headers).filter(
    ([name]) => name === "authorization" || name.startsWith("x-"),
  );
  return {
    host: wire.host,
    method: wire.method,
    path: pathname,
    query: sorted(searchParams),
    headers: { ...Object.fromEntries(named), type },
    body: form ? sorted(new URLSearchParams(wire.body ?? "")) : (wire.body ?? ""),
  };
}

/**
 * Expects of an outcome that it is the recorded one, in all that a caller and a server can tell.
 */
export function expectSame(recorded: Recorded, outcome: Outcome): void {
  if (recorded.error === undefined) {
    expect(outcome.error).toBeUndefined();
    expect(comparable(outcome.result)).toEqual(comparable(settled(recorded.result)));
  } else {
    expect(outcome.error).toBeInstanceOf(Error);
    const { error } = outcome;
    if (!(error instanceof OAuth2UsageError)) {
      if (!(error instanceof OAuth2Error)) throw error;
      // Our own codes stand where the gem's own errors have none.
      const isOwn = error.code?.startsWith("ERR_OAUTH_");
      expect(isOwn ? null : (error.code ?? null)).toEqual(recorded.error.code ?? null);
      expect(error.description ?? null).toEqual(recorded.error.description ?? null);
    }
  }
  if (recorded.wire !== undefined) {
    expect(outcome.seen.map(comparableWire)).toEqual(recorded.wire.map(comparableWire));
  }
}
