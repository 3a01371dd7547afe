import { parse } from "@babel/parser";
import { UsageError } from "../usage-error.ts";

/** What of a definition the written-out handlers depend on. */
export interface EjectedDefinition {
  /** Field of the creator. */
  readonly owner: string | undefined;
  readonly list: "array" | "rows";
  /** Whether removed documents are kept. */
  readonly softDelete: boolean;
}

type Statement = ReturnType<typeof parse>["program"]["body"][number];
type VariableDeclaration = Extract<Statement, { readonly type: "VariableDeclaration" }>;
type Expression = NonNullable<VariableDeclaration["declarations"][number]["init"]>;
type ObjectExpression = Extract<Expression, { readonly type: "ObjectExpression" }>;

/** Options of a definition that routes and validation see to, whoever has written the handlers. */
const plain: ReadonlySet<string> = new Set([
  "name",
  "path",
  "schema",
  "access",
  "owner",
  "view",
  "search",
  "sort",
  "unique",
  "indexes",
  "filter",
  "list",
  "softDelete",
]);

/**
 * Reads the definition that a `model.ts` exports under a name.
 *
 * @throws UsageError when it is none, or has an option that the written-out handlers would pass over.
 */
export function readDefinition(source: string, name: string): EjectedDefinition {
  const options = optionsOf(source, name);
  const values = new Map<string, Expression>();
  for (const property of options.properties) {
    if (property.type !== "ObjectProperty" || property.key.type !== "Identifier") {
      throw new UsageError("its definition has an option that cannot be read");
    }
    values.set(property.key.name, property.value as Expression); // A pattern stands in no expression.
  }
  const stray = [...values.keys()].find((key) => !plain.has(key));
  if (stray !== undefined) {
    throw new UsageError(`its definition has ${stray}, which handlers that are written out lack`);
  }
  const owner = values.get("owner");
  if (owner !== undefined && owner.type !== "StringLiteral") {
    throw new UsageError("the owner of its definition is not written as a text");
  }
  checkAccess(values.get("access"));
  const softDelete = values.get("softDelete");
  if (softDelete !== undefined && softDelete.type !== "BooleanLiteral") {
    throw new UsageError("the softDelete of its definition is neither true nor false");
  }
  return {
    owner: owner?.value,
    list: listShape(values.get("list")),
    softDelete: softDelete?.value ?? false,
  };
}

/** Rules that are functions are asked again when a document has changed meanwhile, which only our handlers do. */
function checkAccess(access: Expression | undefined): void {
  const rules = access?.type === "ObjectExpression" ? access.properties : [undefined];
  const areWords = rules.every(
    (rule) => rule?.type === "ObjectProperty" && rule.value.type === "StringLiteral",
  );
  if (!areWords) {
    throw new UsageError(
      "the access rules of its definition are not all words, and handlers lack what others need",
    );
  }
}

function optionsOf(source: string, name: string): ObjectExpression {
  const { program } = parse(source, { sourceType: "module", plugins: ["typescript"] });
  for (const statement of program.body) {
    if (statement.type !== "ExportNamedDeclaration") continue;
    const { declaration } = statement;
    if (declaration?.type !== "VariableDeclaration") continue;
    for (const { id, init } of declaration.declarations) {
      if (id.type !== "Identifier" || id.name !== name || init?.type !== "CallExpression") continue;
      const [options] = init.arguments;
      const isDefinition =
        init.callee.type === "Identifier" && init.callee.name === "defineResource";
      if (isDefinition && options?.type === "ObjectExpression") return options;
    }
  }
  throw new UsageError(`its model.ts exports no ${name} that defineResource makes`);
}

function listShape(list: Expression | undefined): EjectedDefinition["list"] {
  if (list === undefined) return "array";
  const [shape, ...others] = list.type === "ObjectExpression" ? list.properties : [];
  if (
    others.length === 0 &&
    shape?.type === "ObjectProperty" &&
    shape.key.type === "Identifier" &&
    shape.key.name === "shape" &&
    shape.value.type === "StringLiteral" &&
    (shape.value.value === "rows" || shape.value.value === "array")
  ) {
    return shape.value.value;
  }
  throw new UsageError("its definition has a list with more than a shape, which handlers lack");
}
