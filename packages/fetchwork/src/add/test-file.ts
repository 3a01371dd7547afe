import type { OperationName, RuleName } from "./access-rules.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { camelOf } from "./resource-names.ts";
import { sentenceList } from "./source-text.ts";

/**
 * Writes the tests of a resource: who may do what. Documents are samples of its schema, so they
 * follow the model when it changes; what the package tests is not tested again.
 */
export function testFile(definition: ResourceDefinition): string {
  const { names, hasUsers, access } = definition;
  // The last part of the path names the member of the client.
  const client = camelOf(names.path.slice(names.path.lastIndexOf("/") + 1));
  const creator = callerOf(access.create);
  const callerFor = (rule: RuleName): string => callerOf(rule === "owner" ? access.create : rule);
  const show = callerFor(access.show);
  const update = callerFor(access.update);
  const remove = callerFor(access.remove);
  const callers = [...new Set([creator, show, update, remove])].filter((one) => one !== "anyone");
  const opening = [
    "    const service = await testService(app);",
    "    const anyone = service.client;",
  ];
  for (const caller of callers) {
    opening.push(`    const ${caller} = await service.as("${caller}");`);
  }
  const tested = variables.has(names.camel) ? "tested" : names.camel;
  const imported = tested === names.camel ? tested : `${names.camel} as ${tested}`;
  const sample = `await service.sample(${tested})`;
  const refusals = refusalsOf(definition, client);
  return `import { testService } from "@fetchwork/service/test";
import { describe, expect, it } from "vitest";
import { app } from "../../app.ts";
import { ${imported} } from "./model.ts";

describe("${names.plural}", () => {
  it("are created, shown, changed and deleted by callers who may", async () => {
${opening.join("\n")}
    const sample = ${sample};
    const { data } = await ${creator}.${client}.create(sample);
    const { data: shown } = await ${show}.${client}.show(data.id);
    expect(shown.id).toBe(data.id);
    const change = ${sample};
    const { data: changed } = await ${update}.${client}.update(data.id, change);
    expect(changed).toMatchObject(change);
    await ${remove}.${client}.remove(data.id);
${refused(`${show}.${client}.show(data.id)`, 404)}
  });
${refusals === "" ? "" : `\n${refusals}`}});
`.replace("    const anyone = service.client;\n", (line) =>
    [creator, show, update, remove].includes("anyone") ? line : "",
  );

  function refusalsOf({ owner }: ResourceDefinition, path: string): string {
    const guarded = (["create", "show", "update", "remove"] as const).filter(
      (operation) => access[operation] !== "public",
    );
    if (guarded.length === 0) return "";
    const call = (caller: string, operation: OperationName): string =>
      operation === "create"
        ? `${caller}.${path}.create(sent)`
        : `${caller}.${path}.${operation}(data.id${operation === "update" ? ", sent" : ""})`;
    const others = guarded.filter((operation) => access[operation] !== "user");
    const needsOther = hasUsers && others.length > 0;
    const lines = [
      "    const service = await testService(app);",
      "    const anyone = service.client;",
      ...(creator === "anyone" ? [] : [`    const ${creator} = await service.as("${creator}");`]),
      ...(needsOther ? ['    const other = await service.as("user");'] : []),
      `    const sent = ${sample};`,
      `    const { data } = await ${creator}.${path}.create(sent);`,
      ...guarded.map((operation) => refused(call("anyone", operation), 401)),
      ...(needsOther ? others.map((operation) => refused(call("other", operation), 403)) : []),
    ];
    const may = [...new Set(guarded.map((operation) => access[operation]))].map((rule) =>
      whoOf(rule, owner),
    );
    return `  it("are kept for ${sentenceList(may)}", async () => {
${lines.filter((line) => needsOne(line, guarded)).join("\n")}
  });
`;
  }
}

/** Names of the variables of the tests. */
const variables = new Set(
  "admin anyone app change changed data describe expect it master other sample sent service shown user".split(
    " ",
  ),
);

/** Writes that a call is refused, as Prettier would. */
function refused(call: string, status: number): string {
  const head = `    await expect(${call}).rejects.toMatchObject({`;
  const line = `${head} status: ${status} });`;
  return line.length <= 100 ? line : `${head}\n      status: ${status},\n    });`;
}

/** A document is needed unless only creating is refused. */
function needsOne(line: string, guarded: readonly OperationName[]): boolean {
  const isOfOne = line.startsWith("    const { data }");
  return !isOfOne || guarded.some((operation) => operation !== "create");
}

/** The variable with the client of a caller who may. */
function callerOf(rule: RuleName): string {
  const callers = {
    public: "anyone",
    user: "user",
    owner: "user",
    admin: "admin",
    master: "master",
  };
  return callers[rule];
}

function whoOf(rule: RuleName, owner = "owner"): string {
  const names = {
    public: "everyone",
    user: "users",
    owner: `the ${owner}`,
    admin: "admins",
    master: "the master key",
  };
  return names[rule];
}
