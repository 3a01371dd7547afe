import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { admin } from "better-auth/plugins";
import { expect, it } from "vitest";
import { createCustomAuthentication } from "../../src/http/authentication.ts";
import { openNotes } from "../custom-notes.ts";

const baseURL = "http://localhost:3000";

/** An application of better-auth, in memory. */
function openAuth(database: Record<string, Record<string, unknown>[]>) {
  return betterAuth({
    baseURL,
    secret: "s".repeat(32),
    database: memoryAdapter(database),
    emailAndPassword: { enabled: true },
    plugins: [admin()],
    telemetry: { enabled: false },
  });
}

it("an API takes the cookies of better-auth, and no others", async () => {
  const database = { user: [], session: [], account: [], verification: [] };
  const auth = openAuth(database);
  const send = await openNotes(
    createCustomAuthentication(async (_token, request) => {
      const found = await auth.api.getSession({ headers: request.headers });
      return found ? { id: found.user.id, role: found.user.role ?? "user" } : undefined;
    }),
  );
  const join = async (name: string): Promise<string> => {
    const response = await auth.handler(
      new Request(`${baseURL}/api/auth/sign-up/email`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: baseURL },
        body: JSON.stringify({ name, email: `${name}@example.com`, password: "analytical" }),
      }),
    );
    expect(response.status).toBe(200);
    return response.headers
      .getSetCookie()
      .map((one) => one.split(";")[0])
      .join("; ");
  };
  const [ann, bob, root] = [await join("ann"), await join("bob"), await join("root")];
  for (const user of database.user as { name: string; role: string }[]) {
    if (user.name === "root") user.role = "admin";
  }

  const forged = ann.replace(/=[^.]*/, `=${"x".repeat(32)}`);
  for (const cookie of [undefined, forged, "better-auth.session_token=x"]) {
    expect((await send("POST", "/notes", { text: "a" }, { cookie })).status).toBe(401);
  }
  const made = await send("POST", "/notes", { text: "a" }, { cookie: ann });
  expect(made.status).toBe(201);
  const path = `/notes/${made.json.id}`;
  expect((await send("PATCH", path, { text: "b" }, { cookie: bob })).status).toBe(403);
  expect((await send("PATCH", path, { text: "b" }, { cookie: ann })).status).toBe(200);
  expect((await send("DELETE", path, undefined, { cookie: ann })).status).toBe(403);
  expect((await send("DELETE", path, undefined, { cookie: root })).status).toBe(204);

  await auth.handler(
    new Request(`${baseURL}/api/auth/sign-out`, {
      method: "POST",
      headers: { cookie: ann, origin: baseURL },
    }),
  );
  expect((await send("POST", "/notes", { text: "a" }, { cookie: ann })).status).toBe(401);
});
