import { expect } from "vitest";
import { fieldsOf } from "./judge-fields.ts";
import type { Rule } from "./judge-want.ts";
import type { Hash, Outcome, VectorCase } from "./vector-case.ts";

/**
 * What wants say of requests: what is left out, what is followed, and where paths lead; and of
 * values that are empty.
 */
export const wireRules: readonly Rule[] = [
  {
    words: /^(?:(?:is |are )?(?:(?:treat(?:ed)?|counts?) )?as )?(?:absent|missing|not given)$/i,
    check: checkBlank,
  },
  {
    words:
      /^(?:(?:is|are|be|never|not) )?(?:omit(?:ted|s)?|left out|leave (?:it|them) out|sent|skip(?:ped|s)?|drop(?:ped|s)?)(?: (?:it|them|nil|null|(?:the |nil |null )?(?:params?|parameters?|values?)))?$/i,
    check: checkLeftOut,
  },
  {
    words:
      /\b(?:no|not|never|without) (?:throw|rais|reject|refus|fail)|\b(?:result|response|token) with (?:an? )?error\b|\bhonou?r/i,
    check: (_test, { error }) => expect(error).toBeUndefined(),
  },
  {
    words: /^(?:is )?follow(?:s|ed)?\b/i,
    check: (_test, { error, seen }) => expect([error, seen.length > 1]).toEqual([undefined, true]),
  },
  {
    words: /\b(?:same|keeps?|preserves?|repeats?) (?:the )?(?:method|body|POST)\b/i,
    check: (_test, { seen }) => {
      const [first, ...others] = seen.map(({ body, method }) => ({ body, method }));
      expect(others.at(-1)).toEqual(first);
    },
  },
  { words: /\bresolve[sd]?\b/i, check: checkResolved },
  {
    words: /^\/[\w./%?=&-]*$/,
    check: (_test, { seen }, [target]) => expect(seen.at(-1)?.target).toBe(target),
  },
  { words: /^\??[\w.%-]+=[^&\s]*(?:&[\w.%-]+=[^&\s]*)*$/, check: checkPairs },
  {
    words:
      /^(?!.*\b(?:no|not|never)\b).*(?:\bappend(?:s|ed|ing)?\b|\bencoded? (?:the )?token\b|\btoken\b.*\bencoded\b)/i,
    check: checkAppended,
  },
  {
    words:
      /\b(?:drop|strip|remove)\w*\b.*\b(?:cookie|authorization|header)s?\b|\b(?:cookie|authorization|header)s?\b.*\b(?:dropped|stripped|removed|not sent|never sent)\b/i,
    check: checkHeadersDropped,
  },
  {
    words: /\bonly &|& only\b|\bsemicolons?\b|\bpart of the value\b/i,
    check: ({ input }, { token }) => {
      const form = new URLSearchParams(input.form?.replace(/^[#?]/, ""));
      expect(token?.token).toBe(form.get("access_token"));
    },
  },
  {
    words: /\bprototypes?\b|\bpollut/i,
    check: (_test, { error, token }) => {
      expect(error).toBeUndefined();
      const plain = {};
      for (const name in plain) throw new Error(`every object has the member ${name}`);
      expect(Object.getPrototypeOf(token?.params ?? {})).toBe(Object.prototype);
    },
  },
  {
    words:
      /^(?:(?:the |string )?body |(?:is )?sent |send (?:it )?)?(?:as (?:it )?is|unchanged|verbatim)\b/i,
    check: checkUnchanged,
  },
  { words: /^(?:is )?allow(?:ed|s)?$|\babsolute URL wins\b|\bsent there\b/i, check: checkThere },
  {
    words: /\b(?:empty|blank) secret\b/i,
    check: ({ input }, { seen }) => {
      const { id = "abc" } = input.client ?? {};
      expect(seen[0]?.headers["authorization"]).toBe(`Basic ${btoa(`${id}:`)}`);
    },
  },
  {
    words: /\b(?:no|without(?: an?)?) authorization\b/i,
    check: (_test, { error, seen }) => {
      expect(error).toBeUndefined();
      expect(seen[0]?.headers["authorization"]).toBeUndefined();
    },
  },
];

function blankNames(hash: Hash = {}): readonly string[] {
  return Object.keys(hash).filter((name) => hash[name] === "" || hash[name] === null);
}

/** Names that were sent, or that stand in the URL that came out. */
function sentNames({ result, seen }: Outcome): readonly string[] {
  const urls =
    typeof result === "string" ? [result] : seen.map(({ target }) => `http://host${target}`);
  const queries = urls.map((url) => new URL(url).searchParams);
  const forms = seen.map(({ body }) => new URLSearchParams(body));
  return [...queries, ...forms].flatMap((pairs) => [...pairs.keys()]);
}

/**
 * What is empty counts for nothing: a time for none, a refresh token for none, a parameter for
 * none.
 */
function checkBlank(test: VectorCase, outcome: Outcome): void {
  const { input } = test;
  if (input.op === "refresh" && blankNames(input.token).includes("refresh_token")) {
    expect(outcome.error).toBeInstanceOf(Error);
    expect(outcome.seen).toEqual([]);
    return;
  }
  if (blankNames(input.params).length > 0) {
    checkLeftOut(test, outcome);
    return;
  }
  const times = blankNames(fieldsOf(test)).filter((name) => name.startsWith("expires_"));
  if (times.length === 0)
    throw new Error("the case has no time, refresh token or parameter that is empty");
  const { token } = outcome;
  expect([token?.expired(), token?.expiresIn, token?.expiresAt]).toEqual([
    false,
    undefined,
    undefined,
  ]);
}

function checkLeftOut({ input }: VectorCase, outcome: Outcome): void {
  const blank = blankNames(input.params);
  if (blank.length === 0) throw new Error("the case has no parameter that is empty");
  expect(outcome.error).toBeUndefined();
  const sent = sentNames(outcome);
  expect(blank.filter((name) => sent.includes(name))).toEqual([]);
}

/**
 * A relative reference leads where the URL standard says: from the request that was redirected, or
 * from the site.
 */
function checkResolved({ input }: VectorCase, { error, seen }: Outcome): void {
  expect(error).toBeUndefined();
  const location = input.server?.map(({ headers }) => headers?.["Location"]).find(Boolean);
  const base = new URL(location === undefined ? "/" : (seen[0]?.target ?? ""), "http://host");
  const { pathname, search } = new URL(location ?? input.path ?? "", base);
  expect(seen.at(-1)?.target).toBe(pathname + search);
}

function checkHeadersDropped({ input }: VectorCase, { error, seen }: Outcome): void {
  expect(error).toBeUndefined();
  const names = Object.keys(Object(input.opts?.["headers"] ?? {})).map((name) =>
    name.toLowerCase(),
  );
  const elsewhere = seen.filter(({ host }) => host !== "BASE");
  expect(elsewhere.length).toBeGreaterThan(0);
  for (const { headers } of elsewhere) {
    for (const name of [...names, "authorization"]) expect(headers[name]).toBeUndefined();
  }
}

function checkUnchanged(test: VectorCase, outcome: Outcome): void {
  const body = test.input.opts?.["body"];
  if (typeof body === "string") expect(outcome.seen.at(-1)?.body).toBe(body);
  else checkThere(test, outcome);
}

/** The pairs are the query of the last request, or its body. */
function checkPairs(_test: VectorCase, { error, seen }: Outcome, [words]: RegExpExecArray): void {
  const { target = "", body = "" } = seen.at(-1) ?? {};
  const sent = [new URL(target, "http://host").searchParams, new URLSearchParams(body)];
  expect(error).toBeUndefined();
  expect(sent.map(String)).toContain(String(new URLSearchParams(words)));
}

/** The token is one more pair of a body that is a string, which stays a form. */
export function checkAppended({ input }: VectorCase, { error, seen }: Outcome): void {
  const body = input.opts?.["body"];
  if (typeof body !== "string") throw new Error("the case has no body that is a string");
  const { access_token: value, param_name: name = "access_token" } = input.token ?? {};
  const last = seen.at(-1);
  expect(error).toBeUndefined();
  expect(last?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
  expect(last?.body.slice(0, body.length + 1)).toBe(`${body}&`);
  expect([...new URLSearchParams(last?.body.slice(body.length + 1))]).toEqual([[name, value]]);
}

/** The request went to the absolute URL that it names. */
function checkThere({ input }: VectorCase, { error, seen }: Outcome): void {
  const { pathname, search } = new URL(input.path ?? "");
  expect(error).toBeUndefined();
  expect(seen.map(({ target }) => target)).toEqual([pathname + search]);
}
