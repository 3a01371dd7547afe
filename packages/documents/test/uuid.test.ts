import { describe, expect, it } from "vitest";
import { createIdGenerator } from "../src/uuid.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("An id generator", () => {
  it("makes version 7 with the time in front", () => {
    const id = createIdGenerator()(0x0123_4567_89ab);
    expect(id).toMatch(UUID_V7);
    expect(id.slice(0, 13)).toBe("01234567-89ab");
  });

  it("makes each id greater than the one before, also when the clock stands or goes back", () => {
    const createId = createIdGenerator();
    const clock = Array.from({ length: 20_000 }, (_, index) => 1_700_000_000_000 - (index % 7));
    const ids = clock.map(createId);
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => UUID_V7.test(id))).toBe(true);
  });
});
