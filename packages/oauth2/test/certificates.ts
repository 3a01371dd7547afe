import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate and its key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * Certificates for the tests: an authority, and what it has signed, and two that have signed
 * themselves.
 */
export interface Certificates {
  readonly ca: string;
  /** For `127.0.0.1`. */
  readonly server: Certificate;
  /** With the subject `CN=client`. */
  readonly client: Certificate;
  /** With the subject `CN=stranger`. */
  readonly stranger: Certificate;
  readonly selfSigned: Certificate;
  readonly otherSelfSigned: Certificate;
}

/** Whether there is an `openssl`; on CI there must be. */
export function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch (error) {
    if (process.env["CI"] === "true") throw error;
    return false;
  }
}

/** Makes certificates with `openssl`, in a folder that is removed again. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), "fetchwork-oauth2-"));
  const openssl = (...args: readonly string[]): void => {
    execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
  };
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const selfSign = (name: string): void =>
    openssl(
      "req",
      "-x509",
      ...newKey,
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.crt`,
    );
  const read = (name: string): Certificate => ({
    cert: readFileSync(join(folder, `${name}.crt`), "utf8"),
    key: readFileSync(join(folder, `${name}.key`), "utf8"),
  });
  try {
    selfSign("ca");
    writeFileSync(join(folder, "server.ext"), "subjectAltName=IP:127.0.0.1\n");
    writeFileSync(join(folder, "client.ext"), "extendedKeyUsage=clientAuth\n");
    for (const name of ["server", "client", "stranger"]) {
      const extensions = name === "server" ? "server.ext" : "client.ext";
      openssl(
        "req",
        ...newKey,
        "-subj",
        `/CN=${name}`,
        "-keyout",
        `${name}.key`,
        "-out",
        `${name}.csr`,
      );
      openssl(
        "x509",
        "-req",
        "-in",
        `${name}.csr`,
        "-CA",
        "ca.crt",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        extensions,
        "-out",
        `${name}.crt`,
      );
    }
    selfSign("selfSigned");
    selfSign("otherSelfSigned");
    return {
      ca: read("ca").cert,
      server: read("server"),
      client: read("client"),
      stranger: read("stranger"),
      selfSigned: read("selfSigned"),
      otherSelfSigned: read("otherSelfSigned"),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
