import { openStore } from "@fetchwork/documents";
import { beforeAll, expect, it } from "vitest";
import { openBlog } from "./open-blog.ts";

type Described = Readonly<Record<string, unknown>>;

let document: Described = {};
let operations: readonly Described[] = [];

beforeAll(async () => {
  await using store = await openStore("sqlite::memory:");
  const { openApi } = openBlog(store);
  document = JSON.parse(JSON.stringify(openApi)) as Described;
  operations = Object.values(openApi.paths).flatMap(
    (methods) => Object.values(methods) as readonly Described[],
  );
});

/** Every value of a property with one of these names, however deep. */
function valuesOf(value: unknown, names: readonly string[]): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [
    ...(names.includes(name) ? [part] : []),
    ...valuesOf(part, names),
  ]);
}

it("the reference names every operation in the imperative", () => {
  const summaries = operations.map(({ summary }) => String(summary));
  expect(summaries.length).toBeGreaterThan(40);
  expect(summaries.filter((summary) => /^(?![A-Z])|^\w*[^s]s\b|\.$/.test(summary))).toEqual([]);
});

it("the reference says of each group what is in it", () => {
  expect(document["tags"]).toEqual([
    {
      name: "users",
      description: "Accounts: profiles, passwords and roles. `me` as id is the caller",
    },
    {
      name: "auth",
      description:
        "Sign in and out: sessions, API keys, second factors, passkeys and email addresses",
    },
    { name: "password-resets", description: "Lost passwords" },
    { name: "articles", description: "Everything about articles" },
    {
      name: "webhooks",
      description: "Endpoints that receive changes, and their deliveries; for admins",
    },
  ]);
});

it("the reference uses the words of the glossary", () => {
  const texts = valuesOf(document, ["summary", "description"]).filter(
    (text) => typeof text === "string",
  );
  expect(texts.length).toBeGreaterThan(200);
  expect(texts.filter((text) => /\b(?:answer|repl(?:y|ies)\b|gives?\b)/i.test(text))).toEqual([]);
});

it("the reference has no example that its page would send", () => {
  const sent = operations.map(({ parameters, requestBody }) => [parameters, requestBody]);
  const { schemas } = document["components"] as Readonly<Record<string, Described>>;
  expect(valuesOf([sent, schemas], ["example", "examples"])).toEqual([]);
});
