import { randomUUID } from "node:crypto";
import { type Handler, runHandler } from "@fetchwork/http";
import type { AuthTokens } from "@fetchwork/rest/client";

/** Creates a user as the master key may, signs it in, and returns its tokens. */
export async function createTestUser(
  handler: Handler,
  masterKey: string,
  role: "user" | "admin",
): Promise<AuthTokens> {
  const email = `${role}-${randomUUID()}@example.com`;
  const password = "test-password";
  const send = async (
    path: string,
    form: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<object> => {
    const body = new URLSearchParams({ access_token: masterKey, ...form });
    const request = new Request(`http://localhost${path}`, { method: "POST", headers, body });
    const response = await runHandler(handler, request);
    if (response.status === 201) return (await response.json()) as object;
    throw new Error(`POST ${path} is ${response.status}: ${await response.text()}`);
  };
  await send("/users", { email, password, role });
  const authorization = `Basic ${btoa(`${email}:${password}`)}`;
  const answer = (await send("/auth", {}, { authorization })) as {
    readonly token: string;
    readonly refreshToken: string;
    readonly expiresIn: number;
  };
  const expiresAt = Date.now() + answer.expiresIn * 1000;
  return { token: answer.token, refreshToken: answer.refreshToken, expiresAt };
}
