import { request as httpRequest } from "node:http";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { serve } from "@fetchwork/http/serve";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  clientSecret,
  confirmDevice,
  signIn,
  startSignInServer,
  type SignInServer,
} from "./sign-in-server.ts";
import { openTerminal, type Finished, type Terminal } from "./terminal.ts";

let server: SignInServer;
beforeAll(async () => {
  server = await startSignInServer();
});
afterAll(async () => server.close());

const login = (...more: readonly string[]): readonly string[] => [
  "login",
  "--issuer",
  server.issuer,
  "--client-id",
  "cli",
  "--no-browser",
  ...more,
];
const address = /^ {2}(http\S+)$/m;

async function signInAt(terminal: Terminal, args: readonly string[]): Promise<Finished> {
  const running = terminal.start(args);
  const [, url = ""] = await running.seen(address);
  const page = await signIn(url);
  expect(page.text).toContain("Signed in. You may close this window.");
  return running.finished;
}

/** Sends a request to the loopback server, whatever it is. */
function send(
  url: URL | string,
  options: { readonly method?: string; readonly host?: string } = {},
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }> {
  return new Promise((resolve, reject) => {
    const { method = "GET", host } = options;
    const headers = host === undefined ? {} : { host };
    const request = httpRequest(url, { method, headers }, (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      text(response).then((body) => resolve({ status, headers: answered, text: body }), reject);
    });
    request.once("error", reject);
    request.end();
  });
}

describe("oauth login", () => {
  it.each([
    ["no client", ["--issuer", "https://id.example"], "--client-id is missing"],
    ["no provider", ["--client-id", "x"], "--issuer is missing"],
    ["neither", [], "--client-id and --issuer are missing"],
    ["plain http", ["--issuer", "http://id.example", "--client-id", "x"], "--issuer must be https"],
    [
      "a password in the URL",
      ["--issuer", "https://u:pw@id.example", "--client-id", "x"],
      "--issuer must not contain",
    ],
    [
      "an unknown kind of discovery",
      ["--issuer", "https://id.example", "--discovery", "x", "--client-id", "x"],
      "--discovery must be",
    ],
    [
      "a resource with a fragment",
      ["--issuer", "https://id.example", "--client-id", "x", "--resource", "https://a.example/#b"],
      "--resource must be a URL without a fragment",
    ],
    [
      "a resource that is not a URL",
      ["--issuer", "https://id.example", "--client-id", "x", "--resource", "x"],
      "--resource must be",
    ],
    [
      "a redirect to another machine",
      ["--redirect-uri", "http://app.example/cb"],
      "--redirect-uri must be",
    ],
    ["a redirect with https", ["--redirect-uri", "https://127.0.0.1/cb"], "--redirect-uri must be"],
    [
      "a redirect with a query",
      ["--redirect-uri", "http://127.0.0.1/cb?x=1"],
      "--redirect-uri must be",
    ],
    ["no time", ["--timeout", "0"], "--timeout must be"],
    ["a profile that is a path", ["--profile", "../x"], "--profile must consist"],
  ])("refuses %s", async (_what, args, message) => {
    const terminal = await openTerminal();
    const { code, stderr } = await terminal.run(["login", ...args]);
    expect([code, stderr.split("\n")[0]]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain("pw");
    expect(await readdir(terminal.configHome)).toEqual([]);
  });

  it("signs in with the browser and stores the token in a file that only its owner can read", async () => {
    const terminal = await openTerminal();
    const { code, stdout } = await signInAt(
      terminal,
      login("--scope", "openid email offline_access", "--json"),
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      profile: "default",
      issuer: server.issuer,
      user: { sub: "user-1", email: "ada@example.com" },
      refreshable: true,
    });
    const folder = join(terminal.configHome, "fetchwork", "oauth");
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const files = await readdir(folder);
    expect(files).toHaveLength(1);
    expect((await stat(join(folder, files[0] ?? ""))).mode & 0o777).toBe(0o600);
  });

  it("refuses a scope with a line break before anything is asked of the user", async () => {
    const terminal = await openTerminal();
    const { code, stderr } = await terminal.run(login("--scope", "a\nb"));
    expect([code, stderr]).toEqual([2, expect.stringContaining("--scope must be")]);
  });

  it("sends PKCE, state and nonce and redirects to a port of 127.0.0.1", async () => {
    const terminal = await openTerminal();
    const running = terminal.start(login());
    const [, url = ""] = await running.seen(address);
    const params = new URL(url).searchParams;
    expect(Object.fromEntries(params)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d{4,5}\/callback$/),
      state: expect.stringMatching(/^[\w-]{22,}$/),
      nonce: expect.stringMatching(/^[\w-]{22,}$/),
    });
    running.stop();
    const { code, stderr } = await running.finished;
    expect([code, stderr]).toEqual([130, expect.stringContaining("interrupted")]);
  });

  it("rejects every callback but the expected one and still signs in", async () => {
    const terminal = await openTerminal();
    const running = terminal.start(login());
    const [, url = ""] = await running.seen(address);
    const { searchParams } = new URL(url);
    const redirect = new URL(searchParams.get("redirect_uri") ?? "");
    const state = searchParams.get("state") ?? "";
    const forged = new URL(`?state=${state}&code=stolen`, redirect);
    const attempts = [
      [new URL("?code=x", redirect), {}, 400],
      [new URL(`?state=${state}x&code=x`, redirect), {}, 400],
      [new URL("?state=&code=x", redirect), {}, 400],
      [new URL(`?state=${state.toLowerCase()}&error=access_denied`, redirect), {}, 400],
      [new URL(`/other?state=${state}&code=x`, redirect), {}, 404],
      [new URL(`/callback/?state=${state}&code=x`, redirect), {}, 404],
      [forged, { method: "POST" }, 405],
      [forged, { method: "HEAD" }, 405],
      [forged, { method: "OPTIONS" }, 405],
      [forged, { host: "evil.example" }, 421],
      [forged, { host: `evil.example:${redirect.port}` }, 421],
      [forged, { host: `localhost:${redirect.port}` }, 421],
      [forged, { host: "127.0.0.1" }, 421],
    ] as const;
    for (const [target, options, status] of attempts) {
      const answer = await send(target, options);
      expect([target.href, options, answer.status]).toEqual([target.href, options, status]);
      expect(answer.text).not.toContain(state);
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    }
    const page = await signIn(url);
    expect(page.text).toContain("Signed in");
    expect((await running.finished).code).toBe(0);
  });

  it("accepts one callback and reveals nothing to a second", async () => {
    const terminal = await openTerminal();
    const running = terminal.start(login());
    const [, url = ""] = await running.seen(address);
    const { searchParams } = new URL(url);
    const redirect = searchParams.get("redirect_uri") ?? "";
    const answer = `${redirect}?state=${searchParams.get("state")}&code=x&iss=${server.issuer}`;
    const both = await Promise.allSettled([send(answer), send(answer)]);
    const statuses = both.map((one) => (one.status === "fulfilled" ? one.value.status : "closed"));
    expect(statuses.filter((status) => status === 400)).toHaveLength(1);
    expect(statuses.filter((status) => status === 410 || status === "closed")).toHaveLength(1);
    const { code, stderr } = await running.finished;
    expect([code, stderr]).toEqual([1, expect.stringContaining("invalid_grant")]);
    expect((await terminal.run(["token"])).code).toBe(1);
  });

  it("responds with a page that can run nothing and is not cached", async () => {
    const terminal = await openTerminal();
    const running = terminal.start(login());
    const [, url = ""] = await running.seen(address);
    const { searchParams } = new URL(url);
    const denied = `${searchParams.get("redirect_uri")}?state=${searchParams.get("state")}&error=access_denied&error_description=%3Cscript%3E%1b[2J&iss=${server.issuer}`;
    const { status, headers, text } = await send(denied);
    expect(status).toBe(400);
    expect(text).not.toMatch(/script|access_denied/);
    expect(headers).toMatchObject({
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    const { code, stderr } = await running.finished;
    expect([code, stderr]).toEqual([1, expect.stringContaining("access_denied: <script>")]);
    expect(stderr).not.toContain("\u001b");
  });

  it("rejects a callback of another issuer", async () => {
    const terminal = await openTerminal();
    const running = terminal.start(login());
    const [, url = ""] = await running.seen(address);
    const { searchParams } = new URL(url);
    await send(
      `${searchParams.get("redirect_uri")}?state=${searchParams.get("state")}&code=x&iss=https://evil.example`,
    );
    expect(await running.finished).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(', got "https://evil.example"'),
    });
  });

  it("times out and stops listening", async () => {
    const terminal = await openTerminal();
    const running = terminal.start(login("--timeout", "1"));
    const [, url = ""] = await running.seen(address);
    const { code, stderr } = await running.finished;
    expect([code, stderr]).toEqual([1, expect.stringContaining("the sign-in timed out after 1 s")]);
    await expect(fetch(new URL(url).searchParams.get("redirect_uri") ?? "")).rejects.toThrow();
  });

  it("opens the browser with the URL as one argument, without a shell", async () => {
    const terminal = await openTerminal();
    const bin = join(terminal.configHome, "bin");
    const log = join(terminal.configHome, "opened");
    await mkdir(bin);
    const script = `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > ${log}.new\nmv ${log}.new ${log}\n`;
    await writeFile(join(bin, "xdg-open"), script);
    await chmod(join(bin, "xdg-open"), 0o700);
    const args = login().filter((one) => one !== "--no-browser");
    const env = {
      PATH: `${bin}:${process.env["PATH"]}`,
      DISPLAY: ":99",
      XDG_CONFIG_HOME: terminal.configHome,
    };
    const running = terminal.start(args, { env });
    const [, url = ""] = await running.seen(address);
    await expect.poll(() => readFile(log, "utf8").catch(() => "")).toBe(`1\n${url}\n`);
    await signIn(url);
    const { code, stderr } = await running.finished;
    expect([code, stderr]).toEqual([0, expect.stringContaining("The browser opens")]);
  });

  it("signs in as a client with a secret from a file or the environment", async () => {
    const terminal = await openTerminal();
    const file = join(terminal.configHome, "secret");
    await writeFile(file, `${clientSecret}\n`);
    const args = ["login", "--issuer", server.issuer, "--client-id", "secret", "--no-browser"];
    expect((await signInAt(terminal, [...args, "--client-secret-file", "secret"])).code).toBe(0);
    const env = { FETCHWORK_OAUTH_CLIENT_SECRET: clientSecret };
    const running = terminal.start(args, { env });
    const [, url = ""] = await running.seen(address);
    await signIn(url);
    expect((await running.finished).code).toBe(0);
    expect(terminal.everything()).not.toContain(clientSecret);
  });

  it("signs in at a server without OpenID Connect, requesting no scope", async () => {
    const terminal = await openTerminal();
    const token = { access_token: "canary-token", token_type: "Bearer", expires_in: 60 };
    const asked: string[] = [];
    const plain = await serve(
      (request) => {
        const { origin, pathname, searchParams } = new URL(request.url);
        asked.push(pathname);
        if (pathname === "/token") return Response.json(token);
        if (pathname.startsWith("/.well-known/")) {
          const [authorization_endpoint, token_endpoint] = [
            `${origin}/authorize`,
            `${origin}/token`,
          ];
          return Response.json({ issuer: origin, authorization_endpoint, token_endpoint });
        }
        expect([searchParams.has("scope"), searchParams.has("nonce")]).toEqual([false, false]);
        const state = searchParams.get("state");
        return Response.redirect(`${searchParams.get("redirect_uri")}?code=c&state=${state}`);
      },
      { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 },
    );
    onTestFinished(() => plain.close());
    const issuer = plain.url.replace(/\/$/, "");
    const args = ["--issuer", issuer, "--discovery", "oauth2", "--client-id", "x", "--no-browser"];
    const { code, stdout } = await signInAt(terminal, ["login", ...args]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/unknown user\n.*not known\n/)]);
    expect(asked).toEqual(["/.well-known/oauth-authorization-server", "/authorize", "/token"]);
    expect((await terminal.run(["token"])).stdout).toBe("canary-token\n");
  });

  it("signs in on another device", async () => {
    const terminal = await openTerminal();
    const running = terminal.start(login("--device", "--scope", "openid email"));
    const [, uri = "", code = ""] = await running.seen(
      /Go to\n\n {2}(\S+)\n\nand enter the code\n\n {2}(\S+)\n/,
    );
    await confirmDevice(uri, code);
    const { code: exit, stdout } = await running.finished;
    expect(exit).toBe(0);
    expect(stdout).toContain("default: valid");
    expect(stdout).toContain("ada@example.com");
  });

  it("reports that the user refused on the other device", async () => {
    const terminal = await openTerminal();
    const running = terminal.start(login("--device"));
    const [, uri = "", code = ""] = await running.seen(
      /Go to\n\n {2}(\S+)\n\nand enter the code\n\n {2}(\S+)\n/,
    );
    await confirmDevice(uri, code, { abort: "yes" });
    expect(await running.finished).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("access_denied"),
    });
  });
});
