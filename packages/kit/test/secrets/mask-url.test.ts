import { expect, it } from "vitest";
import { maskUrl } from "../../src/secrets/mask.ts";

it.each([
  ["https://u:p@h/a?token=1#code=2", "https://***@h/a?token=***#code=***"],
  ["//u:p@h/a", "//***@h/a"],
  ["https://h/a//b@c/d", "https://h/a//b@c/d"],
  ["/npm//@scope/package", "/npm//@scope/package"],
  ["a//b@c", "a//b@c"],
])("maskUrl() turns %s into %s", (url, masked) => {
  expect(maskUrl(url)).toBe(masked);
});
