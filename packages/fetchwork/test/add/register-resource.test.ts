import { describe, expect, it } from "vitest";
import { registerResource } from "../../src/add/register-resource.ts";

const registration = { folder: "article", definition: "article", routes: "articleRoutes" };

/** What `fetchwork new` writes, with users. */
const fresh = `import type { Resource } from "@fetchwork/rest";
import { authRoutes } from "./auth/index.ts";
import { userRoutes } from "./user/index.ts";
import { user } from "./user/model.ts";

/** Resources. */
export const resources: readonly Resource[] = [user];

/** Routes. */
export const routes = [...userRoutes, ...authRoutes];
`;

describe("registerResource", () => {
  it("adds imports in alphabetical order and elements at the end", () => {
    expect(registerResource(fresh, registration))
      .toBe(`import type { Resource } from "@fetchwork/rest";
import { articleRoutes } from "./article/index.ts";
import { article } from "./article/model.ts";
import { authRoutes } from "./auth/index.ts";
import { userRoutes } from "./user/index.ts";
import { user } from "./user/model.ts";

/** Resources. */
export const resources: readonly Resource[] = [user, article];

/** Routes. */
export const routes = [...userRoutes, ...authRoutes, ...articleRoutes];
`);
  });

  it("changes nothing the second time", () => {
    const once = registerResource(fresh, registration);
    expect(registerResource(once, registration)).toBe(once);
  });

  it("completes a resource that exists in part", () => {
    const half = fresh.replace("[user]", "[user, article]");
    const text = half.replace(
      "import { auth",
      'import { article } from "./article/model.ts";\nimport { auth',
    );
    expect(registerResource(text, registration)).toBe(registerResource(fresh, registration));
  });

  it("fills empty arrays in a module without relative imports", () => {
    const empty = `import type { Route } from "@fetchwork/rest"; // types
export const resources = [] as const;
export const routes = [] satisfies readonly Route[];
`;
    expect(registerResource(empty, registration))
      .toBe(`import type { Route } from "@fetchwork/rest"; // types
import { articleRoutes } from "./article/index.ts";
import { article } from "./article/model.ts";
export const resources = [article] as const;
export const routes = [...articleRoutes] satisfies readonly Route[];
`);
  });

  it("keeps comments, quotes and blank lines of multi-line arrays", () => {
    const written = `'use strict'
import {user} from './user/model.ts'
export const resources = [
    user, // who signs in

    // more
]
const other = { routes: [] }
export const routes = [
  ...other.routes // none yet
]
`;
    expect(registerResource(written, registration)).toBe(`'use strict'
import { articleRoutes } from "./article/index.ts";
import { article } from "./article/model.ts";
import {user} from './user/model.ts'
export const resources = [
    user, // who signs in
    article,

    // more
]
const other = { routes: [] }
export const routes = [
  ...other.routes, // none yet
  ...articleRoutes,
]
`);
  });

  it("breaks a line that becomes too long", () => {
    const names = Array.from({ length: 6 }, (_, index) => `...resource${index}Routes`);
    const long = `export const resources = [];\nexport const routes = [${names.join(", ")}];\n`;
    expect(registerResource(long, registration)).toContain(
      `export const routes = [\n${[...names, "...articleRoutes"].map((one) => `  ${one},\n`).join("")}];\n`,
    );
  });

  it.each([
    ["export const routes = [];", "does not export an array resources"],
    ["export const resources = [];", "does not export an array routes"],
    [
      "export const resources = []; export const routes = list();",
      "does not export an array routes",
    ],
    ["export const resources = []; const routes = [];", "does not export an array routes"],
    [
      "const article = 1; export const resources = []; export const routes = [];",
      "already declares article",
    ],
    ["export const resources = [", "Unexpected token"],
  ])("refuses %s", (text, message) => {
    expect(() => registerResource(text, registration)).toThrow(message);
  });
});
