import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { StartError } from "../../src/index.ts";
import { loadEnvironment } from "../../src/settings/environment-file.ts";
import { config } from "../notes-service.ts";

afterEach(() => void vi.unstubAllEnvs());

async function emptyProject(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "service-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const name of Object.keys(config.shape)) vi.stubEnv(name, undefined);
  return folder;
}

describe("loadEnvironment", () => {
  it("makes no file in production", async () => {
    const folder = await emptyProject();
    vi.stubEnv("NODE_ENV", "production");
    expect(loadEnvironment(folder, config)).toBeUndefined();
    await expect(stat(path.join(folder, ".env"))).rejects.toThrow("ENOENT");
    expect(() => config.read(process.env)).toThrow("MASTER_KEY is not set");
  });

  it("makes a file with random secrets that only its owner reads", async () => {
    const folder = await emptyProject();
    const file = loadEnvironment(folder, config);
    const { MASTER_KEY, JWT_SECRET, SECRET_KEY } = config.read(process.env);
    expect(MASTER_KEY).toMatch(/^[0-9a-f]{48}$/);
    expect(JWT_SECRET).toMatch(/^[0-9a-f]{48}$/);
    expect(new Set([MASTER_KEY, JWT_SECRET, ...(SECRET_KEY ?? [])]).size).toBe(3);
    expect(file?.text).toContain(`\nMASTER_KEY=${MASTER_KEY}\n`);
    expect((await stat(path.join(folder, ".env"))).mode & 0o777).toBe(0o600);
  });

  it("leaves a file that is there as it is, and the environment before it", async () => {
    const folder = await emptyProject();
    const file = path.join(folder, ".env");
    await writeFile(file, `MASTER_KEY=${"f".repeat(32)}\nJWT_SECRET=${"g".repeat(32)}\n`);
    const before = await readFile(file, "utf8");
    vi.stubEnv("JWT_SECRET", "e".repeat(32));
    expect(loadEnvironment(folder, config)).toEqual({ path: file, text: before });
    expect(await readFile(file, "utf8")).toBe(before);
    expect(config.read(process.env)).toMatchObject({
      MASTER_KEY: "f".repeat(32),
      JWT_SECRET: "e".repeat(32),
      IP: "0.0.0.0",
      PORT: 9000,
      TOKEN_LIFETIME: 86_400,
    });
  });

  it("reads a file that begins with a byte order mark", async () => {
    const folder = await emptyProject();
    await writeFile(
      path.join(folder, ".env"),
      `\uFEFFMASTER_KEY=${"f".repeat(32)}\r\nPORT=9001\r\n`,
    );
    loadEnvironment(folder, config);
    expect(process.env).toMatchObject({ MASTER_KEY: "f".repeat(32), PORT: "9001" });
  });

  it("needs no file when the environment has the secrets", async () => {
    // A folder that is not there stands for one in which no file can be made.
    const folder = path.join(await emptyProject(), "missing");
    vi.stubEnv("MASTER_KEY", "f".repeat(32));
    expect(() => loadEnvironment(folder, config)).toThrow(StartError);
    expect(() => loadEnvironment(folder, config)).toThrow("set MASTER_KEY and JWT_SECRET");
    vi.stubEnv("JWT_SECRET", "e".repeat(32));
    expect(loadEnvironment(folder, config)).toBeUndefined();
  });

  it("names the file that it cannot make or read", async () => {
    const folder = await emptyProject();
    const file = path.join(folder, ".env");
    await mkdir(file);
    expect(() => loadEnvironment(folder, config)).toThrow(StartError);
    expect(() => loadEnvironment(folder, config)).toThrow(file);
    const missing = path.join(folder, "missing");
    expect(() => loadEnvironment(missing, config)).toThrow(path.join(missing, ".env"));
  });
});
