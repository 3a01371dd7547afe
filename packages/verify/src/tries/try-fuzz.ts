import type { ShownRequest } from "../finding.ts";
import { scan, type Trial } from "./trial.ts";

const texts = [
  "",
  "0",
  "-1",
  "1e999",
  "null",
  "%00",
  "%F0%9F%92%A9",
  "a".repeat(3000),
  "..%2F..",
  "[]",
  "%5B(%7B",
];
const parameters = ["page", "limit", "after", "sort", "fields", "where", "q", "populate"];
const values: readonly unknown[] = [
  null,
  -1,
  1e308,
  0.1,
  "",
  "\0",
  "\u{1F4A9}".repeat(50),
  "a".repeat(20_000),
  true,
  [],
  [null],
  {},
  { $ne: null },
  JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":1}}'),
  "2026-13-45",
];

/** Sends hostile paths, parameters and bodies to every resource and every route of the project. */
export async function tryFuzz(trial: Trial): Promise<void> {
  const { sender, world } = trial;
  const callers = world.callers.filter(({ name }) => name !== "key");
  for (const request of requests(trial)) {
    for (const caller of callers) scan(trial, caller, await sender.send(caller, request), "fuzz");
  }
}

function requests({ world }: Trial): readonly ShownRequest[] {
  const { ownRoutes, service } = world;
  // Creating users hashes a password each time.
  const resources = service.resources.filter(({ owner }) => owner !== "id");
  const made = resources.flatMap((resource): ShownRequest[] => {
    const [planted] = world.garden.of(resource);
    const { path } = resource;
    const one = `${path}/${planted?.document.id ?? "none"}`;
    const fields = resource.fields.slice(0, 20);
    const names = [...parameters, ...(resource.list.filters ?? []).map((filter) => filter.path)];
    return [
      ...texts.map((text) => ({ method: "GET", path: `${path}/x${text}` })),
      ...texts.flatMap((text) =>
        names.map((name) => ({ method: "GET", path: `${path}?${name}=${text}` })),
      ),
      ...values.flatMap((value) => [
        { method: "POST", path, body: value },
        { method: "QUERY", path, body: value },
        ...fields.flatMap((field) => [
          { method: "POST", path, body: { ...world.sample(resource, "ada"), [field]: value } },
          { method: "PATCH", path: one, body: { [field]: value } },
        ]),
      ]),
    ];
  });
  const own = ownRoutes.flatMap(({ method, path, query = [] }): ShownRequest[] => {
    const filled = (text: string): string => path.replace(/:\w+/g, `x${text}`);
    if (method !== "GET") {
      return values.map((body) => ({ method, path: filled(""), body }));
    }
    return texts.flatMap((text) => [
      { method, path: filled(text) },
      ...query.map(({ name }) => ({ method, path: `${filled("")}?${name}=${text}` })),
    ]);
  });
  return [...made, ...own];
}
