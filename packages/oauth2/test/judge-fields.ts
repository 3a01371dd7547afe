import { snakyHashClass } from "../src/compat/index.ts";
import type { Hash, VectorCase } from "./vector-case.ts";

/** Fields that the server, the form or the hash of a case has, in snake case. */
export function fieldsOf(test: VectorCase): Hash {
  const { hash, form } = test.input;
  if (hash !== undefined) return hash;
  const text = form ?? lastBody(test);
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return isRecord(value) ? snakyHashClass().from(value) : {};
  } catch {
    return Object.fromEntries(new URLSearchParams(text));
  }
}

/** Body of the last response. */
export function lastBody({ input }: VectorCase): string {
  return input.server?.at(-1)?.body ?? "";
}

export function snaky(value: unknown): unknown {
  return isRecord(value) ? snakyHashClass().from(value) : value;
}

export function isRecord(value: unknown): value is Hash {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
