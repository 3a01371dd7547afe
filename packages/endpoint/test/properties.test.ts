import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEndpoint, endpoint, EndpointError, expand } from "../src/index.ts";

const api = createEndpoint({ baseUrl: "https://api.example.com", onMissing: "empty" });
const name = fc.stringMatching(/^[a-z]{1,4}$/);
const scalar = fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.boolean());
const value = fc.oneof(
  scalar,
  fc.array(fc.option(scalar)),
  fc.dictionary(fc.string({ unit: "binary" }), fc.option(scalar)),
  fc.constant(null),
);
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom(...Array.from("{}{}+#./;?&,*:%19ab \n'\"")) }),
);
const expression = fc
  .tuple(
    fc.constantFrom("", "+", "#", ".", "/", ";", "?", "&"),
    fc.array(fc.tuple(name, fc.constantFrom("", "*")), { minLength: 1, maxLength: 3 }),
  )
  .map(([symbol, names]) => `{${symbol}${names.map((pair) => pair.join("")).join(",")}}`);

function orError<T>(run: () => T): T | EndpointError {
  try {
    return run();
  } catch (error) {
    if (error instanceof EndpointError) return error;
    throw error;
  }
}

describe("expand", () => {
  it("expand() writes only URI characters for any text and value, or throws with a position", () => {
    fc.assert(
      fc.property(text, fc.dictionary(name, value), (template, variables) => {
        const result = orError(() => expand(template, variables));
        if (typeof result === "string") {
          expect(result).toMatch(/^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[\dA-Fa-f]{2})*$/);
        } else if (result.code === "ERR_ENDPOINT_TEMPLATE") {
          expect(result.position).toBeLessThanOrEqual(template.length);
        } else {
          expect(result.code).toBe("ERR_ENDPOINT_VALUE");
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("expand() expands each part of a template independently", () => {
    fc.assert(
      fc.property(fc.array(expression), fc.dictionary(name, value), (parts, variables) => {
        const apart = parts.map((part) => expand(part, variables));
        expect(expand(parts.join("~"), variables)).toBe(apart.join("~"));
      }),
    );
  });

  it("decodeURIComponent() decodes the value that expand() wrote", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (a) => {
        expect(decodeURIComponent(expand("{a}", { a }))).toBe(a.toWellFormed());
      }),
    );
  });
});

describe("endpoint", () => {
  it("endpoint() builds, or throws an EndpointError", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (route, options) => {
        const call = api as (...given: readonly unknown[]) => unknown;
        orError(() => call(route, options));
      }),
      { numRuns: 2000 },
    );
  });

  it("endpoint() builds any route, or throws an EndpointError", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          text.map((url) => `GET ${url}`),
        ),
        fc.dictionary(name, value),
        (route, options) => {
          const result = orError(() => api(route, options));
          if (result instanceof EndpointError || /^[a-z][\w+.-]*:\/\//i.test(result.url)) {
            expect(result).toBeDefined();
          }
          if (!(result instanceof EndpointError)) expect(result.url).toMatch(/^[!-~]+$/);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("endpoint() keeps host and path for any values", () => {
    const routes = [
      "GET /a/{a}/{b}",
      "GET /a/{+a}/b",
      "GET /a{/a*}{?b}",
      "GET {a}/{b}",
      "GET {+a}",
    ];
    const evil = fc.string({ unit: fc.constantFrom(...Array.from(".%2eE/\\:@?#ab\t\n")) });
    fc.assert(
      fc.property(fc.constantFrom(...routes), evil, evil, (route, a, b) => {
        const result = orError(() => api(route, { a, b }));
        if (result instanceof EndpointError) return;
        const url = new URL(result.url);
        expect(url.origin).toBe("https://api.example.com");
        // Nothing was resolved away: the platform reads the path that was written.
        const written = result.url.slice(url.origin.length).replace(/[?#].*$/, "");
        expect(url.pathname).toBe(written === "" ? "/" : written);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("merge", () => {
  const parameters = fc.dictionary(
    fc.oneof(name, fc.constantFrom("__proto__", "constructor", "toString")),
    fc.oneof(fc.string(), fc.integer(), fc.constant(undefined), fc.array(fc.integer())),
  );

  it("endpoint() builds what parse() makes of merge()", () => {
    fc.assert(
      fc.property(
        parameters,
        parameters,
        fc.constantFrom("GET", "POST"),
        (first, second, method) => {
          const builder = api.defaults(first);
          const options = { ...second, method, url: "/x/{a}{?b}" };
          const expected = builder.parse(builder.merge(options));
          expect(builder(options)).toStrictEqual(expected);
          expect(builder(`${method} /x/{a}{?b}`, second)).toStrictEqual(expected);
          expect(builder.compile(`${method} /x/{a}{?b}`)(second)).toStrictEqual(expected);
        },
      ),
    );
  });

  it("merge() changes no argument, and the last defined value wins", () => {
    fc.assert(
      fc.property(parameters, parameters, (first, second) => {
        const copies = structuredClone([first, second]);
        const merged = endpoint.defaults(first).merge(second);
        expect([first, second]).toEqual(copies);
        for (const key of Object.keys(second)) {
          const expected = second[key] ?? (Object.hasOwn(first, key) ? first[key] : undefined);
          expect(Object.hasOwn(merged, key) ? merged[key] : undefined).toEqual(expected);
        }
      }),
    );
  });
});
