import { expect, it } from "vitest";
import { createSeal } from "./seal.ts";

const options = { secret: "s".repeat(32), purpose: "tests" };

it.each([
  ["another context", {}, "b"],
  ["another purpose", { purpose: "others" }, "a"],
  ["another secret", { secret: "t".repeat(32) }, "a"],
])("does not open with %s", async (_what, changed, context) => {
  const sealed = await createSeal(options).seal("text", "a");
  expect(await createSeal({ ...options, ...changed }).open(sealed, context)).toBeUndefined();
  expect(await createSeal(options).open(sealed, "a")).toBe("text");
});

it("does not open when a byte was changed, or bytes are missing", async () => {
  const seal = createSeal(options);
  const sealed = await seal.seal("text", "a");
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(await seal.open(changed, "a")).toBeUndefined();
    expect(await seal.open(sealed.subarray(0, at), "a")).toBeUndefined();
  }
});

it("brings back what was sealed, shows nothing of it, and differs each time", async () => {
  const seal = createSeal(options);
  const sealed = await seal.seal("the text é", "a");
  expect(await seal.open(sealed, "a")).toBe("the text é");
  expect(sealed.toString("latin1")).not.toContain("text");
  expect(await seal.seal("the text é", "a")).not.toEqual(sealed);
});
