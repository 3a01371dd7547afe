import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes a certificate for some hosts with `openssl`; it is its own authority. */
export function makeCertificate(hosts: readonly string[]): Record<"cert" | "key" | "ca", string> {
  const folder = mkdtempSync(join(tmpdir(), "fetchwork-readmes-"));
  try {
    const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const names = hosts.map((host) => `DNS:${host}`).join(",");
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        ...newKey,
        "-days",
        "2",
        "-subj",
        "/CN=stand-in",
        "-addext",
        `subjectAltName=${names}`,
      ].concat(["-keyout", "key.pem", "-out", "cert.pem"]),
      { cwd: folder, stdio: "ignore" },
    );
    const cert = readFileSync(join(folder, "cert.pem"), "utf8");
    return { cert, key: readFileSync(join(folder, "key.pem"), "utf8"), ca: cert };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
