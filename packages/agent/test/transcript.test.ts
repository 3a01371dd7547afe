import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ModelProvider } from "../src/models/model-provider.ts";
import { readTranscriptHead, recording, replaying } from "../src/models/transcript.ts";

let file: string;
beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), "agent-transcript-")), "t.ndjson");
});
afterEach(() => rmSync(join(file, ".."), { recursive: true, force: true }));

const echo: ModelProvider = {
  id: "echo",
  async *generate({ messages }) {
    yield { type: "text", text: `re: ${messages[0]?.content}` };
    yield { type: "finish", reason: "stop" };
  },
};

async function ask(provider: ModelProvider, content: string): Promise<string> {
  let answer = "";
  const request = { model: "m", messages: [{ role: "user" as const, content }] };
  for await (const part of provider.generate(request, new AbortController().signal)) {
    if (part.type === "text") answer += part.text;
  }
  return answer;
}

it("a transcript keeps no thoughts", async () => {
  const thinking: ModelProvider = {
    id: "thinking",
    *generate() {
      yield { type: "thinking" };
      yield { type: "text", text: "yes" };
      yield { type: "finish", reason: "stop" };
    },
  };
  expect(await ask(recording(thinking, file), "x")).toBe("yes");
  expect(readFileSync(file, "utf8")).not.toContain("thinking");
  expect(await ask(replaying(file), "x")).toBe("yes");
});

describe("readTranscriptHead", () => {
  it.each(["", "x", "[]", "null", '{"format":"other"}'])("refuses %j", async (text) => {
    writeFileSync(file, text);
    await expect(readTranscriptHead(file)).rejects.toMatchObject({ code: "ERR_AGENT_REPLAY" });
  });

  it("returns what the run was asked for, and only plain values of it", async () => {
    const run = '{"prompt":"a","repair":3,"verify":true,"more":{},"__proto__":"x"}';
    writeFileSync(
      file,
      `{"format":"fetchwork-transcript","version":1,"source":"scripted","run":${run}}`,
    );
    const { source, run: said } = await readTranscriptHead(file);
    expect(source).toBe("scripted");
    expect(Object.entries(said)).toEqual([
      ["prompt", "a"],
      ["repair", 3],
      ["verify", true],
      ["__proto__", "x"],
    ]);
    expect(Object.getPrototypeOf(said)).toBe(Object.prototype);
  });
});

describe("recording", () => {
  it("goes on with a transcript whose last line was cut when its process ended", async () => {
    await ask(recording(echo, file, { run: { prompt: "p" } }), "one");
    const whole = readFileSync(file, "utf8");
    appendFileSync(file, '{"key":"half');
    await ask(recording(echo, file), "two");
    expect(readFileSync(file, "utf8").startsWith(whole)).toBe(true);
    expect(await ask(replaying(file), "one")).toBe("re: one");
    expect(await ask(replaying(file), "two")).toBe("re: two");
    expect((await readTranscriptHead(file)).run).toEqual({ prompt: "p" });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
