import { execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox } from "../src/verify/sandbox.ts";
import { attempts } from "./escape-attempts.ts";

const refusal = await createSandbox().then(
  () => undefined,
  (error: unknown) => String(error),
);
const isRoot = process.getuid?.() === 0;
const users = isRoot ? (["root", "an ordinary user"] as const) : (["an ordinary user"] as const);
const ordinary = 54_321;

/** Adds a key to the session's keyring, which all that is started from it has, and reads it. */
const keyScripts = {
  "add-key.pl":
    'my ($t, $n, $v) = ("user", "escape", "ESCAPED"); $arch = shift; ' +
    'syscall($arch eq "x64" ? 250 : 219, 1, 0); syscall($arch eq "x64" ? 248 : 217, $t, $n, $v, 7, -3); exec @ARGV;',
  "read-key.pl": `my ($t, $n, $b) = ("user", "escape", "\\0" x 8); my $c = ${process.arch === "x64" ? 250 : 219}; my $k = syscall($c, 10, -3, $t, $n, 0); syscall($c, 11, $k, $b, 7); print $b`,
};

it("the list of escapes knows more than 50 ways out", () => {
  expect(new Set(attempts.map(({ name }) => name)).size).toBeGreaterThanOrEqual(50);
});

it.runIf(process.env["CI"] === "true")("this machine can seal where all tests must run", () => {
  expect(refusal).toBeUndefined();
});

describe.skipIf(refusal !== undefined).each(users)(`as %s${refusal ?? ""}`, (user) => {
  const base = mkdtempSync(join(tmpdir(), "escape-"));
  const shm = `/dev/shm/${base.split("/").at(-1)}`;
  const abstract = `escape-${process.pid}-${user.length}`;
  const project = join(base, "project");
  const packages = join(base, "installed/node_modules");
  const answer = createServer((socket) => socket.end("ESCAPED"));
  const unix = createServer((socket) => socket.end("ESCAPED"));
  const hidden = createServer((socket) => socket.end("ESCAPED"));
  const datagrams = createSocket("udp4");
  let run: (isSealed: boolean, attempt: (typeof attempts)[number]) => Promise<string>;
  let stop: () => void;
  let shared = "";

  /** Puts everything back into its place. */
  function prepare(): void {
    for (const name of ["home", "proof", "installed", "original", "project"]) {
      rmSync(join(base, name), { recursive: true, force: true });
    }
    const contents = {
      "home/.ssh/id": "ESCAPED",
      "home/.bashrc": "",
      "proof/none": "",
      "installed/node_modules/dep/index.js": "module.exports = 1;\n",
      "original/package.json": "{}\n",
      "project/package.json": "{}\n",
      ...keyScripts,
    };
    for (const [path, text] of Object.entries(contents)) {
      mkdirSync(join(base, path, ".."), { recursive: true });
      writeFileSync(join(base, path), text);
    }
    symlinkSync(packages, join(project, "node_modules"));
    execFileSync("chown", ["-R", isRoot ? String(ordinary) : String(process.getuid?.()), base]);
  }

  function isChanged(): boolean {
    return readdirSync(base, { recursive: true, encoding: "utf8" }).some((path) => {
      const place = join(base, path);
      const isInside = path.startsWith("project/") && path !== "project/late";
      if (isInside || !existsSync(place) || !statSync(place).isFile()) return false;
      return readFileSync(place, "utf8").includes("PWNED");
    });
  }

  beforeAll(async () => {
    chmodSync(base, 0o755);
    prepare();
    await new Promise<void>((resolve) => answer.listen(0, "::", resolve));
    await new Promise<void>((resolve) =>
      unix.listen({ path: join(base, "socket"), readableAll: true, writableAll: true }, resolve),
    );
    await new Promise<void>((resolve) => hidden.listen(`\0${abstract}`, resolve));
    await new Promise<void>((resolve) => datagrams.bind(0, "127.0.0.1", resolve));
    datagrams.on("message", (_, { port }) => datagrams.send("ESCAPED", port, "127.0.0.1"));
    writeFileSync(shm, "ESCAPED");
    [shared = ""] =
      /\d+$/m.exec(execFileSync("ipcmk", ["-M", "4242", "-p", "0666"], { encoding: "utf8" })) ?? [];
    chmodSync(shm, 0o644);
    const secret = openSync(join(base, "home/.ssh/id"), "r");
    const become =
      user === "root" || !isRoot
        ? []
        : ["setpriv", `--reuid=${ordinary}`, `--regid=${ordinary}`, "--clear-groups"];
    const [file, ...args] = [
      "perl",
      join(base, "add-key.pl"),
      process.arch,
      ...become,
      process.execPath,
      "--conditions=@fetchwork/source",
      fileURLToPath(new URL("escape-driver.ts", import.meta.url)),
    ];
    const driver = spawn(file, args, {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      env: { PATH: `${process.env["PATH"]}:/usr/sbin:/sbin`, KEY: "ESCAPED" },
      stdio: ["pipe", "pipe", "inherit", "ignore", "ignore", "ignore", "ignore", secret],
    });
    const lines = createInterface({ input: driver.stdout as NodeJS.ReadableStream })[
      Symbol.asyncIterator
    ]();
    const { port } = answer.address() as AddressInfo;
    const variables = {
      BASE: base,
      NODE: process.execPath,
      SHM: shm,
      ABSTRACT: abstract,
      TCP: port,
      HEX: port.toString(16).padStart(4, "0"),
      UDP: datagrams.address().port,
      DRIVER: driver.pid,
      HOST: hostname(),
    };
    const assigned = Object.entries(variables)
      .map(([name, value]) => `${name}='${value}'; `)
      .join("");
    run = async (isSealed, { script, timeout = 30_000 }) => {
      const order = {
        isSealed,
        script: assigned + script,
        cwd: project,
        readOnly: [packages],
        timeout,
      };
      driver.stdin?.write(`${JSON.stringify(order)}\n`);
      const { value } = await lines.next();
      return JSON.parse(String(value)) as string;
    };
    stop = () => driver.kill("SIGKILL");
  });

  afterAll(() => {
    stop();
    execFileSync("ipcrm", ["-m", shared]);
    for (const server of [answer, unix, hidden, datagrams]) server.close();
    rmSync(base, { recursive: true, force: true });
    rmSync(shm, { force: true });
  });

  async function escapes(isSealed: boolean, attempt: (typeof attempts)[number]): Promise<boolean> {
    prepare();
    const output = await run(isSealed, attempt);
    if (attempt.wait !== undefined) await delay(attempt.wait);
    if (isSealed) expect(output).toMatch(/^begun\n/);
    return output.includes("ESCAPED") || output.length > 1024 * 1024 || isChanged();
  }

  it.each(attempts.filter(({ isForRoot }) => isForRoot !== true || user === "root"))(
    "$name plainly, and not sealed",
    async (attempt) => {
      expect(await escapes(false, attempt), "plainly").toBe(true);
      expect(await escapes(true, attempt), "sealed").toBe(false);
    },
    120_000,
  );
});
