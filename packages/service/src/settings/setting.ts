import { availableParallelism } from "node:os";
import { parseIPRange } from "@fetchwork/kit";
import { z } from "zod";

/** A schema that reads the text of a variable, or what stands for one that is not set. */
export type Setting<Value = unknown> = z.ZodType<Value>;

/** The value of a secret in `.env.example`, in whose place a random one comes. */
export const secretExample = "replace-with-32-or-more-random-characters";

/** Whether a setting was made by {@link secret} or {@link secrets}. */
export function isSecret(setting: Setting): boolean {
  const issue = setting.safeParse(secretExample).error?.issues[0];
  return issue?.message === faultOfSecret(secretExample);
}

/** Whether a service cannot start without a setting. */
export function isRequired(setting: Setting): boolean {
  return setting.safeParse(undefined).error !== undefined;
}

/** Makes a setting of a text, of which it describes the fault. */
function setting<Value>(
  read: (text: string, fault: (what: string) => typeof z.NEVER) => Value,
): z.ZodPipe<z.ZodString, z.ZodTransform<Value, string>> {
  return z.string().transform((text, context) =>
    read(text, (message) => {
      context.addIssue({ code: "custom", message, input: text });
      return z.NEVER;
    }),
  );
}

/** A whole number in digits, with limits. */
export function wholeNumber(
  min: number,
  max: number,
): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>> {
  return setting((text, fault) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    const limits = `a whole number from ${min} to ${max}`;
    return fault(`must be ${limits}, got ${JSON.stringify(text)}`);
  });
}

/** A number of processes, at most 256: in digits, or `auto` for one per core. */
export function processCount(): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>> {
  return setting((text, fault) => {
    const number = text === "auto" ? Math.min(availableParallelism(), 256) : Number(text);
    if (/^(?:auto|\d+)$/.test(text) && number >= 1 && number <= 256) return number;
    return fault(`must be a whole number from 1 to 256, or auto, got ${JSON.stringify(text)}`);
  });
}

/** One of some words. */
export function oneOf<const Word extends string>(
  ...words: readonly Word[]
): z.ZodPipe<z.ZodString, z.ZodTransform<Word, string>> {
  return setting((text, fault) => {
    const word = words.find((known) => known === text);
    if (word !== undefined) return word;
    const listed = `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
    return fault(`must be ${listed}, got ${JSON.stringify(text)}`);
  });
}

/** `yes` or `no`. */
export function yesOrNo(): Setting<boolean> {
  return oneOf("yes", "no").transform((word) => word === "yes");
}

/** A secret of at least 32 characters that is not the example. Messages never have it. */
export function secret(): z.ZodPipe<z.ZodString, z.ZodTransform<string, string>> {
  return setting((text, fault) => {
    const wrong = faultOfSecret(text);
    return wrong === undefined ? text : fault(wrong);
  });
}

/** Secrets with commas between them, such as keys of which the first one is current. */
export function secrets(): z.ZodPipe<z.ZodString, z.ZodTransform<readonly string[], string>> {
  return setting((text, fault) => {
    const words = wordsOf(text);
    // Commas alone are one secret that is too short.
    const [wrong] = [words[0] ?? "", ...words].flatMap((word) => faultOfSecret(word) ?? []);
    return wrong === undefined ? words : fault(wrong);
  });
}

export const secretAdvice = ': set it to the output of "openssl rand -hex 32"';

function faultOfSecret(text: string): string | undefined {
  if (text.startsWith("replace-with-")) return `still has its example value${secretAdvice}`;
  return text.length < 32 ? `needs at least 32 characters${secretAdvice}` : undefined;
}

/** An origin, such as `https://api.example`. */
export function origin(): z.ZodPipe<z.ZodString, z.ZodTransform<string, string>> {
  return setting((text, fault) => {
    return originOf(text) ?? fault(`must be an origin, got ${JSON.stringify(text)}`);
  });
}

/** Addresses and ranges with commas between them. */
export function addressRanges(): z.ZodPipe<z.ZodString, z.ZodTransform<readonly string[], string>> {
  return setting((text, fault) => {
    const ranges = wordsOf(text);
    const wrong = ranges.find((range) => parseIPRange(range) === undefined);
    return wrong === undefined
      ? ranges
      : fault(`has ${JSON.stringify(wrong)}, which is not an address`);
  });
}

/** Origins with commas between them. */
export function origins(): z.ZodPipe<z.ZodString, z.ZodTransform<readonly string[], string>> {
  return setting((text, fault) => {
    const words = wordsOf(text);
    const wrong = words.find((word) => originOf(word) === undefined);
    if (wrong !== undefined) return fault(`has ${JSON.stringify(wrong)}, which is not an origin`);
    return words.flatMap((word) => originOf(word) ?? []);
  });
}

/** The parts of a list with commas. */
function wordsOf(text: string): readonly string[] {
  return text.split(",").flatMap((word) => word.trim() || []);
}

function originOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  return url.href === `${url.origin}/` ? url.origin : undefined;
}

/**
 * Whether the host of a URL is this machine, which plain HTTP and plain SMTP may reach. Narrower
 * than `isLoopbackHost` of the kit: names under `.localhost` are not taken.
 */
export function isThisMachine(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
