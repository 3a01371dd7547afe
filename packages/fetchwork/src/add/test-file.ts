import { operations, type OperationName, type RuleName } from "./access-rules.ts";
import { exampleValue, invalidValue } from "./example-values.ts";
import type { Field } from "./field.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { namesOf } from "./resource-names.ts";
import { listText, literal } from "./source-text.ts";

/** Writes the tests of a resource: its life cycle, refusals, access rules and lists. */
export function testFile(definition: ResourceDefinition): string {
  const { names, hasUsers } = definition;
  const imports = [...(needsMasterKey(definition) ? ["masterKey"] : []), "openApi", "transports"];
  if (hasUsers) imports.push("type TestApi");
  const models = targetsOf(definition).map((target) => {
    const { kebab } = namesOf(target);
    const from = kebab === names.kebab ? "./model.ts" : `../${kebab}/model.ts`;
    const name = importedName(target);
    const what = name === target ? target : `${target} as ${name}`;
    return `import { ${what} } from "${from}";\n`;
  });
  const tests = [
    lifeTest(definition),
    refusalTest(definition),
    accessTest(definition),
    listTest(definition),
    searchTest(definition),
    trashTest(definition),
  ];
  return `import { describe, expect, it } from "vitest";
import { ${imports.join(", ")} } from "../../../test/api-client.ts";
${models.join("")}
const path = ${literal(names.path)};

${exampleText(definition)}
${tokensText(definition)}
describe.each(transports)("${names.plural} (%s)", (transport) => {
${tests.filter((test) => test !== "").join("\n")}});
`;
}

/** A function, so that each document of a test has different values. */
function exampleText({ fields, names }: ResourceDefinition): string {
  // What refers to its own kind begins with one that refers to none.
  const sent = fields.filter(
    ({ target }) => target === undefined || namesOf(target).kebab !== names.kebab,
  );
  const items = sent.map((field) => {
    const value = exampleValue(field);
    return value === field.name ? value : `${field.name}: ${value}`;
  });
  const parameter = items.some((item) => item.includes("number")) ? "number" : "_number";
  const body = listText(items, { indent: 2, head: "return ", brackets: ["{", "}"], tail: ";" });
  return `/** What is sent to create one; each number makes another one. */
function example(${parameter}: number) {
  ${body}
}
`;
}

const tokenOf: Readonly<Record<RuleName, string>> = {
  public: "undefined",
  user: "user",
  owner: "user",
  admin: "admin",
  master: "masterKey",
};

function uses({ access }: ResourceDefinition, ...asked: readonly RuleName[]): boolean {
  return operations.some((operation) => asked.includes(access[operation]));
}

function tokensText(definition: ResourceDefinition): string {
  const { access, hasUsers } = definition;
  const items = operations.map((operation) => `${operation}: ${tokenOf[access[operation]]}`);
  const comment = "/** Tokens of who may do what. */";
  if (!hasUsers) {
    const head = "const tokens = ";
    return `${comment}\n${listText(items, { head, brackets: ["{", "}"], tail: ";" })}\n`;
  }
  const joined = [
    ...(uses(definition, "user", "owner")
      ? ['  const { token: user } = await api.join("user@example.com");\n']
      : []),
    ...(uses(definition, "admin")
      ? ['  const { token: admin } = await api.join("admin@example.com", "admin");\n']
      : []),
  ];
  const body = listText(items, { indent: 2, head: "return ", brackets: ["{", "}"], tail: ";" });
  return joined.length === 0
    ? `${comment}\nfunction tokensOf(_api: TestApi) {\n  ${body}\n}\n`
    : `${comment}\nasync function tokensOf(api: TestApi) {\n${joined.join("")}  ${body}\n}\n`;
}

/** Resources that documents refer to. */
function targetsOf({ fields, names }: ResourceDefinition): readonly string[] {
  const targets = fields.flatMap(({ target }) => (target === undefined ? [] : [target]));
  const others = targets.map((target) => namesOf(target).camel);
  return [...new Set(others)].filter((other) => other !== names.camel).toSorted();
}

/** Names that the tests have for something else where they speak of other resources. */
const ownNames = new Set(
  [
    "describe expect it masterKey openApi transports path example tokens tokensOf transport api",
    "sent created one wrong param json refused token ids headers trash",
  ].flatMap((names) => names.split(" ")),
);

/** What a resource is called in the tests of another one. */
function importedName(resource: string): string {
  return ownNames.has(resource) ? `${resource}Resource` : resource;
}

/** The lines that each test begins with. */
function opening(definition: ResourceDefinition): string {
  const referred = targetsOf(definition);
  const inserts = referred.map(
    (one) => `    await api.insert(${importedName(one)}, ["1", "2", "3"]);\n`,
  );
  const open = `    const api = await openApi(transport);\n${inserts.join("")}`;
  if (!definition.hasUsers) return open;
  const wait = uses(definition, "user", "owner", "admin") ? "await " : "";
  return `${open}    const tokens = ${wait}tokensOf(api);\n`;
}

const sent = "    const sent = { json: example(1), token: tokens.create };\n";
const create = 'await api.send("POST", path, sent);';

function lifeTest(definition: ResourceDefinition): string {
  const changing = definition.fields.find(
    (field) => exampleValue(field).includes("number") && field.target === undefined,
  );
  const name = changing?.name;
  // No variable has the name of a field: it may be a keyword, or one of the test's own variables.
  const wanted = listText([`${name}: example(number).${name}`], {
    indent: 6,
    head: "const wanted = ",
    brackets: ["{", "}"],
    tail: ";",
  });
  const change =
    name === undefined
      ? ""
      : `    for (const [method, number] of [
      ["PUT", 2],
      ["PATCH", 3],
    ] as const) {
      ${wanted}
      const change = { json: wanted, token: tokens.update };
      const { status, json } = await api.send(method, one, change);
      expect([status, json]).toMatchObject([200, { ...example(1), ...wanted }]);
    }
`;
  // Others see less of the owner than the owner itself.
  const shown =
    definition.owner === undefined ? "toEqual(created.json)" : "toMatchObject(example(1))";
  return `  it("are created, shown, changed and deleted", async () => {
${opening(definition)}${sent}    const created = ${create}
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject(example(1));
    const one = \`\${path}/\${created.json.id}\`;
    expect(created.headers.get("location")).toBe(one);
    expect((await api.send("GET", one, { token: tokens.show })).json).${shown};
${change}    expect((await api.send("DELETE", one, { token: tokens.remove })).status).toBe(204);
    expect((await api.send("GET", one, { token: tokens.show })).status).toBe(404);
  });
`;
}

function refusalTest(definition: ResourceDefinition): string {
  const rows = definition.fields.flatMap((field) => [
    ...(field.presence === "required" ? [refusal(field, "undefined")] : []),
    refusal(field, invalidValue(field)),
  ]);
  if (rows.length === 0) return "";
  return `  it.each([
${rows.map((row) => `    ${row},\n`).join("")}  ])("are refused with the field that is wrong: %j", async (wrong, param) => {
${opening(definition)}    const json = { ...example(1), ...wrong };
    const refused = await api.send("POST", path, { json, token: tokens.create });
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ valid: false, param });
  });
`;
}

function refusal({ name }: Field, value: string): string {
  return `[{ ${name}: ${value} }, ${literal(name)}]`;
}

/** Tests that operations which are not public refuse other callers. */
function accessTest(definition: ResourceDefinition): string {
  const { access, hasUsers } = definition;
  const guarded = operations.filter((operation) => access[operation] !== "public");
  if (guarded.length === 0) return "";
  const strict = guarded.filter((operation) => access[operation] !== "user");
  const rows = guarded.flatMap(rowsOf).join("");
  const needsOne = guarded.some((operation) => operation !== "list" && operation !== "create");
  const one = needsOne
    ? `${sent}    const { json: created } = ${create}\n    const one = \`\${path}/\${created.id}\`;\n`
    : "";
  const begin = one === "" ? "    const api = await openApi(transport);\n" : opening(definition);
  const forbidden =
    hasUsers && strict.length > 0
      ? `    const { token } = await api.join("other@example.com");
    for (const [method, address, json] of [
${strict.flatMap(rowsOf).join("")}    ] as const) {
      expect((await api.send(method, address, { json, token })).status).toBe(403);
    }
`
      : "";
  return `  it("are kept from who may not", async () => {
${begin}${one}    for (const [method, address, json] of [
${rows}    ] as const) {
      expect((await api.send(method, address, { json })).status).toBe(401);
    }
${forbidden}  });
`;
}

/** Requests of an operation, as rows of a table. */
function rowsOf(operation: OperationName): readonly string[] {
  const address = operation === "list" || operation === "create" ? "path" : "one";
  const body = operation === "create" || operation === "update" ? "example(2)" : "undefined";
  return methodsOf[operation].map((method) => `      ["${method}", ${address}, ${body}],\n`);
}

const methodsOf: Readonly<Record<OperationName, readonly string[]>> = {
  list: ["GET"],
  show: ["GET"],
  create: ["POST"],
  update: ["PUT", "PATCH"],
  remove: ["DELETE"],
};

function listTest(definition: ResourceDefinition): string {
  const rows = definition.list === "rows" ? "json.rows" : "json";
  const count = definition.list === "rows" ? "    expect(json.count).toBe(3);\n" : "";
  return `  it("are listed page by page, the newest first", async () => {
${opening(definition)}    const ids: string[] = [];
    for (const number of [1, 2, 3]) {
      const sent = { json: example(number), token: tokens.create };
      ids.unshift((await api.send("POST", path, sent)).json.id);
    }
    const { headers, json } = await api.send("GET", \`\${path}?limit=2\`, { token: tokens.list });
    expect(${rows}.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect(headers.get("x-total-count")).toBe("3");
    expect(headers.get("link")).toContain('rel="next"');
${count}    const refused = await api.send("GET", \`\${path}?limit=0\`, { token: tokens.list });
    expect([refused.status, refused.json.param]).toEqual([400, "limit"]);
  });
`;
}

function searchTest(definition: ResourceDefinition): string {
  const searched = definition.fields.find(
    ({ type, flags, max = 200, name }) =>
      flags.has("search") && type !== "email" && name.length + 9 <= max,
  );
  if (searched === undefined) return "";
  const count = 'headers.get("x-total-count")';
  return `  it("are found by their words", async () => {
${opening(definition)}${sent}    ${create}
    for (const [q, found] of [
      ["some", "1"],
      ["another", "0"],
    ] as const) {
      const { headers } = await api.send("GET", \`\${path}?q=\${q}\`, { token: tokens.list });
      expect(${count}).toBe(found);
    }
  });
`;
}

/** Without users only the master key restores documents. */
function needsMasterKey(definition: ResourceDefinition): boolean {
  return uses(definition, "master") || (definition.softDelete && !definition.hasUsers);
}

function trashTest(definition: ResourceDefinition): string {
  const { access, hasUsers, softDelete } = definition;
  if (!softDelete) return "";
  const keeper = hasUsers
    ? '    const { token } = await api.join("keeper@example.com", "admin");\n'
    : "";
  const restorer = hasUsers ? "token" : "token: masterKey";
  const lister = access.list === "master" ? "token: tokens.list" : "token";
  const listed = `    const trash = await api.send("GET", \`\${path}?trash=only\`, { ${lister} });
    expect(trash.headers.get("x-total-count")).toBe("1");
`;
  return `  it("come back from the trash", async () => {
${opening(definition)}${sent}    const { json } = ${create}
    const one = \`\${path}/\${json.id}\`;
${keeper}    await api.send("DELETE", one, { token: tokens.remove });
${hasUsers || access.list === "master" ? listed : ""}    expect((await api.send("POST", \`\${one}/restore\`, { ${restorer} })).status).toBe(200);
    expect((await api.send("GET", one, { token: tokens.show })).status).toBe(200);
  });
`;
}
