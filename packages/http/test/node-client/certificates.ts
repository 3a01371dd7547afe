import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A key and its certificate, PEM. */
export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

/** Certificates made for one run of the tests; one authority signs all but `selfSigned`. */
export interface Certificates {
  readonly authority: string;
  /** For `localhost` and 127.0.0.1. */
  readonly server: KeyPair;
  /** For `other.example`. */
  readonly wrongName: KeyPair;
  /** For `localhost`, until 2020. */
  readonly expired: KeyPair;
  readonly selfSigned: KeyPair;
  readonly client: KeyPair;
}

export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), "fetchwork-client-"));
  const file = (name: string): string => join(folder, name);
  const run = (...args: readonly (readonly string[])[]): void => {
    execFileSync("openssl", args.flat(), { stdio: "pipe", cwd: folder });
  };
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  try {
    run(
      ["req", "-x509", ...curve, "-days", "2", "-subj", "/CN=Test authority"],
      ["-keyout", "ca.key", "-out", "ca.pem"],
    );
    const issue = (name: string, names: string, days: readonly string[]): KeyPair => {
      run(
        ["req", ...curve, "-subj", `/CN=${name}`],
        ["-keyout", `${name}.key`, "-out", `${name}.csr`],
      );
      writeFileSync(file(`${name}.ext`), `subjectAltName=${names}\n`);
      run(
        ["x509", "-req", "-in", `${name}.csr`, "-CA", "ca.pem", "-CAkey", "ca.key"],
        ["-CAcreateserial", "-extfile", `${name}.ext`, "-out", `${name}.pem`, ...days],
      );
      return read(name);
    };
    const read = (name: string): KeyPair => ({
      key: readFileSync(file(`${name}.key`), "utf8"),
      cert: readFileSync(file(`${name}.pem`), "utf8"),
    });
    run(
      ["req", "-x509", ...curve, "-days", "2", "-subj", "/CN=localhost"],
      ["-addext", "subjectAltName=DNS:localhost", "-keyout", "self.key", "-out", "self.pem"],
    );
    const local = "DNS:localhost,IP:127.0.0.1";
    return {
      authority: readFileSync(file("ca.pem"), "utf8"),
      server: issue("server", local, ["-days", "2"]),
      wrongName: issue("wrong", "DNS:other.example", ["-days", "2"]),
      expired: issue("expired", local, ["-days", "-1"]),
      selfSigned: read("self"),
      client: issue("client", "DNS:client.example", ["-days", "2"]),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
