import { kindOf } from "../api.ts";
import type { Matrix } from "../matrix.ts";

/** Hashes of passwords as bcrypt, scrypt and Argon2 write them. */
const hash = /\$2[aby]?\$\d\d\$|\$(?:argon2|scrypt|s0)[a-z]*\$/;

/** Reads each list and document as every caller: as it is, with each field chosen, and with each relation. */
export async function tryReads(matrix: Matrix): Promise<void> {
  const { api, sender } = matrix;
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
    for (const caller of api.callers) {
      for (const place of places) {
        for (const query of shows) {
          const request = { method: "GET", path: place + query };
          const answer = await sender.send(caller, request);
          const way = place === path ? "list" : "show";
          matrix.noteMarks(caller, answer, query === "" ? way : `${way} with a query`);
          const [document] = documents;
          if (document === undefined || answer.status >= 400 || !hash.test(answer.text)) continue;
          const { status } = answer;
          const field = "hash of a password";
          const kind = kindOf(caller, document);
          const shown = { collection: collection.name, field, caller: kind, way };
          matrix.add({ code: "field-read", ...shown, request, status });
        }
      }
    }
  }
}
