import { expect, it } from "vitest";
import { shownUrl } from "./shown-url.ts";

it.each([
  ["sqlite:/var/a@b.db", "sqlite:/var/a@b.db"],
  ["postgres://ann:secret@db/blog", "postgres://db/blog"],
  ["PostgreSQL://ann:se@cret@db:6000,other/blog", "PostgreSQL://db:6000,other/blog"],
  ["postgres://db/blog", "postgres://db/blog"],
])("shows %j as %j", (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});
