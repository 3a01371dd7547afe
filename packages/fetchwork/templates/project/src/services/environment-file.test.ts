import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { projectFolder, readConfig } from "../config.ts";
import { loadEnvironment } from "./environment-file.ts";
import { StartError } from "./start-error.ts";

afterEach(() => void vi.unstubAllEnvs());

async function emptyProject(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "api-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await copyFile(path.join(projectFolder, ".env.example"), path.join(folder, ".env.example"));
  for (const name of ["MASTER_KEY", "JWT_SECRET"]) vi.stubEnv(name, undefined);
  return folder;
}

describe("loadEnvironment", () => {
  it("makes no file in production", async () => {
    const folder = await emptyProject();
    vi.stubEnv("NODE_ENV", "production");
    expect(loadEnvironment(folder)).toBeUndefined();
    await expect(stat(path.join(folder, ".env"))).rejects.toThrow("ENOENT");
    expect(() => readConfig(process.env)).toThrow("MASTER_KEY is not set");
  });

  it("makes a file with two random secrets that only its owner reads", async () => {
    const folder = await emptyProject();
    loadEnvironment(folder);
    const { masterKey, jwtSecret } = readConfig(process.env);
    expect(masterKey).toMatch(/^[0-9a-f]{48}$/);
    expect(jwtSecret).toMatch(/^[0-9a-f]{48}$/);
    expect(masterKey).not.toBe(jwtSecret);
    expect((await stat(path.join(folder, ".env"))).mode & 0o777).toBe(0o600);
  });

  it("leaves a file that is there as it is, and the environment before it", async () => {
    const folder = await emptyProject();
    const file = path.join(folder, ".env");
    await writeFile(file, `MASTER_KEY=${"f".repeat(32)}\nJWT_SECRET=${"g".repeat(32)}\n`);
    const before = await readFile(file, "utf8");
    vi.stubEnv("JWT_SECRET", "e".repeat(32));
    expect(loadEnvironment(folder)).toEqual({ path: file, text: before });
    expect(await readFile(file, "utf8")).toBe(before);
    expect(readConfig(process.env)).toMatchObject({
      masterKey: "f".repeat(32),
      jwtSecret: "e".repeat(32),
      hostname: "0.0.0.0",
      port: 9000,
      tokenLifetime: 86_400,
    });
  });

  it("needs no file when the environment has the secrets", async () => {
    const folder = await emptyProject();
    // Stands for whatever keeps the file from being made.
    await rm(path.join(folder, ".env.example"));
    vi.stubEnv("MASTER_KEY", "f".repeat(32));
    expect(() => loadEnvironment(folder)).toThrow("set MASTER_KEY and JWT_SECRET");
    vi.stubEnv("JWT_SECRET", "e".repeat(32));
    expect(loadEnvironment(folder)).toBeUndefined();
  });

  it("names the file that it cannot read", async () => {
    const folder = await emptyProject();
    const file = path.join(folder, ".env");
    await mkdir(file);
    expect(() => loadEnvironment(folder)).toThrow(StartError);
    expect(() => loadEnvironment(folder)).toThrow(file);
    await rm(file, { recursive: true });
    await rm(`${file}.example`);
    expect(() => loadEnvironment(folder)).toThrow(`${file}.example`);
  });
});
