import path from "node:path";
import { describe, expect, it } from "vitest";
import { about } from "./about.ts";
import { projectFolder, readConfig } from "./config.ts";

const secrets = { MASTER_KEY: "m".repeat(32), JWT_SECRET: "j".repeat(32) };

describe("readConfig", () => {
  it.each([
    [undefined, `sqlite:${path.join(projectFolder, `data/${about.name}.db`)}`], // #if !postgres
    // #if postgres
    //+ [undefined, `postgres://localhost/${about.name}`],
    // #endif
    ["sqlite:data/other.db", `sqlite:${path.join(projectFolder, "data/other.db")}`],
    ["sqlite:./a/../b.db", `sqlite:${path.join(projectFolder, "b.db")}`],
    ["sqlite:/var/api.db", "sqlite:/var/api.db"],
    ["sqlite:///var/api.db", "sqlite:///var/api.db"],
    ["file:///var/api.db", "file:///var/api.db"],
    ["sqlite::memory:", "sqlite::memory:"],
    ["sqlite:", "sqlite:"],
  ])("takes the documents from the project for DATABASE_URL=%s", (url, expected) => {
    expect(readConfig({ ...secrets, DATABASE_URL: url }).databaseUrl).toBe(expected);
  });

  it("logs lines in development, objects in production, and what LOG says", () => {
    expect(readConfig(secrets).log).toBe("spec");
    expect(readConfig({ ...secrets, NODE_ENV: "production" }).log).toBe("json");
    expect(readConfig({ ...secrets, NODE_ENV: "production", LOG: "off" }).log).toBe("off");
    expect(() => readConfig({ ...secrets, LOG: "xml" })).toThrow('LOG is "xml"');
    expect(readConfig(secrets).logLevel).toBe("info");
    expect(readConfig({ ...secrets, LOG_LEVEL: "warn" }).logLevel).toBe("warn");
    expect(() => readConfig({ ...secrets, LOG_LEVEL: "loud" })).toThrow('LOG_LEVEL is "loud"');
  });

  it("takes addresses and ranges for the proxies, and nothing else", () => {
    expect(readConfig(secrets).trustedProxies).toEqual([]);
    const TRUSTED_PROXIES = "10.0.0.0/8, ::1";
    expect(readConfig({ ...secrets, TRUSTED_PROXIES }).trustedProxies).toEqual([
      "10.0.0.0/8",
      "::1",
    ]);
    for (const value of ["10.", "proxy", "10.0.0.0/33", "010.0.0.1"]) {
      expect(() => readConfig({ ...secrets, TRUSTED_PROXIES: value })).toThrow("no address");
    }
  });

  // #if users
  it.each(["PORT", "TOKEN_LIFETIME", "SIGN_IN_LIMIT", "SIGN_IN_FAILURES"])(
    "takes digits only as %s",
    (name) => {
  // #endif
  // #if !users
  //+ it.each(["PORT", "TOKEN_LIFETIME"])(
  //+   "takes digits only as %s",
  //+   (name) => {
  // #endif
      for (const value of [" ", "1e3", "0x50", "+1", "-1", "1.0", "١"]) {
        expect(() => readConfig({ ...secrets, [name]: value })).toThrow(
          `${name} is "${value}", but must be a whole number`,
        );
      }
    },
  );
});
