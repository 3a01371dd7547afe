import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineConfig, serverSettings, StartError } from "../../src/index.ts";
import { readStartSettings, type StartSettings } from "../../src/settings/start-settings.ts";
import { config, secrets } from "../notes-service.ts";

function read(environment: Readonly<Record<string, string | undefined>> = {}): StartSettings {
  return readStartSettings({ config, name: "notes" }, { ...secrets, ...environment }, "/project");
}

describe("defineConfig", () => {
  it("reads settings by their schemas, and an empty variable as one that is not set", () => {
    const { read: readOwn } = defineConfig({ LIMIT: z.coerce.number().default(3) });
    expect(readOwn({ LIMIT: "7" })).toEqual({ LIMIT: 7 });
    expect(readOwn({ LIMIT: "" })).toEqual({ LIMIT: 3 });
    expect(readOwn({ OTHER: "7" })).toEqual({ LIMIT: 3 });
  });

  it("takes defaults of the service, and the environment before them", () => {
    const { read: readOwn } = defineConfig({ ...serverSettings }, { PORT: "4000", IP: "::1" });
    const { PORT, IP } = readOwn({ ...secrets, IP: "127.0.0.1" });
    expect([PORT, IP]).toEqual([4000, "127.0.0.1"]);
  });

  it("refuses a default of a setting that there is not", () => {
    // @ts-expect-error -- there is no setting of this name
    expect(() => defineConfig({ ...serverSettings }, { PROT: "4000" })).toThrow(
      "unknown setting PROT",
    );
  });

  it.each([
    ",",
    " , ",
    "k".repeat(31),
    `${"k".repeat(32)},short`,
    "replace-with-32-or-more-random-characters",
  ])("refuses SECRET_KEY=%s, and does not repeat it", (SECRET_KEY) => {
    const readKey = (): unknown => config.read({ ...secrets, SECRET_KEY });
    expect(readKey).toThrow(/^SECRET_KEY (?:needs at least 32|still has its example)/);
    expect(readKey).not.toThrow(/k{31}|short/);
  });

  it("tells all that is wrong at once, without the value of a secret", () => {
    const wrong = { MASTER_KEY: "too-short", PORT: "x", LOG: "xml" };
    expect(() => config.read(wrong)).toThrow(StartError);
    const lines = [
      'MASTER_KEY needs at least 32 characters: set it to the output of "openssl rand -hex 32"',
      'PORT must be a whole number from 0 to 65535, got "x"',
      'LOG must be spec, json or off, got "xml"',
      'JWT_SECRET is not set: set it to the output of "openssl rand -hex 32"',
    ];
    expect(() => config.read(wrong)).toThrow(new StartError(lines.join("\n")));
    const example = `replace-with-${"x".repeat(40)}`;
    expect(() => config.read({ ...secrets, JWT_SECRET: example })).toThrow(
      new StartError(
        'JWT_SECRET still has its example value: set it to the output of "openssl rand -hex 32"',
      ),
    );
  });

  it("puts a sentence of a schema behind a colon", () => {
    const own = defineConfig({ ...serverSettings, POST_PRICE: z.coerce.number() });
    expect(() => own.read({ ...secrets, POST_PRICE: "x" })).toThrow(
      new StartError("POST_PRICE: Invalid input: expected number, received NaN"),
    );
  });

  it("knows no settings of a foreign store", () => {
    expect(() => config.of({ store: {} })).toThrow("the store belongs to no open service");
  });
});

describe("the settings of a service", () => {
  it.each([
    [undefined, "sqlite:/project/data/notes.db"],
    ["sqlite:data/other.db", "sqlite:/project/data/other.db"],
    ["sqlite:./a/../b.db", "sqlite:/project/b.db"],
    ["sqlite:/var/api.db", "sqlite:/var/api.db"],
    ["sqlite:///var/api.db", "sqlite:///var/api.db"],
    ["file:///var/api.db", "file:///var/api.db"],
    ["postgres://localhost/api", "postgres://localhost/api"],
    ["sqlite::memory:", "sqlite::memory:"],
    ["sqlite:", "sqlite:"],
  ])("take the documents from the project for DATABASE_URL=%s", (url, expected) => {
    expect(read({ DATABASE_URL: url }).databaseUrl).toBe(expected);
  });

  it("log lines in development, objects in production, and what LOG says", () => {
    expect(read().log).toBe("spec");
    expect(read({ NODE_ENV: "production" }).log).toBe("json");
    expect(read({ NODE_ENV: "production", LOG: "off" }).log).toBe("off");
    expect(() => read({ LOG: "xml" })).toThrow('LOG must be spec, json or off, got "xml"');
    expect(read().logLevel).toBe("info");
    expect(read({ LOG_LEVEL: "warn" }).logLevel).toBe("warn");
    expect(() => read({ LOG_LEVEL: "loud" })).toThrow(/LOG_LEVEL must be .*, got "loud"/);
  });

  it("take addresses and ranges for the proxies, and nothing else", () => {
    expect(read().trustedProxies).toEqual([]);
    const { trustedProxies } = read({ TRUSTED_PROXIES: "10.0.0.0/8, ::1" });
    expect(trustedProxies).toEqual(["10.0.0.0/8", "::1"]);
    for (const value of ["10.", "proxy", "10.0.0.0/33", "010.0.0.1"]) {
      expect(() => read({ TRUSTED_PROXIES: value })).toThrow("not an address");
    }
  });

  it.each(["PORT", "TOKEN_LIFETIME", "SIGN_IN_LIMIT", "SIGN_IN_FAILURES"])(
    "take digits only as %s",
    (name) => {
      for (const value of [" ", "1e3", "0x50", "+1", "-1", "1.0", "١"]) {
        const start = () => read({ [name]: value });
        expect(start).toThrow(`${name} must be a whole number from `);
        expect(start).toThrow(`, got "${value}"`);
      }
    },
  );

  it("take no count of wrong passwords below 3 but 0", () => {
    expect(read({ SIGN_IN_FAILURES: "0" }).signInFailures).toBe(0);
    expect(read({ SIGN_IN_FAILURES: "3" }).signInFailures).toBe(3);
    expect(() => read({ SIGN_IN_FAILURES: "2" })).toThrow("SIGN_IN_FAILURES must be 0 or at least");
  });

  it("send webhooks to private addresses in development, in production when told so", () => {
    expect(read().webhooksToPrivate).toBe(true);
    expect(read({ NODE_ENV: "production" }).webhooksToPrivate).toBe(false);
    const told = { NODE_ENV: "production", WEBHOOKS_TO_PRIVATE: "yes" };
    expect(read(told).webhooksToPrivate).toBe(true);
    expect(() => read({ WEBHOOKS_TO_PRIVATE: "1" })).toThrow(
      /WEBHOOKS_TO_PRIVATE must be .*, got "1"/,
    );
  });

  it("have an origin of their server, without a path", () => {
    expect(read({ PORT: "4000" }).publicUrl).toBe("http://localhost:4000");
    expect(read({ PUBLIC_URL: "https://api.example/" }).publicUrl).toBe("https://api.example");
    for (const PUBLIC_URL of ["https://api.example/path", "api.example", "ftp://api.example"]) {
      expect(() => read({ PUBLIC_URL })).toThrow(
        `PUBLIC_URL must be an origin, got "${PUBLIC_URL}"`,
      );
    }
  });
});
