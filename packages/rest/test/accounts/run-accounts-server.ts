import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Answer } from "../as-users.ts";
import { masterKey } from "../api-client.ts";

/** What a test sends to a process; without `basic` and `token` nobody sends it. */
export interface SentToProcess {
  readonly json?: unknown;
  readonly token?: string;
  /** Email and password. */
  readonly basic?: readonly [string, string];
}

/** A process that serves accounts. */
export interface AccountsServer {
  /** Rejects when the process ends before it answers. */
  send(method: string, path: string, sent?: SentToProcess): Promise<Answer>;
  create(email: string, password: string, role?: "admin"): Promise<Answer>;
  signIn(email: string, password: string, totp?: string): Promise<Answer>;
  refresh(refreshToken: string): Promise<Answer>;
  /** Tokens of mails, by receiver. */
  readonly mails: ReadonlyMap<string, string>;
  /** Whether the process has ended. */
  hasEnded(): boolean;
  /** Kills the process with SIGKILL, and waits until it has ended. */
  kill(): Promise<void>;
}

/** Starts a process that serves accounts on a store, until it is killed. */
export async function runAccountsServer(storeUrl: string): Promise<AccountsServer> {
  const file = join(import.meta.dirname, "accounts-server.ts");
  const child = spawn(process.execPath, ["--conditions=@fetchwork/source", file, storeUrl], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exit;
  };
  const mails = new Map<string, string>();
  const started = Promise.withResolvers<string>();
  exit.then(() => started.reject(new Error("the process ended before it served")), started.reject);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { address, to, token } = JSON.parse(line);
    if (address === undefined) mails.set(to, token);
    else started.resolve(address);
  });
  const address = await started.promise;

  async function send(method: string, path: string, sent: SentToProcess = {}): Promise<Answer> {
    const { basic, json, token } = sent;
    const credentials = basic && `Basic ${Buffer.from(basic.join(":")).toString("base64")}`;
    const authorization = credentials ?? (token === undefined ? undefined : `Bearer ${token}`);
    const response = await fetch(new URL(path, address), {
      method,
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
      },
      body: json === undefined ? null : JSON.stringify(json),
    });
    const text = await response.text();
    const { headers, status } = response;
    return { status, headers, json: text === "" ? undefined : JSON.parse(text) };
  }

  return {
    send,
    mails,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    kill,
    create: (email, password, role) =>
      send("POST", "/users", { token: masterKey, json: { email, password, role } }),
    signIn: (email, password, totp) =>
      send("POST", "/auth", { basic: [email, password], json: { totp } }),
    refresh: (refreshToken) => send("POST", "/auth/refresh", { json: { refreshToken } }),
  };
}
