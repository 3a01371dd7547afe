import { describe, expect, it } from "vitest";
import { fromAiSdk } from "../src/models/from-ai-sdk.ts";

const wrong = {
  specificationVersion: "v9",
  provider: "x",
  modelId: "y",
  doStream: () => Promise.reject(new Error("asked")),
};

describe("fromAiSdk", () => {
  it("refuses what is not a model of the SDK where it is given", () => {
    expect(() => fromAiSdk(wrong)).toThrow("must be a model of the AI SDK");
    // @ts-expect-error A caller without types may pass anything.
    expect(() => fromAiSdk()).toThrow("must be a model of the AI SDK");
  });

  it("refuses what a function makes that is not a model of the SDK", async () => {
    const request = { model: "x", messages: [{ role: "user", content: "x" }] } as const;
    const { signal } = new AbortController();
    const parts = fromAiSdk(() => wrong).generate(request, signal);
    await expect(Array.fromAsync(parts)).rejects.toThrow("must be a model of the AI SDK");
  });
});
