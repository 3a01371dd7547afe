import type { Matrix } from "../matrix.ts";
import type { ShownRequest } from "../sender.ts";

const ids = [
  "0",
  "-1",
  "%00",
  "..%2f..%2fetc%2fpasswd",
  "'%20or%20'1'='1",
  "__proto__",
  "%F0%9F%92%A9",
  "9".repeat(400),
];
const bodies: readonly unknown[] = [
  "",
  "{",
  "null",
  "[]",
  '"text"',
  "1",
  '{"__proto__":{"role":"admin"}}',
  `${"[".repeat(3000)}${"]".repeat(3000)}`,
];
const values: readonly unknown[] = [
  null,
  [],
  {},
  [[]],
  { $gt: "" },
  { $ne: null },
  1e308,
  -1,
  true,
  "\u0000",
  "x".repeat(20_000),
];

/**
 * Sends paths, queries and bodies of wrong types and sizes; a status of 500 or more, or no
 * response, is a finding.
 */
export async function tryHostile(matrix: Matrix): Promise<void> {
  const { api, sender } = matrix;
  for (const collection of api.collections) {
    const fields = Object.keys(collection.documents[0]?.values ?? {});
    const { path } = collection;
    const create = collection.createPath ?? path;
    const requests: readonly ShownRequest[] = [
      ...ids.map((id) => ({ method: "GET", path: `${path}/${id}` })),
      ...fields
        .flatMap((field) => api.dialect.hostileQueries(field))
        .map((query) => ({ method: "GET", path: `${path}?${query}` })),
      ...bodies.map((body) => ({ method: "POST", path: create, body })),
      ...fields.flatMap((field) =>
        values.map((value) => {
          const sample = collection.sample(matrix.next());
          return {
            method: "POST",
            path: create,
            body: api.dialect.body({ ...sample, [field]: value }, collection),
          };
        }),
      ),
    ];
    for (const caller of api.callers.slice(0, 2)) {
      for (const request of requests) {
        const { status } = await sender.send(caller, request);
        if (status !== 0 && status < 500) continue;
        const shown = { collection: collection.name, caller: caller.name, way: request.method };
        matrix.add({
          code: status === 0 ? "no-response" : "server-error",
          ...shown,
          request,
          status,
        });
      }
    }
  }
}
