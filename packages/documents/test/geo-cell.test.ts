import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellOf, cellsAround } from "../src/geo/geo-cell.ts";
import { angleOfSquare, squareBetween, vectorOf } from "../src/geo/position.ts";

const place = fc.record({
  latitude: fc.oneof(
    fc.constantFrom(-90, 90, 0, 89.99, -89.99),
    fc.double({ min: -90, max: 90, noNaN: true }),
  ),
  longitude: fc.oneof(
    fc.constantFrom(-180, 180, 0, 179.99, -179.99),
    fc.double({ min: -180, max: 180, noNaN: true }),
  ),
});

describe("The cells of places", () => {
  it.each([
    [-90, -180, 0],
    [90, 180, 2 ** 52 - 1],
    [0, 0, 3 * 2 ** 50],
    [-90, 180, (2 ** 52 - 1) / 3],
  ])("number %d, %d as %d", (latitude, longitude, expected) => {
    expect(cellOf({ latitude, longitude })).toBe(expected);
  });

  it("hold every place within the angle", () => {
    fc.assert(
      fc.property(
        place,
        place,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (center, other, part) => {
          const angle = angleOfSquare(squareBetween(vectorOf(center), vectorOf(other)));
          // Either just wide enough for the other place, or wider.
          const cells = cellsAround(center, angle * (1 + part));
          if (cells === undefined) return;
          const cell = cellOf(other);
          expect(cells.some(({ low, high }) => low <= cell && cell <= high)).toBe(true);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("are few, in order and apart", () => {
    fc.assert(
      fc.property(place, fc.double({ min: 0, max: 0.7, noNaN: true }), (center, angle) => {
        const cells = cellsAround(center, angle) ?? [];
        expect(cells.length).toBeLessThanOrEqual(32);
        expect(cells.length).toBeGreaterThan(0);
        for (const [index, { low, high }] of cells.entries()) {
          expect(low).toBeLessThanOrEqual(high);
          expect(low).toBeGreaterThan((cells[index - 1]?.high ?? -2) + 1);
        }
      }),
    );
  });

  it("do not reach much further than they must, away from the poles", () => {
    const cells = cellsAround({ latitude: 52.52, longitude: 13.405 }, 1000 / 6_371_008.8) ?? [];
    const held = cells.reduce((sum, { low, high }) => sum + high - low + 1, 0);
    const circle = Math.PI * (1000 / 40_030_000 / Math.cos(0.9167)) * (1000 / 20_015_000) * 2 ** 52;
    expect(held / circle).toBeLessThan(4);
  });
});
