import { join } from "node:path";
import { check } from "prettier";
import { describe, expect, it } from "vitest";
import { article, note, person, vault } from "../../../rest/test/contract/whole-api.ts";
import { ejectedController } from "../../src/eject/ejected-controller.ts";
import { featuresOf, type Features } from "../../src/eject/features.ts";
import { order } from "./ejected/order/model.ts";

const hookNames = Object.keys(order.hooks);
const flags = [
  "asksToRestore",
  "knowsNull",
  "populates",
  "readOnly",
  "refers",
  "reserves",
  "showsOwner",
  "softDelete",
] as const;

function featuresFor(bits: number): Features {
  const [on, hooks] = [(index: number) => ((bits >> index) & 1) === 1, bits >> flags.length];
  const [asksToRestore, knowsNull, populates, readOnly, refers, reserves, showsOwner, softDelete] =
    flags.map((_, index) => on(index)) as boolean[] & { length: 8 };
  return {
    asksToRestore: asksToRestore === true,
    knowsNull: knowsNull === true,
    populates: populates === true,
    readOnly: readOnly === true,
    refers: refers === true,
    reserves: reserves === true,
    showsOwner: showsOwner === true,
    softDelete: softDelete === true,
    hooks: new Set(hookNames.filter((_, index) => ((hooks >> index) & 1) === 1)),
    owner: on(0) ? "maker" : undefined,
    shape: on(1) ? "rows" : "array",
  };
}

describe("ejected handlers", () => {
  // They are part of the repository, so they are checked for types and by the linter as everything else.
  it.each([
    ["person", person],
    ["article", article],
    ["note", note],
    ["vault", vault],
    ["order", order],
  ])("of %s are those that the tests use", async (name, resource) => {
    const features = featuresOf(resource);
    expect(features).toBeDefined();
    if (!features) return;
    await expect(ejectedController(name, features)).toMatchFileSnapshot(
      join(import.meta.dirname, `ejected/${name}/controller.ts`),
    );
  });

  it("are formatted as Prettier does, for every feature of a resource", async () => {
    // Each feature and each pair of them, with and without the others.
    const width = flags.length + hookNames.length;
    const all = 2 ** width - 1;
    const sets = new Set([0, all]);
    for (let one = 0; one < width; one += 1) {
      for (let other = one; other < width; other += 1) {
        const bits = (2 ** one) | (2 ** other);
        sets.add(bits).add(all & ~bits);
      }
    }
    const odd: string[] = [];
    for (const bits of sets) {
      const name = bits % 2 === 0 ? "note" : "aVeryLongNameOfAResource";
      const text = ejectedController(name, featuresFor(bits));
      if (!(await check(text, { parser: "typescript", printWidth: 100 }))) odd.push(text);
    }
    expect(sets.size).toBeGreaterThan(300);
    expect(odd.slice(0, 1)).toEqual([]);
  }, 60_000);

  it.each([['a"]; stop(); fields["b'], ["a\\"], ["a\nb"], ["__proto__"]])(
    "name the field of the creator, whatever it is called: %j",
    (owner) => {
      const text = ejectedController("note", { ...featuresFor(0), owner });
      const [, name = ""] =
        /^    if \(call\.user\) fields\[(.*)\] = call\.user\.id;$/m.exec(text) ?? [];
      expect(JSON.parse(name)).toBe(owner);
    },
  );

  it("contain nothing that the resource does not use", () => {
    const text = ejectedController("note", featuresFor(0));
    expect(text).not.toMatch(/hooks|populate|restore|trash|nullable|without|afterChange/);
    expect(text.split("\n").length).toBeLessThan(110);
  });

  it.each([[undefined], [null], ["text"], [{}], [{ relations: {}, collection: { name: "a" } }]])(
    "are of nothing but a resource: %j",
    (value) => {
      expect(featuresOf(value)).toBeUndefined();
    },
  );
});
