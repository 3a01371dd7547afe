import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { json, startScriptedServer } from "../../../oauth2/test/scripted-server.ts";
import { clientSecret, signIn, startSignInServer, type SignInServer } from "./sign-in-server.ts";
import { openTerminal, type Terminal } from "./terminal.ts";

let server: SignInServer;
/** The same, whose tokens are never good for long enough. */
let hasty: SignInServer;
beforeAll(async () => {
  server = await startSignInServer();
  hasty = await startSignInServer(1);
});
afterAll(async () => {
  await server.close();
  await hasty.close();
});

async function signedIn(
  scope = "openid email offline_access",
  { issuer }: SignInServer = server,
): Promise<Terminal> {
  const terminal = await openTerminal();
  const running = terminal.start(
    ["login", "--issuer", issuer, "--client-id", "secret", "--no-browser", "--scope", scope],
    { env: { FETCHWORK_OAUTH_CLIENT_SECRET: clientSecret } },
  );
  const [, url = ""] = await running.seen(/^ {2}(http\S+)$/m);
  await signIn(url);
  expect((await running.finished).code).toBe(0);
  return terminal;
}

interface KeptToken {
  readonly access_token: string;
  readonly refresh_token: string | null;
}

async function kept({ configHome }: Terminal): Promise<KeptToken> {
  const folder = join(configHome, "fetchwork", "oauth");
  const [file = ""] = (await readdir(folder)).filter((one) => one.endsWith(".json"));
  const { token } = JSON.parse(await readFile(join(folder, file), "utf8")) as { token: KeptToken };
  return token;
}

async function isActive(token: string): Promise<boolean> {
  const response = await fetch(`${server.issuer}/token/introspection`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`secret:${clientSecret}`)}` },
    body: new URLSearchParams({ token }),
  });
  const { active } = (await response.json()) as { active: boolean };
  return active;
}

describe("oauth token", () => {
  it("reports that there is no sign-in", async () => {
    const { code, stdout, stderr } = await (await openTerminal()).run(["token"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(
      'not signed in (profile "default"): run fetchwork oauth login --issuer <url> --client-id <id>\n',
    );
  });

  it("prints a valid token without a request", async () => {
    const terminal = await signedIn();
    const grants = server.grants.length;
    expect(grants).toBeGreaterThan(0);
    const { access_token } = await kept(terminal);
    expect(await terminal.run(["token"])).toEqual({
      code: 0,
      stdout: `${access_token}\n`,
      stderr: "",
    });
    const { stdout } = await terminal.run(["token", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      access_token,
      token_type: "Bearer",
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(server.grants).toHaveLength(grants);
  });

  it("refreshes a token whose remaining lifetime is too short", async () => {
    const terminal = await signedIn();
    const before = await kept(terminal);
    const { stdout } = await terminal.run(["token", "--min-validity", "3601"]);
    expect(stdout.trim()).not.toBe(before.access_token);
    expect(await isActive(stdout.trim())).toBe(true);
    expect((await kept(terminal)).refresh_token).not.toBe(before.refresh_token);
  });

  it("requests the resource and scope of the sign-in when it refreshes", async () => {
    await using scripted = await startScriptedServer();
    const { origin } = scripted;
    const device = {
      device_code: "D",
      user_code: "U",
      verification_uri: origin,
      expires_in: 60,
      interval: 1,
    };
    const tokens = { access_token: "A", refresh_token: "R", expires_in: 3600 };
    const metadata = {
      issuer: origin,
      device_authorization_endpoint: `${origin}/device`,
      token_endpoint: `${origin}/token`,
    };
    scripted.respond = ({ target }) =>
      json(target === "/device" ? device : target === "/token" ? tokens : metadata);
    const terminal = await openTerminal();
    const resources = ["https://api.example/v1", "https://api.example/v2"];
    const wanted = resources.flatMap((resource) => ["--resource", resource]);
    const issuer = ["--issuer", origin, "--discovery", "oauth2", "--client-id", "cli"];
    const login = ["login", "--device", ...issuer, "--scope", "read write", ...wanted];
    expect(await terminal.run(login)).toMatchObject({ code: 0 });
    const lastForm = (): URLSearchParams => new URLSearchParams(scripted.seen.at(-1)?.body);
    expect(lastForm().getAll("resource")).toEqual(resources);

    const refresh = ["token", "--min-validity", "3601"];
    expect(await terminal.run(refresh)).toMatchObject({ code: 0 });
    expect(lastForm().get("grant_type")).toBe("refresh_token");
    expect(lastForm().getAll("resource")).toEqual(resources);
    expect(lastForm().get("scope")).toBe("read write");
  });

  it("reports the provider's error when the refresh token is revoked", async () => {
    const terminal = await signedIn();
    const { refresh_token: token } = await kept(terminal);
    await fetch(`${server.issuer}/token/revocation`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`secret:${clientSecret}`)}` },
      body: new URLSearchParams({ token: token ?? "" }),
    });
    const { code, stderr } = await terminal.run(["token", "--min-validity", "3601"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("invalid_grant")]);
  });

  it("reports an expired token that has no refresh token", async () => {
    const terminal = await signedIn("openid", hasty);
    const { code, stdout, stderr } = await terminal.run(["token", "--min-validity", "60"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("the token cannot be refreshed");
  });

  it("rejects a damaged file without showing its content", async () => {
    const terminal = await signedIn();
    const path = join(terminal.configHome, "fetchwork", "oauth");
    const [file = ""] = await readdir(path);
    await writeFile(join(path, file), '{"canary');
    const { code, stderr } = await terminal.run(["token"]);
    expect([code, stderr]).toEqual([1, "fetchwork oauth token: the file of a token is damaged\n"]);
  });
});

describe("oauth logout", () => {
  it("revokes both tokens and removes the file", async () => {
    const terminal = await signedIn();
    const { access_token, refresh_token } = await kept(terminal);
    expect(await isActive(access_token)).toBe(true);
    const { code, stdout } = await terminal.run(["logout", "--json"]);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { profile: "default", removed: true, revoked: true },
    ]);
    expect(await isActive(access_token)).toBe(false);
    expect(await isActive(refresh_token ?? "")).toBe(false);
    expect(await readdir(join(terminal.configHome, "fetchwork", "oauth"))).toEqual([]);
    expect(await terminal.run(["logout"])).toMatchObject({
      code: 0,
      stderr: "Not signed in as default\n",
    });
  });

  it("deletes the tokens when the provider is unreachable, and reports it", async () => {
    const gone = await startSignInServer();
    const terminal = await signedIn(undefined, gone);
    await gone.close();
    const { code, stderr } = await terminal.run(["logout"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("the provider did not revoke them"),
    ]);
    expect((await terminal.run(["token"])).code).toBe(1);
  });
});

it("fetchwork oauth prints no secret in any output but that of oauth token", async () => {
  const terminal = await signedIn();
  const first = await kept(terminal);
  const { code } = await terminal.run(["token", "--min-validity", "3601"]);
  expect(code).toBe(0);
  const second = await kept(terminal);
  const { stdout } = await terminal.run(["token"]);
  const others = terminal.everything().replaceAll(stdout, "");
  await terminal.run(["logout"]);
  const secrets = [first, second].flatMap((token) => [
    token.access_token,
    token.refresh_token ?? "",
  ]);
  expect(secrets.every((secret) => secret.length > 20)).toBe(true);
  for (const secret of [...secrets, clientSecret]) expect(others).not.toContain(secret);
  expect(others).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
  expect(others).not.toMatch(/code_verifier|[?&]code=/);
});
