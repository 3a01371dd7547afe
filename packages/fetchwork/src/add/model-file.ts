import { operations, rules, type AccessRules, type RuleName } from "./access-rules.ts";
import type { Field, FieldFlag } from "./field.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { namesOf } from "./resource-names.ts";
import { listText, literal, numeral, sentenceList } from "./source-text.ts";

/** Writes `model.ts`: the definition of a resource. */
export function modelFile(definition: ResourceDefinition): string {
  const { names, fields, access, owner, softDelete, list, hasUsers, hasWebhooks } = definition;
  const named = (flag: FieldFlag): readonly string[] =>
    fields.filter(({ flags }) => flags.has(flag)).map(({ name }) => literal(name));
  const lists = [
    ["unique", named("unique")],
    ["indexes", named("index")],
    ["search", named("search")],
    ["sort", named("sort")],
    ["filter", named("filter")],
  ] as const;
  const accessItems = operations.map((operation) => `${operation}: ${literal(access[operation])}`);
  // Unless it is named, it is for admins, of whom there are none.
  if (softDelete && !hasUsers) accessItems.push('restore: "master"');
  const targets = fields.flatMap(({ target }) =>
    target === undefined ? [] : [namesOf(target).camel],
  );
  const options = [
    `name: ${literal(names.camel)},`,
    `path: ${literal(names.path)},`,
    schemaText(fields),
    listText(accessItems, { indent: 2, head: "access: ", brackets: ["{", "}"], tail: "," }),
    ...(owner === undefined ? [] : [`owner: ${literal(owner)},`]),
    ...lists.flatMap(([name, items]) =>
      items.length === 0 ? [] : [listText(items, { indent: 2, head: `${name}: `, tail: "," })],
    ),
    ...relationsText(fields, names.camel),
    ...(softDelete ? ["softDelete: true,"] : []),
    ...(hasWebhooks ? ['changes: "documents",'] : []),
    ...(list === "rows" ? ['list: { shape: "rows" },'] : []),
  ];
  const refersToItself = targets.includes(names.camel);
  const imports = [
    "defineResource",
    "type DocumentOf",
    ...(refersToItself ? ["type Resource"] : []),
  ];
  const others = [...new Set(targets)].filter((target) => target !== names.camel).toSorted();
  return `import { ${imports.join(", ")} } from "@fetchwork/rest";
import { z } from "zod";
${others.map((target) => `import { ${target} } from "../${namesOf(target).kebab}/model.ts";\n`).join("")}
${comment(definition)}
export const ${names.camel} = defineResource({
${options.map((option) => `  ${option}\n`).join("")}});

export type ${names.pascal} = DocumentOf<typeof ${names.camel}>;
`;
}

/** Writes the access rules as a sentence. */
function comment({ names, access, owner }: ResourceDefinition): string {
  const plural = names.plural.charAt(0).toUpperCase() + names.plural.slice(1);
  const who: Readonly<Record<RuleName, string>> = {
    public: "everyone",
    user: "users",
    owner: `the ${owner ?? "owner"} and admins`,
    admin: "admins",
    master: "the holder of the master key",
  };
  const parts = rules.flatMap((rule) => {
    const verbs = verbsOf(access, rule);
    return verbs.length === 0 ? [] : [`${who[rule]} may ${sentenceList(verbs)}`];
  });
  const line = `/** ${plural}: ${parts.join(", ")}. */`;
  if (line.length <= 100) return line;
  return `/**\n * ${plural}:\n${parts.map((part) => ` * - ${part}`).join("\n")}\n */`;
}

function verbsOf(access: AccessRules, rule: RuleName): readonly string[] {
  return operations.filter((operation) => access[operation] === rule);
}

function schemaText(fields: readonly Field[]): string {
  if (fields.length === 0) return "schema: z.object({}),";
  const lines = fields.map((field) => `    ${fieldLine(field)}\n`);
  return `schema: z.object({\n${lines.join("")}  }),`;
}

function fieldLine(field: Field): string {
  const line = `${field.name}: ${schemaOf(field)},`;
  if (line.length + 4 <= 100 || field.type !== "enum") return line;
  const [head = "", tail = ""] = schemaOf(field).split(/\[.*\]/s);
  return listText(field.values.map(literal), {
    indent: 4,
    head: `${field.name}: ${head}`,
    tail: `${tail},`,
  });
}

/** A document that a required reference points to is not deleted; an optional one becomes null. */
function relationsText(fields: readonly Field[], own: string): readonly string[] {
  const relations = fields.flatMap(({ name, target, presence }) => {
    if (target === undefined) return [];
    const { camel } = namesOf(target);
    // Its type would follow from itself.
    const to = camel === own ? `to: (): Resource => ${camel}` : `to: () => ${camel}`;
    return [`${name}: { ${to}${presence === "required" ? "" : ', onDelete: "nullify"'} }`];
  });
  if (relations.length === 0) return [];
  return [listText(relations, { indent: 2, head: "relations: ", brackets: ["{", "}"], tail: "," })];
}

/** The schema of a field, in zod. */
function schemaOf(field: Field): string {
  const base = field.isList
    ? `z.array(${baseOf(field, true)}).max(100)`
    : baseOf(field, field.presence === "required");
  if (field.presence === "required") return base;
  if (field.presence === "optional") return `${base}.optional()`;
  if (field.isList) return `${base}.default([])`;
  if (field.type === "boolean") return `${base}.default(false)`;
  if (field.type === "string" || field.type === "text") return `${base}.default("")`;
  return `${base}.optional()`;
}

function baseOf({ type, max = 200, values }: Field, isFilled: boolean): string {
  switch (type) {
    case "string":
    case "text":
      return `z.string().trim()${isFilled ? ".min(1)" : ""}.max(${numeral(max)})`;
    case "number":
      return "z.number()";
    case "integer":
      return "z.int()";
    case "boolean":
      return "z.boolean()";
    case "date":
      return "z.iso.date()";
    case "datetime":
      return "z.iso.datetime()";
    case "email":
      return "z.string().trim().max(254).check(z.email()).toLowerCase()";
    case "url":
      // Prettier breaks a chain of three calls, one of them with an object.
      return isFilled
        ? "z.url({ protocol: /^https?$/ }).max(2_000)"
        : "z\n      .url({ protocol: /^https?$/ })\n      .max(2_000)\n      ";
    case "enum":
      return `z.enum([${values.map(literal).join(", ")}])`;
    // The identifier of another document.
    default:
      return "z.string().min(1).max(64)";
  }
}
