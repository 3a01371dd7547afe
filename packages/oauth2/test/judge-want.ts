import { isFetchworkError } from "@fetchwork/kit";
import { expect } from "vitest";
import { InvalidResponseError, OAuth2Error, OAuth2UsageError } from "../src/index.ts";
import { fieldsOf, isRecord, lastBody, snaky } from "./judge-fields.ts";
import { tokenRules } from "./judge-token.ts";
import { checkAppended, wireRules } from "./judge-wire.ts";
import {
  expectSame,
  type Hash,
  type Outcome,
  type Recorded,
  type VectorCase,
  type Wire,
} from "./vector-case.ts";

/**
 * One thing that a want may say, in the words of the recorded cases, and how it is checked.
 */
export interface Rule {
  readonly words: RegExp;
  readonly check: (test: VectorCase, outcome: Outcome, words: RegExpExecArray) => void;
}

/**
 * Judges an outcome by the `want` of its case. A want is a list of clauses, each with alternatives;
 * what it says about the gem, and what stands in parentheses, is a remark. A want may also be a
 * value, or a record in the form of `gem`.
 *
 * @throws an assertion error when the outcome is another one, or no rule knows what is wanted
 */
export function judgeWant(test: VectorCase, outcome: Outcome): void {
  const { want } = test;
  if (isRecord(want)) {
    expectSame(want, outcome);
    return;
  }
  if (typeof want !== "string") {
    if (want === undefined) throw new Error("the case has no want");
    expectValue(want, outcome);
    return;
  }
  const clauses = clausesOf(want).filter((clause) => alternativesOf(clause).length > 0);
  if (clauses.length === 0) {
    throw new Error(`no rule of judge-want.ts can read ${JSON.stringify(want)}`);
  }
  for (const clause of clauses) judgeClause(clause, test, outcome);
  expectRepair(test, outcome);
}

function judgeClause(clause: string, test: VectorCase, outcome: Outcome): void {
  const failures: unknown[] = [];
  const alternatives = alternativesOf(clause);
  for (const alternative of alternatives) {
    try {
      for (const { words, check } of rulesFor(alternative)) {
        const found = words.exec(alternative);
        if (found !== null) check(test, outcome, found);
      }
      return;
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures.length === 1 ? failures[0] : new AggregateError(failures, `not ${clause}`);
}

/** What a `fix` repairs, ours must not do. */
function expectRepair({ policy, want, gem }: VectorCase, outcome: Outcome): void {
  if (policy !== "fix" || gem.error !== undefined || outcome.error !== undefined) return;
  if (/^same\b/.test(String(want))) return;
  const { expires_at = null } = tokenOf({ ...outcome, result: gem.result }) ?? {};
  expect(() => {
    expectSame(gem, outcome);
    // A latency moves the moment that the recorded time has already.
    expect(momentOf(outcome)).toBe(expires_at);
  }, "ours does what is to be fixed").toThrow();
}

/** When the token expires, in seconds since the epoch. */
function momentOf({ token }: Outcome): number | null {
  return token?.expiresAt === undefined ? null : token.expiresAt - token.options.expiresLatency;
}

function clausesOf(want: string): readonly string[] {
  return want
    .replaceAll(/\([^)]*\)/g, "")
    .split(/;|\.\s/)
    .filter((sentence) => !/^\s*(?:the )?gem\b/i.test(sentence))
    .flatMap((sentence) => sentence.split(","))
    .map((clause) =>
      clause
        .trim()
        .replace(/^(?:spec rule|RFC|decision)\b[^:]*:\s*/i, "")
        .replace(/^we\s|^ours\s|^recommend(?:ed)?:?\s/i, "")
        .replace(/\bunless\b.*$/, "")
        .trim(),
    )
    .filter((clause) => clause !== "" && !/^(?:as it|keep a loose option)\b/i.test(clause));
}

/**
 * Alternatives that some rule knows: of the clause as a whole, or of what stands around its "or",
 * if all are known.
 */
function alternativesOf(clause: string): readonly string[] {
  const parts = clause.split(/\s+or\s+(?:an?\s+)?|\s+\/\s+/).map((part) => part.trim());
  if (parts.length > 1 && parts.every((part) => rulesFor(part).length > 0)) return parts;
  return rulesFor(clause).length > 0 ? [clause] : [];
}

function rulesFor(clause: string): readonly Rule[] {
  const literal = /^(?:"[^"]*"|'[^']*'|-?\d+(?:\.\d+)?|null|nil|undefined|true|false|\{\}|\[\])$/;
  if (literal.test(clause)) return [{ words: literal, check: checkLiteral }];
  const found = rules.filter(({ words }) => words.test(clause));
  // Of other words, what stands in quotation marks at the end is the value.
  const quoted = /["'][^"']*["']$/;
  return found.length === 0 && quoted.test(clause)
    ? [{ words: quoted, check: checkLiteral }]
    : found;
}

const rules: readonly Rule[] = [
  ...wireRules,
  ...tokenRules,
  {
    words: /^(?:same\b(?! method| body| as (?:an? |the )?symbol)|allow for compatibility)/,
    check: ({ gem }, done) => expectSame(gem, done),
  },
  {
    words:
      /^(?!.*\b(?:no|not an?|without an?|never an?) (?:\w+ )?error\b)(?!.*\b(?:no|not|never|without) (?:throw|rais|reject|refus|fail))(?!.*\b(?:result|response|token) with (?:an? )?error\b).*(?:error\b|\bthrow|\brais(?:e|ing)\b|\breject|\brefuse|\bfails?\b(?! closed))/i,
    check: checkError,
  },
  {
    words: /\bnot an? parser error|\btyped error/i,
    check: (_test, { error }) => expect(error).not.toBeInstanceOf(SyntaxError),
  },
  {
    words: /\bno request|nothing (?:is )?sent|before (?:any|the) request/i,
    check: checkNothingSent,
  },
  { words: /\bat construction|\bwhen (?:it is )?built/i, check: checkNothingSent },
  {
    words: /\bstatus (?:of )?(\d{3})\b/,
    check: (_test, { error, result }, [, status]) =>
      expect(String(Object(error ?? result).status)).toBe(status),
  },
  {
    words:
      /^(?!.*\bnot (?:be )?(?:accept|allow)).*(?:\baccept|\btolerate|\bno error|\bnot an error|null means (?:the )?default)/i,
    check: checkAccepted,
  },
  { words: /\bnever an? empty token|\bno empty token/i, check: checkNoEmptyToken },
  {
    words: /^(?!.*\bappend).*(?:\b(?:body|raw|original|plain) (?:string|text)\b|\bas text\b)/i,
    check: checkText,
  },
  { words: /\bare json\b|\bas json\b|\bjson body\b|\bstrip (?:the )?BOM\b/i, check: checkJson },
  {
    words: /^parsed?(?: (?:it|as|the|in|an?|date|time|value|field|UTC|ISO(?: 8601)?))*$/i,
    check: checkParsed,
  },
  { words: /\bnever expires?\b|\bdoes not expire/i, check: checkNeverExpires },
  {
    words: /^(?:(?:it )?(?:is|counts as|treat(?:ed)? as|fail closed:) )?expired\b/i,
    check: (_test, outcome) => expect(tokenOf(outcome)).toMatchObject({ expired: true }),
  },
  {
    words: /\bfails? closed/i,
    check: (_test, outcome) =>
      expect(isFetchworkError(outcome.error) || tokenOf(outcome)?.["expired"] === true).toBe(true),
  },
  {
    words: /\b(?:not|no|never) crash/i,
    check: (_test, { error }) => expect(error === undefined || isFetchworkError(error)).toBe(true),
  },
  { words: /\bjoin(?:ed|s)? (?:by|with) (?:an? )?(?:spaces?|blanks?)/i, check: checkJoined },
  { words: /\b(?:ms|milliseconds?)\b/i, check: checkMilliseconds },
  { words: /^ignored?\b(?! as)/i, check: checkIgnored },
  { words: /\bclamp|\bsafe integer/i, check: checkClamped },
  {
    words:
      /\b(?:repeat(?:ed|s|ing)?|duplicate) (?:the )?(?:key|name)|\b(?:key|name)s? (?:is |are )?repeated|\bno \[\]|\bwithout \[\]/i,
    check: checkRepeated,
  },
  { words: /\bper-call value wins/i, check: checkPerCall },
  { words: /\bper-call token_?method\b/i, check: checkMethod },
  {
    words: /\b(code|description) (?:stays |is )?(?:undefined|null|nil|absent)\b/,
    check: checkAbsent,
  },
  {
    words: /\b(code|description)\b[^"']{0,20}["']([^"']*)["']/,
    check: (_test, { error }, [, member = "", value]) =>
      expect(Reflect.get(Object(error), member)).toBe(value),
  },
  {
    words: /^stringif(?:y|ied)\b/i,
    check: (test, { error }) => {
      const { error: code, error_description: description } = fieldsOf(test);
      expect(error).toMatchObject({ code: String(code), description: String(description) });
    },
  },
  {
    words: /\bbody (?:is |stays )?available\b/,
    check: (test, { error }) => expect(Object(error).response?.body).toBe(lastBody(test)),
  },
  { words: /\boauth error\b/i, check: checkOAuthError },
  {
    words: /\bother (?:origin|host)|\bcross-origin|\bcredentials?\b.*\bdropped/i,
    check: checkNoSecretElsewhere,
  },
  {
    words: /\bstays? on (?:the )?(?:site|same|current)|\bsame host\b/i,
    check: (_test, { seen }) => expect(seen.every(({ host }) => host === "BASE")).toBe(true),
  },
  {
    words: /\bnever follow|\bnot follow/i,
    check: (_test, { seen }) => expect(seen.length).toBeLessThan(2),
  },
  {
    words:
      /\b(?:carry|carries|keeps?|preserves?) (?:the )?(?:old )?((?!method|body|latency)[a-z]+(?:[_ ]token)?)$/,
    check: checkCarried,
  },
  { words: /\bform body\b|\bnot (?:in the )?query\b|\bin the body\b/i, check: checkFormBody },
  { words: /\bstrip (?:one |an? |the )?leading\b/i, check: checkWithoutPrefix },
  {
    words: /\b(?:drop|strip|remove)s? the fragment/i,
    check: ({ gem }, { result }) => expect(result).toBe(String(gem.result).replace(/#.*$/, "")),
  },
  {
    words: /\bform-?(?:url)?-?encode/i,
    check: (test, outcome) =>
      (test.input.op === "request" ? checkAppended : checkBasicEncoding)(test, outcome),
  },
  {
    words: /\blower-?cases? (?:the )?(?:scheme|host)/i,
    check: ({ gem }, { result }) => expect(result).toBe(new URL(String(gem.result)).href),
  },
  {
    words: /\bfalls? (?:through|back)\b|\brefresh token is revoked/i,
    check: ({ input }, { seen }) =>
      expect(new URLSearchParams(seen[0]?.body).get("token")).toBe(input.token?.["refresh_token"]),
  },
  {
    words: /\bwarn once\b/,
    check: (_test, { warnings }) => expect(warnings).toHaveLength(1),
  },
  {
    words: /^(?:percent-)?encode(?:d|s)?\b/,
    check: ({ input }, { error, seen }) => {
      expect(error).toBeUndefined();
      expect(seen.at(-1)?.target).toBe(encodeURI(input.path ?? ""));
    },
  },
];

/** An error of ours; of which kind, where the words say so. */
function checkError(
  _test: VectorCase,
  { error }: Outcome,
  { input: words }: RegExpExecArray,
): void {
  expect(isFetchworkError(error), "an error of ours").toBe(true);
  if (/\bOAuth2Error\b/.test(words)) expect(error).toBeInstanceOf(OAuth2Error);
  if (/\binvalid_response\b/.test(words)) expect(error).toBeInstanceOf(InvalidResponseError);
  if (/\b(?:usage|configuration|argument) error\b|\bconstruction\b/i.test(words)) {
    expect(error).toBeInstanceOf(OAuth2UsageError);
  }
}

function checkNothingSent(_test: VectorCase, { seen }: Outcome): void {
  expect(seen).toHaveLength(0);
}

/** No error, and the token that was sent. */
function checkAccepted(test: VectorCase, outcome: Outcome): void {
  expect(outcome.error).toBeUndefined();
  const token = tokenOf(outcome);
  if (token === undefined) return;
  const { access_token, token: other, id_token } = fieldsOf(test);
  expect(token["token"]).toBe(access_token ?? other ?? id_token ?? "AT");
}

function checkNoEmptyToken(_test: VectorCase, outcome: Outcome): void {
  expect(tokenOf(outcome)?.["token"]).not.toBe("");
}

function checkText(test: VectorCase, { error, result }: Outcome): void {
  expect(error).toBeUndefined();
  expect(result).toMatchObject({ parsed: lastBody(test) });
}

/** JSON of the response, or of the request where a token is asked for with JSON. */
function checkJson(test: VectorCase, { error, result, seen }: Outcome): void {
  expect(error).toBeUndefined();
  if (test.input.op === "request") {
    const value: unknown = JSON.parse(lastBody(test).replace(/^\uFEFF/, ""));
    expect(result).toMatchObject({ parsed: snaky(value) });
    return;
  }
  expect(seen[0]?.headers["content-type"]).toMatch(/^application\/json\b/);
  const { headers: _headers, ...params } = test.input.params ?? {};
  const sent: unknown = JSON.parse(seen[0]?.body ?? "");
  expect(sent).toMatchObject(params);
  expect(sent).toHaveProperty("grant_type");
}

/** The time that a field says. */
function checkParsed(test: VectorCase, outcome: Outcome): void {
  const { expires_at } = fieldsOf(test);
  if (typeof expires_at !== "string") throw new Error("the case has no text that can be parsed");
  const text = expires_at.trim().replace(" ", "T");
  const time = Date.parse(/[Zz]$|[-+]\d\d:?\d\d$/.test(text) ? text : `${text}Z`);
  expect(tokenOf(outcome)).toMatchObject({
    expires_at: Math.floor(time / 1000),
    expired: time / 1000 <= clock,
  });
}

/** The clock of the cases. */
const clock = 1_800_000_000;

function checkMilliseconds(test: VectorCase, outcome: Outcome): void {
  const time = Number(fieldsOf(test)["expires_at"]) / 1000;
  expect(tokenOf(outcome)).toMatchObject({
    expires_at: Math.floor(time),
    expired: time <= clock,
  });
}

function checkNeverExpires(_test: VectorCase, outcome: Outcome): void {
  expect(outcome.error).toBeUndefined();
  expect(tokenOf(outcome)).toMatchObject({ expires_at: null, expired: false });
}

/** The token is there, and what is not a number of seconds is not. */
function checkIgnored(test: VectorCase, outcome: Outcome): void {
  checkAccepted(test, outcome);
  const fields = fieldsOf(test);
  const junk = ["expires_in", "expires_at"].filter(
    (name) => fields[name] !== undefined && typeof fields[name] !== "number",
  );
  if (junk.length === 0) throw new Error("the case has no field that can be ignored");
  for (const name of junk) expect(tokenOf(outcome)).toMatchObject({ [name]: null });
}

function checkClamped(_test: VectorCase, outcome: Outcome): void {
  expect(outcome.error).toBeUndefined();
  const numbers = leavesOf(outcome.result).filter((leaf) => typeof leaf === "number");
  expect(numbers).not.toEqual([]);
  for (const number of numbers) expect(Number.isSafeInteger(number)).toBe(true);
  expect(numbers).toContain(Number.MAX_SAFE_INTEGER);
}

function checkRepeated({ gem }: VectorCase, outcome: Outcome): void {
  const plain = (text: string): string => text.replaceAll(/(?:%5B%5D|\[\])=/gi, "=");
  expectSame(
    {
      ...gem,
      ...(typeof gem.result === "string" && { result: plain(gem.result) }),
      wire: wireOf(gem, (wire) => ({
        target: plain(wire.target),
        body: wire.body === null ? null : plain(wire.body),
      })),
    },
    outcome,
  );
}

/** A list of scopes is one parameter (RFC 6749, 3.3). */
function checkJoined({ input }: VectorCase, { result, seen }: Outcome): void {
  const scope = input.params?.["scope"];
  if (!Array.isArray(scope)) throw new Error("the case has no list of scopes");
  const sent =
    typeof result === "string" ? new URL(result).searchParams : new URLSearchParams(seen[0]?.body);
  expect(sent.getAll("scope")).toEqual([scope.join(" ")]);
}

function checkPerCall({ input }: VectorCase, { result, seen }: Outcome): void {
  const { searchParams } =
    typeof result === "string"
      ? new URL(result)
      : { searchParams: new URLSearchParams(seen[0]?.body) };
  const both = Object.keys(input.params ?? {}).filter((name) =>
    Object.hasOwn(input.client?.options ?? {}, name),
  );
  if (both.length === 0) throw new Error("the case has no value that is given twice");
  for (const name of both) expect(searchParams.getAll(name)).toEqual([input.params?.[name]]);
}

function checkMethod({ input, gem }: VectorCase, outcome: Outcome): void {
  const method = input.params?.["token_method"] === "get" ? "GET" : "POST";
  const wire = wireOf(gem, ({ headers }) => {
    const { "content-type": type, ...others } = headers;
    const isTyped = method !== "GET" && type !== undefined;
    return { method, headers: isTyped ? { ...others, "content-type": type } : others };
  });
  expectSame({ ...gem, wire }, outcome);
}

function checkAbsent(
  _test: VectorCase,
  { error }: Outcome,
  [, member = ""]: RegExpExecArray,
): void {
  expect(error).toBeInstanceOf(OAuth2Error);
  expect(Reflect.get(Object(error), member)).toBeUndefined();
}

function checkOAuthError(test: VectorCase, { error }: Outcome): void {
  expect(error).toMatchObject({ code: fieldsOf(test)["error"] });
}

/** No token, secret, or header that the caller gave reaches the second server. */
function checkNoSecretElsewhere({ input }: VectorCase, { seen }: Outcome): void {
  const { id = "abc", secret = "def" } = input.client ?? {};
  const headers = Object.values(Object(input.opts?.["headers"] ?? {}));
  const basic = btoa(`${id}:${secret ?? ""}`);
  const secrets = [input.token?.["access_token"], secret, basic, ...headers];
  const elsewhere = JSON.stringify(seen.filter(({ host }) => host !== "BASE"));
  for (const value of secrets) {
    if (typeof value !== "string") continue;
    // A short one may be in a name by chance; as a value it stands between signs.
    const pattern = new RegExp(`[=: "]${value.replaceAll(/[^\w]/g, "\\$&")}["&]`);
    expect(elsewhere).not.toMatch(pattern);
  }
}

function checkCarried({ input }: VectorCase, outcome: Outcome, words: RegExpExecArray): void {
  const name = (words[1] ?? "").replace(" ", "_");
  if (name === "them" || name === "fields") throw new Error("no field is named");
  const value = input.token?.[name];
  if (value === undefined) throw new Error(`the token of the case has no ${name}`);
  const { extra, ...fields } = tokenOf(outcome) ?? {};
  expect({ ...fields, ...Object(extra) }).toMatchObject({ [name]: value });
}

function checkFormBody({ gem }: VectorCase, outcome: Outcome): void {
  const wire = wireOf(gem, ({ target, body }) => {
    const [path = "", query = ""] = target.split("?");
    return { target: path, body: [body, query].filter((part) => part).join("&") };
  });
  expectSame({ ...gem, wire }, outcome);
}

function checkWithoutPrefix({ input }: VectorCase, outcome: Outcome): void {
  const { access_token } = Object.fromEntries(new URLSearchParams(input.form?.slice(1)));
  if (access_token === undefined) throw new Error("the case has no form with a leading sign");
  expect(tokenOf(outcome)).toMatchObject({ token: access_token });
}

/** User name and password are forms of the identifier and the secret (RFC 6749, 2.3.1). */
function checkBasicEncoding({ input }: VectorCase, { seen }: Outcome): void {
  const { id = "abc", secret = "def" } = input.client ?? {};
  const [scheme, encoded = ""] = seen[0]?.headers["authorization"]?.split(" ") ?? [];
  const parts = atob(encoded).split(":");
  const read = parts.map((part) => new URLSearchParams(`x=${part}`).get("x"));
  expect([scheme, ...read]).toEqual(["Basic", id, secret]);
  expect(parts.join("")).toMatch(/^[\w.*+%~-]*$/);
}

function checkLiteral(_test: VectorCase, outcome: Outcome, [words]: RegExpExecArray): void {
  const text = words.replaceAll(/^["']|["']$/g, "");
  const isQuoted = text !== words;
  const values: Readonly<Record<string, unknown>> = { nil: null, undefined: null };
  expectValue(isQuoted ? text : text in values ? values[text] : JSON.parse(text), outcome);
}

/** The value is what came out, or one of the fields of it. */
function expectValue(value: unknown, { result, error }: Outcome): void {
  if (value === null) {
    expect(error).toBeUndefined();
    expect(result ?? null).toBeNull();
    return;
  }
  const found = error === undefined ? leavesOf(result) : errorLeaves(error);
  expect([result, ...found]).toContainEqual(value);
}

function errorLeaves(error: unknown): readonly unknown[] {
  return error instanceof OAuth2Error ? [error.code, error.description, error.status] : [];
}

function leavesOf(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [value];
  return Object.values(value).flatMap(leavesOf);
}

/** The token of a result; with `fromHash` it is in the fragment. */
function tokenOf({ result }: Outcome): Hash | undefined {
  if (!isRecord(result)) return undefined;
  const inner = result["token"];
  if (isRecord(inner)) return inner;
  return "expired" in result ? result : undefined;
}

function wireOf(gem: Recorded, change: (wire: Wire) => Partial<Wire>): readonly Wire[] {
  return (gem.wire ?? []).map((wire) => ({ ...wire, ...change(wire) }));
}
