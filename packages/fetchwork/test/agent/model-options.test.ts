import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseModel } from "../../src/agent/model-options.ts";
import { startModelServer, type ModelServer } from "../../../agent/test/model-server.ts";
import { memoryIo } from "../memory-io.ts";

let cwd: string;
let server: ModelServer | undefined;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "agent-model-"));
});
afterEach(async () => {
  await server?.close();
  rmSync(cwd, { recursive: true, force: true });
});

describe("chooseModel", () => {
  it.each([
    [{ "base-url": "ftp://x/v1" }, "--base-url must be an http or https URL"],
    [{ "base-url": "nothing" }, "--base-url must be an http or https URL"],
    [{ "base-url": "http://me:secret@x/v1" }, "keys come from --api-key-env"],
    [{ provider: "other" }, "--provider must be one of openai, anthropic, openai-compatible"],
    [{ provider: "openai-compatible" }, "--provider openai-compatible requires --base-url"],
    [{ provider: "openai" }, "the environment variable OPENAI_API_KEY is not set"],
    [{ provider: "anthropic" }, "the environment variable ANTHROPIC_API_KEY is not set"],
    [{ provider: "openai", "api-key-env": "KEY" }, "the environment variable KEY is not set"],
    [{ "base-url": "http://x/v1", temperature: "3" }, "--temperature must be a number from 0 to 2"],
    [{ "base-url": "http://x/v1", record: "there" }, 'the transcript "there" already exists'],
    [{ record: "there" }, 'the transcript "there" already exists'],
    [{ replay: "there" }, "is not a transcript"],
    [{ replay: "missing" }, "cannot be read"],
  ])("refuses %j", async (values, message) => {
    writeFileSync(join(cwd, "there"), "x\n");
    const failure = chooseModel(values, memoryIo({ cwd }));
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.not.toThrow("secret");
  });

  it("rejects --record together with --replay", async () => {
    writeFileSync(
      join(cwd, "t"),
      '{"format":"fetchwork-transcript","version":1,"source":"scripted"}\n',
    );
    await expect(chooseModel({ replay: "t", record: "r" }, memoryIo({ cwd }))).rejects.toThrow(
      "--replay and --record cannot be combined",
    );
  });

  it("names the three ways to configure a model if none is", async () => {
    await expect(chooseModel({}, memoryIo())).rejects.toMatchObject({
      code: "ERR_AGENT_NO_PROVIDER",
      message: expect.stringMatching(/FETCHWORK_BASE_URL.*OPENAI_API_KEY.*replay/s),
    });
  });

  const keyOf = async (
    values: Parameters<typeof chooseModel>[0],
    env: Readonly<Record<string, string>>,
  ): Promise<string | undefined> => {
    server = await startModelServer({ answers: [{ text: "x" }] });
    const io = memoryIo({ env: { ...env, HERE: server.baseUrl } });
    const { provider } = await chooseModel({ "base-url": server.baseUrl, ...values }, io);
    const request = { model: "m", messages: [{ role: "user" as const, content: "x" }] };
    for await (const _ of provider.generate(request, io.signal));
    return server.requests[0]?.authorization;
  };

  it("sends the named key and no key of another server", async () => {
    expect(await keyOf({ "api-key-env": "MINE" }, { MINE: "k1", FETCHWORK_API_KEY: "k2" })).toBe(
      "Bearer k1",
    );
    expect(await keyOf({}, { FETCHWORK_API_KEY: "k2" })).toBe("Bearer k2");
    const elsewhere = { FETCHWORK_BASE_URL: "https://models.example/v1", FETCHWORK_API_KEY: "k2" };
    expect(await keyOf({}, { ...elsewhere, OPENAI_API_KEY: "k3" })).toBeUndefined();
  });

  it("uses the transcript's model when it replays", async () => {
    const head = { format: "fetchwork-transcript", version: 1, source: "scripted" };
    writeFileSync(
      join(cwd, "t"),
      `${JSON.stringify({ ...head, run: { model: "m7", temperature: 1 } })}\n`,
    );
    const io = memoryIo({ cwd, env: { FETCHWORK_MODEL: "other" } });
    expect(await chooseModel({ replay: "t" }, io)).toMatchObject({ model: "m7", temperature: 1 });
    expect(await chooseModel({ replay: "t", model: "m8" }, io)).toMatchObject({ model: "m8" });
  });
});
