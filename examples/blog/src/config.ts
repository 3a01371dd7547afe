import path from "node:path";

/** Settings of the server, from the environment. */
export interface Config {
  readonly isProduction: boolean;
  readonly hostname: string;
  readonly port: number;
  readonly masterKey: string;
  readonly jwtSecret: string;
  /** Validity of a token in seconds. */
  readonly tokenLifetime: number;
  readonly databaseUrl: string;
}

/** Folder of the project, whatever folder it is started from. */
export const projectFolder = path.join(import.meta.dirname, "..");

/**
 * Reads the settings.
 *
 * @throws Error that names the variable which is missing or cannot serve.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const isProduction = environment["NODE_ENV"] === "production";
  return {
    isProduction,
    hostname: environment["IP"] || "0.0.0.0",
    port: wholeNumber("PORT", environment["PORT"] || "9000", 0, 65_535),
    masterKey: secret("MASTER_KEY", environment["MASTER_KEY"]),
    jwtSecret: secret("JWT_SECRET", environment["JWT_SECRET"]),
    tokenLifetime: wholeNumber(
      "TOKEN_LIFETIME",
      environment["TOKEN_LIFETIME"] || "86400",
      1,
      31_536_000,
    ),
    databaseUrl:
      environment["DATABASE_URL"] || `sqlite:${path.join(projectFolder, "data", "blog.db")}`,
  };
}

function secret(name: string, value: string | undefined): string {
  if (!value) throw new Error(`${name} is not set; see .env.example`);
  if (value.startsWith("replace-with-")) throw new Error(`${name} still has its example value`);
  if (value.length < 32) throw new Error(`${name} needs at least 32 characters`);
  return value;
}

function wholeNumber(name: string, value: string, min: number, max: number): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < min || number > max) {
    throw new Error(`${name} is ${value}, but must be a whole number from ${min} to ${max}`);
  }
  return number;
}
