import type { Caller, Collection } from "../api.ts";
import type { Matrix } from "../matrix.ts";

/** Hashes of passwords as bcrypt, scrypt and Argon2 write them. */
const hash = /\$2[aby]?\$\d\d\$|\$(?:argon2|scrypt|s0)[a-z]*\$/;

/**
 * Reads each list and document as every caller: as it is, with each field chosen, and with each
 * relation.
 */
export async function tryReads(matrix: Matrix): Promise<void> {
  const { api } = matrix;
  for (const collection of api.collections) {
    const { documents, otherPaths = [], path, relations } = collection;
    const fields = [
      ...new Set(
        documents.flatMap(({ beginnings, values }) => [
          ...Object.keys(values),
          ...Object.keys(beginnings ?? {}),
        ]),
      ),
    ];
    const deep = Object.entries(relations).flatMap(([field, name]) => {
      const target = api.collections.find((one) => one.name === name);
      return [field, ...Object.keys(target?.relations ?? {}).map((other) => `${field}.${other}`)];
    });
    const shows = ["", ...api.dialect.shows(fields, deep).map((query) => `?${query}`)];
    const places = [path, ...documents.map(({ id }) => `${path}/${id}`), ...otherPaths];
    const requests = places.flatMap((place) =>
      shows.map((query) => {
        const way = place === path ? "list" : "show";
        return { path: place + query, way: query === "" ? way : `${way} with a query` };
      }),
    );
    for (const caller of api.callers) {
      for (const request of requests) await tryRead(matrix, caller, { collection, ...request });
    }
  }
}

async function tryRead(
  matrix: Matrix,
  caller: Caller,
  {
    collection,
    path,
    way,
  }: { readonly collection: Collection; readonly path: string; readonly way: string },
): Promise<void> {
  const request = { method: "GET", path };
  const answer = await matrix.sender.send(caller, request);
  matrix.noteMarks(caller, answer, way);
  if (answer.status >= 400 || !hash.test(answer.text)) return;
  const shown = {
    collection: collection.name,
    field: "hash of a password",
    caller: caller.name,
    way,
  };
  matrix.add({ code: "field-read", ...shown, request, status: answer.status });
}
