import { expect, it } from "vitest";
import { z } from "zod";
import { defineUser } from "../../src/accounts/users/define-user.ts";
import { RestError } from "../../src/errors.ts";
import { masterKey } from "../api-client.ts";
import { openAccounts, password } from "./open-accounts.ts";

const schema = z.object({ teaches: z.boolean().default(false), city: z.string().optional() });
const user = defineUser({ schema, fields: { teaches: { write: "admin" } } });
const email = "new@example.com";

it("a sign-up does not set a field that admins set, and sets the others", async () => {
  const api = await openAccounts({ user, signUp: "public", signIn: "public", hasMails: false });
  const refused = await api.send("POST", "/users", { json: { email, password, teaches: true } });
  expect(refused.status).toBe(401);
  const form = await api.send("POST", "/users", { form: { email, password, teaches: "true" } });
  expect(form.status).toBe(401);
  const { json, status } = await api.send("POST", "/users", {
    json: { email, password, city: "Bonn" },
  });
  expect(status).toBe(201);
  expect(json).toMatchObject({ teaches: false, city: "Bonn" });
});

it("users do not set it later, nor for somebody else; admins and the master key do", async () => {
  const api = await openAccounts({ user, signUp: "public", signIn: "public", hasMails: false });
  const { id, token } = await api.join("ada@example.com");
  const teaches = { teaches: true };
  for (const method of ["PUT", "PATCH"]) {
    const { json, status } = await api.send(method, "/users/me", { json: teaches, token });
    expect([status, json.param]).toEqual([403, "teaches"]);
  }
  const another = { email, password, ...teaches };
  expect((await api.send("POST", "/users", { json: another, token })).status).toBe(403);

  const admin = await api.join("admin@example.com", "admin");
  const change = { json: teaches, token: admin.token };
  expect((await api.send("PATCH", `/users/${id}`, change)).json.teaches).toBe(true);
  const created = await api.send("POST", "/users", { json: another, token: masterKey });
  expect([created.status, created.json.teaches]).toEqual([201, true]);
});

it("defineUser refuses rules of fields that are not in the schema of users", () => {
  const fields = { role: "admin" };
  const define = (): unknown => defineUser({ schema, fields: fields as object });
  expect(define).toThrow(RestError);
  expect(define).toThrow("fields of users names role, expected a field of their schema");
});

it("a sign-up sets no field that nobody sets, and neither do admins", async () => {
  const plan = z.enum(["free", "paid"]).default("free");
  const paying = defineUser({ schema: z.object({ plan }), fields: { plan: { write: "nobody" } } });
  const settings = { signUp: "public", signIn: "public", hasMails: false } as const;
  const api = await openAccounts({ user: paying, ...settings });
  const json = { email, password, plan: "paid" };
  const signedUp = await api.send("POST", "/users", { json });
  expect(signedUp).toMatchObject({ status: 201, json: { plan: "free" } });
  const another = { ...json, email: "other@example.com" };
  const created = await api.send("POST", "/users", { json: another, token: masterKey });
  expect(created).toMatchObject({ status: 201, json: { plan: "free" } });
  const { NewUser } = api.openApi.components["schemas"] as Record<string, { properties: object }>;
  expect(Object.keys(NewUser?.properties ?? {})).not.toContain("plan");
});

it("the refusal of a sign-up does not repeat a value that nobody sees", async () => {
  const pin = z.string().refine((value) => value !== "weak", {
    error: ({ input }) => `${String(input)} is weak`,
  });
  const pinned = defineUser({ schema: z.object({ pin }), fields: { pin: { read: "nobody" } } });
  const api = await openAccounts({ user: pinned, signUp: "public", hasMails: false });
  const { json, status } = await api.send("POST", "/users", {
    json: { email, password, pin: "weak" },
  });
  expect([status, json.param]).toEqual([400, "pin"]);
  expect(JSON.stringify(json)).not.toContain("weak");
});

it.each(["email", "passwordHash", "sessionVersion", "verified", "unconfirmed"])(
  "defineUser refuses a schema with the field %s, which sign-ups would set",
  (name) => {
    expect(() => defineUser({ schema: z.object({ [name]: z.unknown() }) })).toThrow(
      `the schema of users has the field ${name}, which every user has already`,
    );
  },
);
