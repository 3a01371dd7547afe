import { expect } from "vitest";
import { OAuth2Error } from "../src/index.ts";
import { judgeWant } from "./judge-want.ts";
import { expectSame, type Hash, type Outcome, type VectorCase } from "./vector-case.ts";

/**
 * A case that our decisions settle otherwise than it was recorded, and how it is judged instead.
 */
interface Exception {
  readonly reason: string;
  readonly applies: (test: VectorCase) => boolean;
  readonly judge: (test: VectorCase, outcome: Outcome) => void;
}

const exceptions: readonly Exception[] = [
  {
    reason:
      "decision 1A.5: the latency counts when expired() is asked, never changes expires_at, and is stored",
    applies: ({ policy, input, gem }) =>
      policy === "same" && gem.error === undefined && latencyOf(input) > 0,
    judge: expectSameMoment,
  },
  {
    reason: "decision 1A.12: a token without a value is of no use, so that it counts as expired",
    applies: ({ policy, input, gem }) =>
      policy === "same" && input.op === "fromHash" && isEmptyToken(gem.result),
    judge: ({ gem }, outcome) => {
      const { token, to_hash } = Object(gem.result) as Record<string, Hash>;
      expectSame({ ...gem, result: { token: { ...token, expired: true }, to_hash } }, outcome);
    },
  },
  {
    reason: "decision 1A.4: with raiseErrors false the token of a failed request has the error",
    applies: ({ policy, input, want }) =>
      policy === "choice" &&
      input.client?.options?.["raise_errors"] === false &&
      (want === null || (typeof want === "string" && /\bnever an? empty token|^null\b/.test(want))),
    judge: (_test, { token, error }) => {
      expect(error).toBeUndefined();
      expect(token?.token).toBe("");
      expect(token?.error).toBeInstanceOf(OAuth2Error);
    },
  },
  {
    reason:
      "an address to follow is encoded as browsers do (URL standard); it stays within the origin",
    applies: ({ policy, input, want }) =>
      policy === "choice" &&
      /\bOAuth2Error\b/.test(String(want)) &&
      addressesOf(input).some(isEncoded),
    judge: ({ input }, { error, seen }) => {
      expect(error).toBeUndefined();
      const [address = ""] = addressesOf(input).filter(isEncoded);
      expect(seen.at(-1)?.target).toBe(encodeURI(address));
    },
  },
];

/**
 * Judges by rule what ours did: `same` must be equal, `fix` and `choice` must be what they want.
 * Knows no case by its name.
 *
 * @throws an assertion error when ours did something else, or nobody can tell what is wanted
 */
export function judgeCase(test: VectorCase, outcome: Outcome): void {
  const exception = exceptions.find(({ applies }) => applies(test));
  if (exception !== undefined) {
    exception.judge(test, outcome);
    return;
  }
  switch (test.policy) {
    case "same":
      expectSame(test.gem, outcome);
      return;
    case "fix":
    case "choice":
      judgeWant(test, outcome);
      return;
    default:
      throw new Error(`unknown policy ${String(test.policy)}`);
  }
}

function addressesOf({ server = [] }: VectorCase["input"]): readonly string[] {
  return server.flatMap(({ headers }) => headers?.["Location"] ?? []);
}

/** Whether it is a path that becomes a URL by encoding alone. */
function isEncoded(address: string): boolean {
  return (
    address.startsWith("/") &&
    address !== encodeURI(address) &&
    URL.canParse(address, "http://host")
  );
}

function isEmptyToken(result: unknown): boolean {
  const { token, expired } = Object(Object(result).token);
  return token === "" && expired === false;
}

/** The latency that the recorded time has already; a refresh of the gem loses that of the token. */
function latencyOf({ hash, options, tokenOptions }: VectorCase["input"]): number {
  return Number({ ...hash, ...options, ...tokenOptions }["expires_latency"] ?? 0);
}

/** The token expires at the same moment, which it says in another way. */
function expectSameMoment({ input, gem }: VectorCase, outcome: Outcome): void {
  const latency = latencyOf(input);
  const recorded = Object(gem.result) as Hash;
  const isStored = "to_hash" in recorded;
  const { token, to_hash } = (isStored ? recorded : { token: recorded }) as Record<string, Hash>;
  const moment = Number(token?.["expires_at"]);
  const later = { expires_at: moment + latency };
  const stored = { ...to_hash, ...later, expires_latency: latency };
  const result = isStored
    ? { token: { ...token, ...later }, to_hash: stored }
    : { ...token, ...later };
  expectSame({ ...gem, result }, outcome);
  expect(outcome.token?.expired(moment - 1)).toBe(false);
  expect(outcome.token?.expired(moment)).toBe(true);
}
