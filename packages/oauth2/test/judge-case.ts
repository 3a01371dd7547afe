import { expect } from "vitest";
import { OAuth2Error } from "../src/index.ts";
import { judgeWant } from "./judge-want.ts";
import { expectSame, type Hash, type Outcome, type VectorCase } from "./vector-case.ts";

/** A case that our decisions settle otherwise than it was recorded, and how it is judged instead. */
interface Exception {
  readonly reason: string;
  readonly applies: (test: VectorCase) => boolean;
  readonly judge: (test: VectorCase, outcome: Outcome) => void;
}

const exceptions: readonly Exception[] = [
  {
    reason:
      "decision 1A.5: the latency counts when expired() is asked, never changes expires_at, and is stored",
    applies: ({ policy, input }) => policy === "same" && latencyOf(input.hash ?? {}) > 0,
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
];

/**
 * Judges by rule what ours did: `same` must be equal, `fix` and `choice` must be what they want. Knows no case by its
 * name.
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

function isEmptyToken(result: unknown): boolean {
  const { token, expired } = Object(Object(result).token);
  return token === "" && expired === false;
}

function latencyOf(hash: Hash): number {
  return Number(hash["expires_latency"] ?? 0);
}

/** The token expires at the same moment, which it says in another way. */
function expectSameMoment({ input, gem }: VectorCase, outcome: Outcome): void {
  const latency = latencyOf(input.hash ?? {});
  const recorded = gem.result as {
    readonly token: Hash & { readonly expires_at: number };
    readonly to_hash: Hash;
  };
  const moment = recorded.token.expires_at;
  const expires_at = moment + latency;
  const token = { ...recorded.token, expires_at };
  const to_hash = { ...recorded.to_hash, expires_at, expires_latency: latency };
  expectSame({ result: { token, to_hash } }, outcome);
  expect(outcome.token?.expired(moment - 1)).toBe(false);
  expect(outcome.token?.expired(moment)).toBe(true);
}
