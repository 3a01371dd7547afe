import { expect, it } from "vitest";
import { defineConfig, environmentExample } from "../../src/index.ts";
import { withRandomSecrets } from "../../src/settings/environment-example.ts";
import { config } from "../notes-service.ts";

it("environmentExample() has every setting with its description, what is needed first", () => {
  const text = environmentExample(config);
  for (const name of Object.keys(config.shape)) {
    expect(text).toMatch(new RegExp(`^(?:# )?${name}=`, "m"));
  }
  const given = text.match(/^\w+=.*$/gm)?.map((line) => line.split("=")[0]);
  expect(given).toEqual(["MASTER_KEY", "JWT_SECRET", "SECRET_KEY"]);
  expect(text).toMatch(/^# Creates users and .*: openssl rand -hex 32\nMASTER_KEY=/m);
  expect(text).toMatch(/^# Signs the tokens of users\. .*: openssl rand -hex 32\nJWT_SECRET=/m);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
});

it("environmentExample() has nothing that is taken for a secret before it is filled", () => {
  const text = environmentExample(config);
  const example = Object.fromEntries(
    Array.from(text.matchAll(/^(\w+)=(.*)$/gm), ([, name = "", value = ""]) => [name, value]),
  );
  expect(() => config.read(example)).toThrow("MASTER_KEY still has its example value");
  const filled = withRandomSecrets(text).match(/^\w+=[\da-f]{48}$/gm);
  expect(new Set(filled?.map((line) => line.split("=")[1]))).toHaveProperty("size", 3);
});

it("environmentExample() of no settings has none", () => {
  expect(environmentExample(defineConfig({}))).not.toContain("=");
});
