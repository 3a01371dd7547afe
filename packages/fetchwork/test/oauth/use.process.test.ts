import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
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

describe("oauth token", () => {
  it("refreshes once for four processes", async () => {
    const terminal = await signedIn();
    const path = join(terminal.configHome, "fetchwork", "oauth");
    const [file = ""] = await readdir(path);
    const profile = JSON.parse(await readFile(join(path, file), "utf8"));
    profile.token.expires_at = 1;
    await writeFile(join(path, file), JSON.stringify(profile));
    const before = server.grants.filter((one) => one === "refresh_token").length;
    const main = join(import.meta.dirname, "../../src/main.ts");
    const run = async (): Promise<string> => {
      const child = spawn(
        process.execPath,
        ["--conditions=@fetchwork/source", main, "oauth", "token"],
        {
          env: { ...process.env, XDG_CONFIG_HOME: terminal.configHome },
          stdio: ["ignore", "pipe", "pipe"],
        },
      );
      onTestFinished(() => void child.kill("SIGKILL"));
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      return stdout.trim() || stderr;
    };
    const tokens = await Promise.all([run(), run(), run(), run()]);
    expect(new Set(tokens)).toEqual(new Set([(await kept(terminal)).access_token]));
    expect(server.grants.filter((one) => one === "refresh_token").length - before).toBe(1);
  }, 60_000);
});

it("oauth login uses the proxy of the environment", async () => {
  const terminal = await openTerminal();
  const tunnels: string[] = [];
  const proxy = createServer().on("connect", (request, socket) => {
    tunnels.push(request.url ?? "");
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const main = join(import.meta.dirname, "../../src/main.ts");
  const child = spawn(
    process.execPath,
    [
      "--conditions=@fetchwork/source",
      main,
      "oauth",
      "login",
      "--issuer",
      "https://id.example",
      "--client-id",
      "cli",
    ],
    {
      env: {
        XDG_CONFIG_HOME: terminal.configHome,
        HTTPS_PROXY: `http://127.0.0.1:${port}`,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(await text(child.stderr)).toContain("no complete response from https://id.example");
  expect(tunnels).toEqual(["id.example:443"]);
});
