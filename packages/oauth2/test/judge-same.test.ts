import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judgeCase } from "./judge-case.ts";
import { CaseRunner, type Input, type VectorCase } from "./vector-case.ts";

let runner: CaseRunner;
beforeAll(async () => {
  runner = await CaseRunner.start();
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
});

async function replay(raw: VectorCase): Promise<void> {
  const test = runner.fill(raw);
  judgeCase(test, await runner.run(test));
}

describe("a latency of the call", () => {
  const tokenOptions = { expires_latency: 10 };
  const server = [
    {
      status: 200,
      headers: { "Content-Type": "application/json" },
      body: '{"access_token":"B","expires_in":100}',
    },
  ];
  const asked: Input = { op: "getToken", grant: "clientCredentials", server, tokenOptions };
  const old = { access_token: "A", refresh_token: "R" };

  it.each<readonly [string, Input, string | null]>([
    ["a request", asked, null],
    ["a refresh", { ...asked, op: "refresh", token: old }, "R"],
  ])("is judged by the moment after %s", async (_name, input, refresh_token) => {
    const recorded = (expires_at: number): VectorCase => ({
      name: "x",
      policy: "same",
      input,
      gem: {
        result: {
          token: "B",
          refresh_token,
          expires_in: 100,
          expires_at,
          expired: false,
          extra: {},
        },
      },
    });
    await replay(recorded(1_800_000_090));
    await expect(replay(recorded(1_800_000_100))).rejects.toThrow();
  });
});

describe("a body that is empty", () => {
  const types = [
    ["", null, ""],
    ["application/json", "", null],
    ["application/x-www-form-urlencoded", {}, null],
  ] as const;

  it.each(types)("is what the type says: %j", async (type, parsed, other) => {
    for (const verb of ["get", "head"]) {
      const body = verb === "get" ? "" : "{}";
      const server = [{ status: 200, headers: { "Content-Type": type }, body }];
      const input: Input = { op: "request", verb, path: "/r", opts: {}, server };
      const recorded = (value: unknown): VectorCase => ({
        name: "x",
        policy: "same",
        input,
        gem: { result: { status: 200, body: "", content_type: type, parsed: value } },
      });
      await replay(recorded(parsed));
      if (type === "") await replay(recorded(other));
      else await expect(replay(recorded(other))).rejects.toThrow();
    }
  });
});
