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
