import { describe, expect, it } from "vitest";
import { createIdGenerator } from "../src/document/uuid.ts";

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("An id generator", () => {
  it("makes version 7 with the time in front", () => {
    const id = createIdGenerator()(0x0123_4567_89ab);
    expect(id).toMatch(uuidV7);
    expect(id.slice(0, 13)).toBe("01234567-89ab");
  });

  it("makes each id greater than the one before, also when the clock stands or goes back", () => {
    const createId = createIdGenerator();
    const clock = Array.from({ length: 20_000 }, (_, index) => 1_700_000_000_000 - (index % 7));
    const ids = clock.map(createId);
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => uuidV7.test(id))).toBe(true);
  });

  it("draws every bit behind the counter on its own", () => {
    const createId = createIdGenerator();
    const ids = Array.from({ length: 4000 }, () => createId(1_700_000_000_000).slice(19));
    const bits = ids.map((id) => {
      const digits = id.replaceAll("-", "");
      return BigInt(`0x${digits}`).toString(2).padStart(64, "0").slice(2);
    });
    for (let one = 0; one < 62; one += 1) {
      for (let other = 0; other < one; other += 1) {
        const alike = bits.filter((text) => text[one] === text[other]).length;
        // Of 4,000 throws of a coin, 2,000 and nine times their deviation.
        expect(Math.abs(alike - 2000), `bits ${one} and ${other}`).toBeLessThan(285);
      }
    }
  });
});
