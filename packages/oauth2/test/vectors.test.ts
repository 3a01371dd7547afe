import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OAuth2Client } from "../src/index.ts";
import { snakeCase, snakyHashClass } from "../src/compat/index.ts";
import { judgeCase } from "./judge-case.ts";
import { startScriptedServer } from "./scripted-server.ts";
import { CaseRunner, now, readVectors, vectorFolder, type SnakeCaseCase } from "./vector-case.ts";

const folder = vectorFolder();
const files = readVectors(folder);

let runner: CaseRunner;
beforeAll(async () => {
  runner = await CaseRunner.start();
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
});

it("this suite finds all vectors", () => {
  const isOwn = process.env["FETCHWORK_VECTORS"] === undefined;
  expect(files.length).toBeGreaterThanOrEqual(isOwn ? 13 : 1);
});

const replayed = files.filter(({ name }) => name !== "snake-case");
describe.each(replayed.map(({ name, cases }) => [name, cases] as const))(
  "vectors of %s.json",
  (_name, cases) => {
    it.each(cases.map((test) => [test.name, test.policy, test] as const))(
      "%s (%s)",
      async (_name, _policy, raw) => {
        const test = runner.fill(raw);
        judgeCase(test, await runner.run(test));
      },
    );
  },
);

describe.runIf(replayed.length < files.length)("vectors of snake-case.json", () => {
  const text = (): string => readFileSync(join(folder, "snake-case.json"), "utf8");
  const { cases } =
    replayed.length < files.length
      ? (JSON.parse(text()) as { readonly cases: readonly SnakeCaseCase[] })
      : { cases: [] };
  it.each(cases.map((test) => [test.name, test] as const))("%s", (_, { input, gem }) => {
    const result = typeof input === "string" ? snakeCase(input) : snakyHashClass().from(input);
    expect(result).toEqual(gem);
  });
});

it("an assertion is signed so that another implementation accepts it", async () => {
  const key = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk";
  await using server = await startScriptedServer();
  const client = new OAuth2Client("abc", "def", { site: server.origin });
  await client.assertion.getToken([{ iss: "i", aud: "a", exp: now }, "HS256", key]);
  const assertion = new URLSearchParams(server.seen[0]?.body).get("assertion") ?? "";
  const { payload } = await jwtVerify(assertion, new TextEncoder().encode(key), {
    audience: "a",
    currentDate: new Date((now - 1) * 1000),
  });
  expect(payload).toEqual({ iss: "i", aud: "a", exp: now });
});
