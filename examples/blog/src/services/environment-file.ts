import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { loadEnvFile } from "node:process";

/**
 * Loads `.env` into the environment; what is set there already stays.
 *
 * In development the file is made from `.env.example` when it is not there, with random secrets and readable by
 * its owner only.
 */
export function loadEnvironment(folder: string): void {
  const file = path.join(folder, ".env");
  if (!existsSync(file)) {
    if (process.env["NODE_ENV"] === "production") return;
    const example = readFileSync(path.join(folder, ".env.example"), "utf8");
    const filled = example.replace(
      /=replace-with-.*$/gm,
      () => `=${randomBytes(24).toString("hex")}`,
    );
    try {
      writeFileSync(file, filled, { mode: 0o600, flag: "wx" });
    } catch (error) {
      // Another process has made it at the same moment.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  loadEnvFile(file);
}
