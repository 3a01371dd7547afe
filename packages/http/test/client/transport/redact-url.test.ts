import { expect, it } from "vitest";
import { redactUrl } from "../../../src/client/transport/redact-url.ts";

it.each([
  ["http://a.test/p", "http://a.test/p"],
  ["http://user:secret@a.test/p#secret", "http://a.test/p"],
  ["http://a.test/p?key=secret&page=2", "http://a.test/p?key=…&page=…"],
  ["http://a.test/p?secret", "http://a.test/p?…"],
  ["http://a.test/p?a=secret=secret&secret", "http://a.test/p?a=…&…"],
])("redactUrl shows of %s neither user information nor the values of its query", (url, shown) => {
  expect(redactUrl(new URL(url))).toBe(shown);
});
