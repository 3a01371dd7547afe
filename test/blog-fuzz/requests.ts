import type { JsonSchema } from "@fetchwork/rest";
import type { Operation } from "./operations.ts";
import type { Random } from "./random.ts";

/** Who sends a request. */
export const callers = ["nobody", "ann", "bob", "root", "master", "stranger", "key"] as const;
export type CallerName = (typeof callers)[number];

/** What a request shows of its caller, and where. */
export interface Credentials {
  readonly caller: CallerName;
  readonly place: "header" | "query" | "body";
  /** Email and password of HTTP Basic. */
  readonly basic?: readonly [email: string, password: string] | undefined;
}

/** A request of the fuzz, before it is written out. */
export interface FuzzRequest {
  /** Absent where no operation is at the method and path. */
  readonly operation: Operation | undefined;
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  /** Parameters of the path that are not encoded. */
  readonly rawParams: Readonly<Record<string, string>>;
  /** Added to the address as it stands. */
  readonly rawQuery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Credentials;
  readonly isTwiceAuthenticated: boolean;
  readonly type: string | undefined;
  /** Members of the body. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;
  /** A body that is not written from `fields`. */
  readonly raw: Uint8Array<ArrayBuffer> | string | undefined;
  /** Whether it was made to be valid by the document. */
  readonly isValid: boolean;
}

/** What is in the store, as far as requests refer to it. */
export interface Pools {
  readonly users: readonly string[];
  readonly emails: readonly string[];
  readonly articles: string[];
  readonly webhooks: string[];
  readonly deliveries: string[];
  readonly resetTokens: readonly string[];
  readonly emailTokens: readonly string[];
  readonly apiKeys: readonly string[];
  readonly keyIds: readonly string[];
  readonly refreshTokens: readonly string[];
  readonly sessionTokens: readonly string[];
  readonly passkeys: readonly string[];
  readonly sessions: readonly string[];
  /** Cursors by path, in the default order. */
  readonly cursors: Map<string, string[]>;
  readonly password: string;
}

type Draft = { -readonly [K in keyof FuzzRequest]: FuzzRequest[K] };

/** Makes a request: as the document describes it, or with one to three faults. */
export function makeRequest(
  random: Random,
  operations: readonly Operation[],
  pools: Pools,
): FuzzRequest {
  const operation = chooseOperation(random, operations);
  const draft = validRequest(random, operation, pools);
  if (random.chance(0.5)) return draft;
  draft.isValid = false;
  for (let left = random.pick([1, 1, 1, 2, 3]); left > 0; left -= 1)
    random.pick(faults)(random, draft, operations);
  return draft;
}

/** Those hash a password, which is slow on purpose. */
const slow: ReadonlySet<string> = new Set(["createUser", "updatePassword", "usePasswordReset"]);

function chooseOperation(random: Random, operations: readonly Operation[]): Operation {
  const [first] = operations;
  if (!first) throw new Error("the document has no operations");
  const chosen = random.pickOr(operations, first);
  return slow.has(chosen.id) && random.chance(0.9) ? chooseOperation(random, operations) : chosen;
}

function validRequest(random: Random, operation: Operation, pools: Pools): Draft {
  const params: Record<string, string> = {};
  const query: [string, string][] = [];
  const headers: Record<string, string> = {};
  for (const { name, in: place, schema } of operation.parameters) {
    if (place === "path") params[name] = idFor(random, { name, path: operation.path }, pools);
    else if (place === "query" && random.chance(0.25)) {
      query.push([name, queryValue(random, { name, path: operation.path, schema }, pools)]);
    } else if (place === "header" && random.chance(0.2)) {
      headers[name.toLowerCase()] = name.startsWith("If-")
        ? random.pick(['"1"', '"2"', "*", 'W/"1"', '"1", "2"'])
        : random.pick(["key-1", "key-2", `key-${random.below(1e6)}`]);
    }
  }
  // Browsers name the site, and pages sign in from their own.
  if (random.chance(operation.path === "/auth/cookie" ? 0.9 : 0.1)) {
    headers["sec-fetch-site"] = random.pick(["same-origin", "same-origin", "cross-site"]);
  }
  // A cursor is one of an order, and excludes pages.
  if (query.some(([name]) => name === "after")) {
    dropQuery(query, "page");
    dropQuery(query, "sort");
  }
  const credentials = credentialsFor(random, operation, pools);
  const types = Object.keys(operation.bodies);
  const schema = Object.values(operation.bodies)[0]?.schema;
  const hasBody = schema !== undefined && (operation.isBodyRequired || random.chance(0.8));
  const fields = hasBody ? objectFor(random, schema, pools) : undefined;
  const inBody = credentials.place === "body" && fields !== undefined;
  if (fields) delete fields["access_token"];
  if (fields && operation.method === "QUERY") fitQuery(random, operation.path, fields, pools);
  const isFlat = Object.values(fields ?? {}).every(isFormValue);
  const type = hasBody
    ? random.pickOr(
        types.filter((one) => isFlat || one.endsWith("json")),
        "application/json",
      )
    : undefined;
  return {
    operation,
    method: operation.method,
    path: operation.path,
    params,
    query,
    rawParams: {},
    rawQuery: "",
    headers,
    credentials:
      inBody || credentials.place !== "body" ? credentials : { ...credentials, place: "header" },
    isTwiceAuthenticated: false,
    type,
    fields,
    raw: undefined,
    isValid: true,
  };
}

/** Fills the body of a QUERY with what a list takes; a cursor is of one order, without pages. */
function fitQuery(
  random: Random,
  path: string,
  fields: Record<string, unknown>,
  pools: Pools,
): void {
  for (const name of ["after", "sort", "fields"]) {
    if (!Object.hasOwn(fields, name)) continue;
    const value = queryValue(random, { name, path, schema: {} }, pools);
    fields[name] = name !== "after" && random.chance(0.5) ? value.split(",") : value;
  }
  if (!Object.hasOwn(fields, "after")) return;
  delete fields["page"];
  delete fields["sort"];
}

/** Whether a form can carry a value: neither `null` nor an object. */
export function isFormValue(value: unknown): boolean {
  return typeof value !== "object" || Array.isArray(value);
}

function dropQuery(query: [string, string][], dropped: string): void {
  const at = query.findIndex(([name]) => name === dropped);
  if (at >= 0) query.splice(at, 1);
}

function idFor(
  random: Random,
  { name, path }: { readonly name: string; readonly path: string },
  {
    articles,
    deliveries,
    emailTokens,
    keyIds,
    passkeys,
    resetTokens,
    sessions,
    users,
    webhooks,
  }: Pools,
): string {
  if (random.chance(0.05)) return "0192f0c1-7a3e-7c3b-8f2a-5d1e4b6c7a80";
  if (name === "token") {
    return random.pickOr(path.startsWith("/email-changes") ? emailTokens : resetTokens, "none");
  }
  if (name === "passkey") return random.pickOr(passkeys, "none");
  if (name === "key") return random.pickOr(keyIds, "none");
  if (name === "session") return random.pickOr(sessions, "none");
  if (name === "delivery") return random.pickOr(deliveries, "none");
  if (path.startsWith("/users")) return random.pickOr([...users, "me", "me"], "me");
  return random.pickOr(path.startsWith("/articles") ? articles : webhooks, "none");
}

function credentialsFor(
  random: Random,
  { bodies, path, schemes }: Operation,
  pools: Pools,
): Credentials {
  const isForAdmins = path === "/auth/cookie";
  const isFitting = random.chance(0.75);
  const isByPassword = schemes.includes("password");
  // Of an operation that takes a password, the key goes to the query or the body.
  const isByKey = schemes.some((one) => one.startsWith("masterKey")) || isByPassword;
  const caller: CallerName = !isFitting
    ? random.pick(callers)
    : isByKey
      ? "master"
      : random.pick<CallerName>(["ann", "ann", "bob", "root", "root", "root"]);
  const isWrong = random.chance(0.3);
  const password = isWrong ? "not this one" : pools.password;
  const email = random.pickOr(
    // Admins alone sign in on pages.
    isFitting ? (isForAdmins ? pools.emails.slice(2) : pools.emails.slice(0, 2)) : pools.emails,
    "nobody@example.com",
  );
  const basic =
    isByPassword && (isFitting || random.chance(0.2)) ? ([email, password] as const) : undefined;
  const isMasterToo = JSON.stringify(bodies).includes('"access_token"');
  const shown = basic && !isMasterToo ? "nobody" : caller;
  return {
    caller: shown,
    place: basic
      ? random.pick(["query", "body"])
      : random.pick(["header", "header", "query", "body"]),
    basic,
  };
}

function queryValue(
  random: Random,
  {
    name,
    path,
    schema,
  }: { readonly name: string; readonly path: string; readonly schema: JsonSchema },
  pools: Pools,
): string {
  if (name === "after") return random.pickOr(pools.cursors.get(path) ?? [], "");
  if (name === "sort") return random.pick(["createdAt", "-createdAt", "id", "-id"]);
  if (name === "fields") return random.pick(["id", "id,createdAt", "createdAt"]);
  return String(valueFor(random, { name, schema }, pools));
}

function objectFor(random: Random, schema: JsonSchema, pools: Pools): Record<string, unknown> {
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const required = (schema["required"] ?? []) as readonly string[];
  const fields: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (!required.includes(name) && random.chance(0.4)) continue;
    fields[name] = valueFor(random, { name, schema: property }, pools);
  }
  return fields;
}

/** Makes a value that a schema describes. */
function valueFor(
  random: Random,
  { name, schema }: { readonly name: string; readonly schema: JsonSchema },
  pools: Pools,
): unknown {
  const { anyOf, const: fixed, enum: values, format, items, maximum, minimum, maxLength } = schema;
  if (fixed !== undefined) return fixed;
  if (Array.isArray(values)) return random.pickOr(values as unknown[], undefined);
  if (Array.isArray(anyOf)) {
    const chosen = random.pickOr(anyOf as JsonSchema[], {});
    return valueFor(random, { name, schema: chosen }, pools);
  }
  switch (schema["type"]) {
    case "boolean":
      return random.chance(0.5);
    case "integer":
      return Number(minimum ?? 0) + random.below(Math.min(Number(maximum ?? 9), 9));
    case "array":
      return [0, 1]
        .slice(random.below(2))
        .map(() => valueFor(random, { name, schema: items as JsonSchema }, pools));
    case "object":
      return schema["properties"] ? objectFor(random, schema, pools) : {};
    case "string":
      break;
    default:
      return null;
  }
  if (format === "email") {
    return random.chance(0.5)
      ? random.pickOr(pools.emails, "a@b.cd")
      : `u${random.below(1e6)}@example.com`;
  }
  if (name === "scopes") return random.pick(["articles:read", "users:write", "*:read"]);
  if (format === "date-time") return new Date(Date.now() + 86_400_000).toISOString();
  if (name === "refreshToken") return random.pickOr(pools.refreshTokens, "none");
  if (name === "link") return "https://app.example/reset";
  if (name === "events") return random.pick(["article", "user", "article.created", "user.updated"]);
  if (name === "url") return `https://hooks.example/${random.below(99)}`;
  if (format === "uri") return `https://pictures.example/${random.below(99)}.png`;
  return textOf(random, Number(schema["minLength"] ?? 0), Number(maxLength ?? 40));
}

const letters = [
  "a",
  "B",
  "7",
  "-",
  "'",
  "%",
  "&",
  "é",
  "ß",
  "漢",
  "\u{1f600}",
  "_",
  "+",
  '"',
  "<",
  "\\",
] as const;

/** Makes a text of any length that is allowed; now and then the longest. */
function textOf(random: Random, min: number, max: number): string {
  const isLongest = random.chance(0.05) && max <= 500;
  if (isLongest) return "x".repeat(max);
  const length = min + random.below(Math.max(1, Math.min(max - min, 20)));
  // Those of two UTF-16 units count twice, so there is room for them.
  const text = Array.from({ length: Math.min(length, max / 2) }, () => random.pick(letters)).join(
    "",
  );
  return text.length < min ? text + "y".repeat(min - text.length) : text;
}

/** Texts that parsers, stores and logs may take for something else. */
export const hostileTexts = [
  "\u0000",
  "a\u0000b",
  "\ud800",
  "x\udc00",
  "__proto__",
  "constructor",
  "' OR 1=1 --",
  "%00",
  "..",
  "1e999",
  "-1",
  "",
  "   ",
  "null",
  "\u202e\u0007",
  "a".repeat(3_000),
  "[]",
  "me",
] as const;
const values = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  [],
  {},
  [[]],
  { $ne: null },
  ["a", "a"],
  ...hostileTexts,
] as const;

type Fault = (random: Random, draft: Draft, operations: readonly Operation[]) => void;

const faults: readonly [Fault, ...Fault[]] = [
  function changeField(random, draft) {
    const properties =
      Object.values(draft.operation?.bodies ?? {})[0]?.schema?.["properties"] ?? {};
    const name = random.pickOr(
      [...Object.keys(properties), ...Object.keys(draft.fields ?? {})],
      "title",
    );
    draft.fields = { ...draft.fields, [name]: random.pick(values) };
    draft.type ??= "application/json";
  },
  function removeField(random, draft) {
    const name = random.pickOr(Object.keys(draft.fields ?? {}), "");
    const { [name]: _, ...others } = draft.fields ?? {};
    if (draft.fields) draft.fields = others;
  },
  function addField(random, draft) {
    const names = [
      "id",
      "role",
      "author",
      "version",
      "createdAt",
      "passwordHash",
      "toString",
      "x.y",
      "$where",
    ] as const;
    draft.fields = { ...draft.fields, [random.pick(names)]: random.pick(values) };
    draft.type ??= "application/json";
  },
  function sendBytes(random, draft) {
    draft.raw = random.pick([
      "",
      "{",
      "[]",
      "null",
      "7",
      '{"title":"a","title":"b"}',
      '{"__proto__":{"role":"admin"}}',
      '{"title":"\\u0000","name":"\\u0000","description":"\\u0000"}',
      '{"title":"\\ud800","name":"\\ud800","description":"\\ud800"}',
      "title=%00&name=%00",
      "title=%ff&name=%ed%a0%80",
      "a[b]=c",
      '{"title":'.repeat(500),
      `{"title":${"[".repeat(900)}${"]".repeat(900)}}`,
      "x".repeat(110_000),
      new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    ]);
    draft.type ??= "application/json";
  },
  function changeType(random, draft) {
    draft.type = random.pick([
      "text/plain",
      "application/xml",
      "application/json; charset=latin1",
      "multipart/form-data",
      "application/merge-patch+json",
      "application/problem+json",
      "application/json",
      ";",
    ]);
  },
  function omitType(_, draft) {
    draft.type = undefined;
    draft.raw = draft.fields === undefined ? undefined : JSON.stringify(draft.fields);
  },
  function changeParameter(random, draft) {
    const name = random.pickOr(Object.keys(draft.params), "");
    if (name !== "") draft.params = { ...draft.params, [name]: random.pick(hostileTexts) };
  },
  function breakAddress(random, draft) {
    const broken = random.pick(["%00", "%ed%a0%80", "%ff", "%zz", "..%2f..", "%"]);
    const name = random.pickOr(Object.keys(draft.params), "");
    if (name === "") draft.rawQuery = `q=${broken}`;
    else draft.rawParams = { [name]: broken };
  },
  function addParameter(random, draft) {
    const known = draft.operation?.parameters.filter((one) => one.in === "query") ?? [];
    const name = random.pickOr(
      [...known.map((one) => one.name), "nothing", "where", "q[$ne]", "__proto__", "limit"],
      "q",
    );
    draft.query = [...draft.query, [name, random.pick(hostileTexts)]];
  },
  function repeatParameter(random, draft) {
    const name = random.pick(["q", "limit", "page", "after", "sort", "access_token"]);
    draft.query = [...draft.query, [name, "1"], [name, "2"]];
    draft.isTwiceAuthenticated ||= name === "access_token";
  },
  function changeHeader(random, draft) {
    const [name, value] = random.pick<readonly [string, string]>([
      ["if-match", "x"],
      ["if-match", '"999"'],
      ["if-none-match", "*"],
      ["if-none-match", '"1'],
      ["if-match", ""],
      ["idempotency-key", '"'],
      ["idempotency-key", "a b"],
      ["idempotency-key", "k".repeat(300)],
      ["idempotency-key", "key-1"],
      ["content-encoding", "gzip"],
      ["accept", "text/html"],
      ["authorization", "Basic %%%"],
      ["authorization", "Bearer a.b.c"],
      ["authorization", "Digest x"],
    ]);
    draft.headers = { ...draft.headers, [name]: value };
    draft.isTwiceAuthenticated ||= name === "authorization";
  },
  function changeCaller(random, draft) {
    draft.credentials = { ...draft.credentials, caller: random.pick(callers), basic: undefined };
  },
  function useTwoTokens(_, draft) {
    draft.isTwiceAuthenticated = true;
  },
  function changeMethod(random, draft, operations) {
    draft.method = random.pick(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
    const method = draft.method === "HEAD" ? "GET" : draft.method;
    draft.operation = operations.find((one) => one.path === draft.path && one.method === method);
    draft.raw ??= draft.fields === undefined ? undefined : JSON.stringify(draft.fields);
  },
  function changePath(random, draft) {
    draft.path = random.pick([
      "/nothing",
      "/articles/a/b",
      "/users/me/nothing",
      "//articles",
      "/docs/nothing",
    ]);
    draft.operation = undefined;
  },
];
