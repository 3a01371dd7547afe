import { expect } from "vitest";
import { fieldsOf } from "./judge-fields.ts";
import type { Rule } from "./judge-want.ts";
import { camel, now, optionNames, type Outcome, type VectorCase } from "./vector-case.ts";

/** What wants say of the options of a token: who sets them, and what the latency does. */
export const tokenRules: readonly Rule[] = [
  {
    words:
      /^(?!.*\b(?:no|not|never) (?:be )?(?:carr|keep|kept|appl|count|stor|pass|set))(?!(?!.*\b(?:not|never)\b).*\b(?:drop|ignor|los[et]|forg[eo]t)).*latency\b/i,
    check: checkLatency,
  },
  {
    words:
      /\bmust never set\b|\b(?:never|not|no) (?:be )?(?:an? )?options?\b|\bignored? as (?:an? )?options?\b/i,
    check: checkNoOptions,
  },
  {
    words:
      /^(?!.*\b(?:no|not|never|ignored?)\b).*(?:\b(?:as|is|be|becomes?) (?:an? |the )?options?\b|\bround[- ]?trips?\b|\brestore[sd]?\b|\b(?:string|symbol)(?: keys?|-keyed)\b)/i,
    check: checkOptions,
  },
  { words: /\bas (?:an? )?(?:(?:extra|plain) )?fields?\b/i, check: checkExtraFields },
];

/** The server's time stays, and the latency of the call or of the token counts when it is asked. */
function checkLatency(test: VectorCase, { token, error }: Outcome): void {
  const { tokenOptions, options, hash, token: old } = test.input;
  const latency = [tokenOptions, options, hash, old]
    .map((given) => given?.["expires_latency"])
    .find((given) => given !== undefined);
  const { expires_in: lifetime } = fieldsOf(test);
  if (latency === undefined || lifetime === undefined) {
    throw new Error("the case has no latency with a lifetime");
  }
  const end = now + Number(lifetime);
  const moment = end - Number(latency);
  expect(error).toBeUndefined();
  expect([token?.expiresAt, token?.options.expiresLatency]).toEqual([end, Number(latency)]);
  expect([token?.expired(moment - 1), token?.expired(moment)]).toEqual([false, true]);
}

/** The options are those of the caller, or what they are by default. */
function checkNoOptions({ input }: VectorCase, { token }: Outcome): void {
  expect(token?.options).toMatchObject({
    mode: "header",
    headerFormat: "Bearer %s",
    paramName: "access_token",
    tokenName: undefined,
    expiresLatency: 0,
    ...camel(input.tokenOptions),
  });
}

/** What a hash says of options sets them, is stored again, and is not a field. */
function checkOptions({ input }: VectorCase, { token, result }: Outcome): void {
  const given = Object.entries(input.hash ?? {}).filter(([name]) => optionNames.includes(name));
  if (given.length === 0) throw new Error("the case has no option in a hash");
  const options = Object.fromEntries(given);
  expect(token?.options).toMatchObject(camel(options));
  expect(result).toMatchObject({ to_hash: options });
  for (const [name] of given) expect(token?.params).not.toHaveProperty(name);
}

function checkExtraFields(test: VectorCase, { token }: Outcome): void {
  const fields = Object.entries(fieldsOf(test)).filter(([name]) => optionNames.includes(name));
  if (fields.length === 0) throw new Error("the case has no fields with names of options");
  expect(token?.params).toMatchObject(Object.fromEntries(fields));
}
