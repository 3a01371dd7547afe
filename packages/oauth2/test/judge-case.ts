import { expect } from "vitest";
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
