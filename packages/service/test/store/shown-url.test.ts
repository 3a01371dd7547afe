import { expect, it } from "vitest";
import { shownUrl } from "../../src/store/shown-url.ts";

it.each([
  ["sqlite:/var/a@b.db", "sqlite:/var/a@b.db"],
  ["postgres://ann:secret@db/api", "postgres://db/api"],
  ["PostgreSQL://ann:se@cret@db:6000,other/api", "PostgreSQL://db:6000,other/api"],
  ["postgres://db/api", "postgres://db/api"],
  ["postgres://db/api?password=secret", "postgres://db/api"],
  ["secret", "the store"],
])("shownUrl shows %j as %j", (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});
