import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openStore } from "../src/index.ts";
import { freePort } from "../../../test/free-port.ts";
import {
  noPostgres,
  notDurable,
  type PostgresServer,
  runPostgres,
  runSql,
  startPostgres,
  unprivilegedUser,
} from "./postgres-server.ts";

/** The server's certificate is for the name `localhost`, not for the address 127.0.0.1. */
const signedHost = "localhost";
const otherHost = "127.0.0.1";

let server: PostgresServer | undefined;
let port = 0;
let folder = "";

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
}

function createAuthority(name: string): void {
  const subject = ["-subj", `/CN=${name}`, "-days", "2"];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...key, "-keyout", `${name}.key`, "-out", `${name}.pem`, ...subject);
}

function createCertificate(name: string, authority: string, extension: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", ...key, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
  writeFileSync(join(folder, `${name}.ext`), extension);
  const signing = ["-CA", `${authority}.pem`, "-CAkey", `${authority}.key`, "-CAcreateserial"];
  const out = ["-out", `${name}.pem`, "-days", "2", "-extfile", `${name}.ext`];
  openssl("x509", "-req", "-in", `${name}.csr`, ...signing, ...out);
}

function file(name: string): string {
  return encodeURIComponent(join(folder, name));
}

function url(user: string, host: string, parameters: string): string {
  return `postgres://${user}@${host}:${port}/postgres?${parameters}`;
}

async function connect(address: string): Promise<void> {
  const store = await openStore(address, { postgres: { failoverTimeout: 0 } });
  await store.close();
}

describe.skipIf(noPostgres !== undefined)("TLS to PostgreSQL", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "documents-test-"));
    createAuthority("authority");
    createAuthority("stranger");
    createCertificate("localhost", "authority", "subjectAltName=DNS:localhost");
    createCertificate("writer", "authority", "extendedKeyUsage=clientAuth");
    createCertificate("impostor", "stranger", "extendedKeyUsage=clientAuth");
    // Initialises the cluster; it is started again with its certificates.
    const fresh = await startPostgres(notDurable);
    await runSql(fresh.url("postgres"), "CREATE ROLE writer SUPERUSER LOGIN");
    const ended = new Promise((resolve) => fresh.process.once("exit", resolve));
    fresh.process.kill("SIGINT");
    await ended;
    const data = join(fresh.folder, "data");
    const owner = unprivilegedUser();
    for (const name of ["localhost.key", "localhost.pem", "authority.pem"]) {
      execFileSync("cp", [join(folder, name), join(data, name)]);
      chmodSync(join(data, name), 0o600);
      if (owner !== undefined) chownSync(join(data, name), owner.uid, owner.gid);
    }
    writeFileSync(
      join(data, "pg_hba.conf"),
      "local all all trust\nhostssl all writer all cert\nhostssl all all all trust\n",
    );
    port = await freePort();
    server = await runPostgres(fresh.folder, [
      ...notDurable,
      "listen_addresses=localhost",
      `port=${port}`,
      "ssl=on",
      "ssl_cert_file=localhost.pem",
      "ssl_key_file=localhost.key",
      "ssl_ca_file=authority.pem",
    ]);
  });

  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ["no TLS, by a server that wants it", "postgres", signedHost, ""],
    ["sslmode=disable, by a server that wants it", "postgres", signedHost, "sslmode=disable"],
    ["an authority that nobody knows", "postgres", signedHost, "sslmode=verify-full"],
    ["the same with verify-ca", "postgres", signedHost, "sslmode=verify-ca"],
    ["another authority", "postgres", signedHost, "sslmode=verify-full&sslrootcert=stranger.pem"],
    [
      "the same with verify-ca",
      "postgres",
      signedHost,
      "sslmode=verify-ca&sslrootcert=stranger.pem",
    ],
    [
      "another authority with require",
      "postgres",
      signedHost,
      "sslmode=require&sslrootcert=stranger.pem",
    ],
    ["another name", "postgres", otherHost, "sslmode=verify-full&sslrootcert=authority.pem"],
    [
      "no client certificate",
      "writer",
      signedHost,
      "sslmode=verify-full&sslrootcert=authority.pem",
    ],
    [
      "a client certificate of another authority",
      "writer",
      signedHost,
      "sslmode=verify-full&sslrootcert=authority.pem&sslcert=impostor.pem&sslkey=impostor.key",
    ],
  ])("is refused with %s", async (_case, user, host, parameters) => {
    const address = url(user, host, parameters.replaceAll(/[a-z]+\.(?:pem|key)/g, file));
    await expect(connect(address)).rejects.toMatchObject({ code: "ERR_DOCUMENTS_CONNECTION" });
  });

  it("is given up at once where waiting cannot help", async () => {
    // Longer than the test may take.
    const patient = { postgres: { failoverTimeout: 600_000 } };
    const address = url("postgres", signedHost, "sslmode=verify-full");
    await expect(openStore(address, patient)).rejects.toThrow("its certificate is not trusted");
    const plainPort = await freePort();
    const plain = await startPostgres([
      ...notDurable,
      "listen_addresses=127.0.0.1",
      `port=${plainPort}`,
    ]);
    onTestFinished(() => plain.stop());
    await expect(
      openStore(`postgres://postgres@127.0.0.1:${plainPort}/postgres?sslmode=require`, patient),
    ).rejects.toThrow("it has no TLS");
  });

  it.each([
    ["require, whatever server it is", "postgres", otherHost, "sslmode=require"],
    [
      "verify-ca, whatever its name",
      "postgres",
      otherHost,
      "sslmode=verify-ca&sslrootcert=authority.pem",
    ],
    [
      "require and an authority, whatever its name",
      "postgres",
      otherHost,
      "sslmode=require&sslrootcert=authority.pem",
    ],
    ["verify-full", "postgres", signedHost, "sslmode=verify-full&sslrootcert=authority.pem"],
    [
      "a client certificate instead of a password",
      "writer",
      signedHost,
      "sslmode=verify-full&sslrootcert=authority.pem&sslcert=writer.pem&sslkey=writer.key",
    ],
  ])("is made with %s", async (_case, user, host, parameters) => {
    const address = url(user, host, parameters.replaceAll(/[a-z]+\.(?:pem|key)/g, file));
    const store = await openStore(address, { postgres: { failoverTimeout: 0 } });
    onTestFinished(() => store.close());
    const encrypted =
      "SELECT bool_and(ssl) AS ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) " +
      "WHERE application_name = 'fetchwork'";
    expect(await runSql(server?.url("postgres") ?? "", encrypted)).toEqual([{ ssl: true }]);
  });
});
