import { z } from "zod";

/** Addresses are compared in lower case, and stored so. */
export const emailSchema: z.ZodType<string, string> = z
  .string()
  .trim()
  .max(254)
  .check(z.email())
  .toLowerCase();

export const role: z.ZodEnum<{ user: "user"; admin: "admin" }> = z.enum(["user", "admin"]);

/** Without control characters, which HTTP Basic cannot carry (RFC 7617 section 2). */
export const passwordSchema: z.ZodType<string, string> = z
  .string()
  .min(6)
  .max(200)
  .regex(/^\P{Cc}*$/u, "password must not contain control characters");

/** `null` and the empty text, as forms send it, go back to what follows from the email. */
export const name: z.ZodType<string | null | undefined> = orNone(z.string().trim().max(100));

export const picture: z.ZodType<string | null | undefined> = orNone(
  z.url({ protocol: /^https?$/ }).max(2_000),
);

function orNone(schema: z.ZodType<string>): z.ZodType<string | null | undefined> {
  return z.preprocess(noneForEmpty, schema.nullable()).optional();
}

function noneForEmpty(value: unknown): unknown {
  return typeof value === "string" && value.trim() === "" ? null : value;
}
