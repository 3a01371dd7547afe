import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { json, startScriptedServer } from "../../../oauth2/test/scripted-server.ts";
import {
  clientSecret,
  signIn,
  startResource,
  startSignInServer,
  type SignInServer,
} from "./sign-in-server.ts";
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

describe.each(["token", "refresh"])("oauth %s", (command) => {
  it("reports that there is no sign-in", async () => {
    const { code, stdout, stderr } = await (await openTerminal()).run([command]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(
      'not signed in (profile "default"): run fetchwork oauth login --issuer <url> --client-id <id>\n',
    );
  });
});

describe("oauth token", () => {
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

describe("oauth refresh", () => {
  it("requests the resource and scope of the sign-in, for tokens of older versions too", async () => {
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
    scripted.respond = ({ target }) => json(target === "/device" ? device : tokens);
    const terminal = await openTerminal();
    const endpoints = ["--device-url", `${origin}/device`, "--token-url", `${origin}/token`];
    const resources = ["https://api.example/v1", "https://api.example/v2"];
    const wanted = resources.flatMap((resource) => ["--resource", resource]);
    const login = ["login", "--device", "--client-id", "cli", "--scope", "read write"];
    expect(await terminal.run([...login, ...endpoints, ...wanted])).toMatchObject({ code: 0 });
    const lastForm = (): URLSearchParams => new URLSearchParams(scripted.seen.at(-1)?.body);
    expect(lastForm().getAll("resource")).toEqual(resources);

    expect(await terminal.run(["refresh"])).toMatchObject({ code: 0 });
    expect(lastForm().get("grant_type")).toBe("refresh_token");
    expect(lastForm().getAll("resource")).toEqual(resources);
    expect(lastForm().get("scope")).toBe("read write");

    const folder = join(terminal.configHome, "fetchwork", "oauth");
    const [file = ""] = (await readdir(folder)).filter((one) => one.endsWith(".json"));
    const content = JSON.parse(await readFile(join(folder, file), "utf8"));
    delete content.token.refresh_params;
    await writeFile(join(folder, file), JSON.stringify(content));
    expect(await terminal.run(["refresh"])).toMatchObject({ code: 0 });
    expect(lastForm().getAll("resource")).toEqual(resources);
  });

  it("replaces a valid token and prints the new expiry", async () => {
    const terminal = await signedIn();
    const before = await kept(terminal);
    const { code, stdout } = await terminal.run(["refresh", "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { expired: false, refreshable: true }]);
    expect((await kept(terminal)).access_token).not.toBe(before.access_token);
  });

  it("reports the provider's error when the refresh token is revoked", async () => {
    const terminal = await signedIn();
    const { refresh_token: token } = await kept(terminal);
    await fetch(`${server.issuer}/token/revocation`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`secret:${clientSecret}`)}` },
      body: new URLSearchParams({ token: token ?? "" }),
    });
    const { code, stderr } = await terminal.run(["refresh"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("invalid_grant")]);
  });
});

describe("oauth status", () => {
  it("prints all sign-ins by name and exits with 1 if there are none", async () => {
    const terminal = await signedIn();
    const env = { FETCHWORK_OAUTH_PROFILE: "work" };
    const running = terminal.start(
      ["login", "--issuer", server.issuer, "--client-id", "cli", "--no-browser"],
      { env },
    );
    const [, url = ""] = await running.seen(/^ {2}(http\S+)$/m);
    await signIn(url);
    await running.finished;
    const { code, stdout } = await terminal.run(["status", "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      [
        { profile: "default", scope: ["openid", "email", "offline_access"], refreshable: true },
        { profile: "work", clientId: "cli", user: { sub: "user-1" }, refreshable: false },
      ],
    ]);
    expect((await terminal.run(["status", "-p", "work"])).stdout).toMatch(/^work: valid, until 2/);
    const other = await openTerminal();
    expect(await other.run(["status"])).toMatchObject({ code: 1, stdout: "" });
    expect((await other.run(["status", "-p", "work"])).code).toBe(1);
  });
});

describe("colours", () => {
  it("colours are printed to terminals only", async () => {
    const terminal = await signedIn();
    const run = async (isTerminal: boolean): Promise<string> => {
      let written = "";
      const write = (content: string | Uint8Array): void => void (written += content.toString());
      await terminal.run(["status"], { stdout: { isTerminal, write } });
      return written;
    };
    expect(await run(true)).toContain("\u001b[32mvalid\u001b[39m");
    expect(await run(false)).not.toContain("\u001b");
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

  it("deletes tokens without revoking them with --no-revoke", async () => {
    const terminal = await signedIn();
    const { access_token } = await kept(terminal);
    expect((await terminal.run(["logout", "--no-revoke"])).code).toBe(0);
    expect(await isActive(access_token)).toBe(true);
    expect((await terminal.run(["token"])).code).toBe(1);
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
    expect((await terminal.run(["status"])).code).toBe(1);
  });
});

describe("oauth request", () => {
  it.each([
    ["plain http to another machine", ["http://api.example/"], "must be https"],
    ["a name that looks like this machine", ["http://127.0.0.1.evil.example/"], "must be https"],
    ["another scheme", ["ftp://127.0.0.1/"], "must be https"],
    ["a path", ["/items"], "must be an absolute URL"],
    ["a password in the URL", ["https://a:hidden@api.example/"], "must not contain a user"],
    [
      "a header with a line break",
      ["https://api.example/", "-H", "x: a\r\nhidden: 1"],
      "must be a single line",
    ],
    [
      "a header with a line feed at its end",
      ["https://api.example/", "-H", "x: hidden\n"],
      "must be a single line",
    ],
    ["a header with a NUL", ["https://api.example/", "-H", "x: hidden\0"], "must be a single line"],
    [
      "a name with a line break",
      ["https://api.example/", "-H", "x\r\nhidden: 1"],
      "must be a single line",
    ],
    ["a header without name", ["https://api.example/", "-H", ": hidden"], "must be a single line"],
    [
      "another authorization",
      ["https://api.example/", "-H", "Authorization: hidden"],
      "must not set Authorization",
    ],
    ["another host", ["https://api.example/", "-H", "hOST: hidden"], "must not set hOST"],
    ["TRACE", ["TRACE", "https://api.example/"], "TRACE is not allowed"],
    ["a method with a line break", ["GET\r\nhidden", "https://api.example/"], "the method must be"],
    ["a body with GET", ["GET", "https://api.example/", "-d", "hidden"], "GET cannot have a body"],
    ["no URL", [], "url is missing"],
    ["a third argument", ["GET", "https://api.example/", "x"], "unexpected argument"],
  ])("rejects %s before anything is sent", async (_what, args, message) => {
    const { code, stdout, stderr } = await (await openTerminal()).run(["request", ...args]);
    expect([code, stdout, stderr.split("\n")[0]]).toEqual([
      2,
      "",
      expect.stringContaining(message),
    ]);
    expect(stderr).not.toContain("hidden");
  });

  it("sends the token and prints the body unchanged", async () => {
    const terminal = await signedIn();
    const resource = await startResource();
    onTestFinished(() => resource.close());
    const { access_token } = await kept(terminal);
    expect(await terminal.run(["request", `${resource.origin}/items?a=1`])).toEqual({
      code: 0,
      stdout: '{"ok":true}',
      stderr: "",
    });
    expect(resource.received).toMatchObject([
      { method: "GET", url: "/items?a=1", headers: { authorization: `Bearer ${access_token}` } },
    ]);
  });

  it.each([
    ["a text", "a=1", "a=1", "application/x-www-form-urlencoded"],
    ["JSON", '{"a":1}', '{"a":1}', "application/json"],
    ["a file", "@body.json", '[1, "é"]', "application/json"],
    ["standard input", "@-", "from a pipe", "application/octet-stream"],
  ])("sends %s as the body", async (_what, data, body, type) => {
    const terminal = await signedIn();
    const resource = await startResource();
    onTestFinished(() => resource.close());
    await writeFile(join(terminal.configHome, "body.json"), body);
    async function* stdin(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("from a ");
      yield Buffer.from("pipe");
    }
    const args = ["request", "put", resource.origin, "-d", data, "-H", "X-A: 1", "-H", "x-a:2"];
    expect((await terminal.run(args, { stdin: stdin() })).code).toBe(0);
    expect(resource.received).toMatchObject([
      { method: "PUT", body, headers: { "content-type": type, "x-a": "1, 2" } },
    ]);
  });

  it("prints status and headers with -i, one object with --json, and exits with 1 for a 418", async () => {
    const terminal = await signedIn();
    const resource = await startResource();
    onTestFinished(() => resource.close());
    const { code, stdout } = await terminal.run(["request", "-i", `${resource.origin}/teapot`]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^418 I'm a Teapot\n(?:[\w-]+: .*\n)+\nshort and stout$/);
    const json = await terminal.run(["request", "--json", resource.origin]);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 200, body: { ok: true } });
    const escaped = await terminal.run(["request", "--json", `${resource.origin}/escape8`]);
    expect(escaped.stdout).not.toMatch(/[\u009b\u202e]/);
    expect(JSON.parse(escaped.stdout)).toMatchObject({ body: { a: "\u009b2J\u202e" } });
    const bytes = await terminal.run(["request", "--json", `${resource.origin}/bytes`]);
    expect(JSON.parse(bytes.stdout)).toMatchObject({ status: 200, base64: "//4A" });
  });

  it("writes bytes unchanged to a pipe and escapes control sequences for a terminal", async () => {
    const terminal = await signedIn();
    const resource = await startResource();
    onTestFinished(() => resource.close());
    const run = async (path: string, isTerminal: boolean): Promise<Buffer> => {
      const chunks: Buffer[] = [];
      const stdout = {
        isTerminal,
        write: (content: string | Uint8Array) => void chunks.push(Buffer.from(content)),
      };
      await terminal.run(["request", `${resource.origin}${path}`], { stdout });
      return Buffer.concat(chunks);
    };
    expect(await run("/bytes", false)).toEqual(Buffer.from([0xff, 0xfe, 0x00]));
    expect((await run("/escape", false)).toString()).toBe("\u001b[2J\u0007gone\n");
    expect((await run("/escape", true)).toString()).toBe("?[2J?gone\n");
  });

  it("follows a redirect only with -L and sends no token to another origin", async () => {
    const terminal = await signedIn();
    const other = await startResource();
    const resource = await startResource(`${other.origin}/elsewhere`);
    onTestFinished(async () => {
      await resource.close();
      await other.close();
    });
    const plain = await terminal.run(["request", "-i", `${resource.origin}/redirect`]);
    expect([plain.code, plain.stdout]).toEqual([0, expect.stringMatching(/^302 Found\n/)]);
    expect(other.received).toEqual([]);
    expect((await terminal.run(["request", "-L", `${resource.origin}/redirect`])).code).toBe(0);
    expect(other.received).toMatchObject([{ url: "/elsewhere" }]);
    expect(other.received[0]?.headers.authorization).toBeUndefined();
  });

  it("reports an unreachable server in one line", async () => {
    const terminal = await signedIn();
    const resource = await startResource();
    await resource.close();
    const { code, stderr } = await terminal.run(["request", resource.origin]);
    expect([code, stderr]).toEqual([
      1,
      `fetchwork oauth request: connection refused by ${resource.origin} (ECONNREFUSED)\n`,
    ]);
  });
});

it("prints no secret in any output but that of oauth token", async () => {
  const terminal = await signedIn();
  const first = await kept(terminal);
  const resource = await startResource();
  onTestFinished(() => resource.close());
  for (const args of [
    ["status"],
    ["status", "--json"],
    ["refresh"],
    ["refresh", "--json"],
    ["request", "-i", resource.origin],
    ["request", "--json", resource.origin],
  ]) {
    expect((await terminal.run(args)).code).toBe(0);
  }
  const second = await kept(terminal);
  const { stdout } = await terminal.run(["token"]);
  const others = terminal.everything().replace(stdout, "");
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
