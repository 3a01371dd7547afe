import { parse } from "@babel/parser";
import { default as MagicString } from "magic-string";

/** What {@link registerResource} writes into `src/api/index.ts`. */
export interface Registration {
  /** Name of the folder below `src/api`: `blog-post`. */
  readonly folder: string;
  /** Name of the definition that the folder's `model.ts` exports: `blogPost`. */
  readonly definition: string;
  /** Name of the list that the folder's `index.ts` exports: `blogPostRoutes`. */
  readonly routes: string;
}

type Statement = ReturnType<typeof parse>["program"]["body"][number];
type ImportDeclaration = Extract<Statement, { readonly type: "ImportDeclaration" }>;
type VariableDeclaration = Extract<Statement, { readonly type: "VariableDeclaration" }>;
type Expression = NonNullable<VariableDeclaration["declarations"][number]["init"]>;
type ArrayExpression = Extract<Expression, { readonly type: "ArrayExpression" }>;

/** Widest line that is written. */
const width = 100;

/**
 * Adds a resource to the module that lists resources and routes: two imports, and an element of the arrays `resources`
 * and `routes`. Only these parts of the text change; existing entries are not added again.
 *
 * @throws Error when the module does not parse, or has no such array.
 */
export function registerResource(source: string, registration: Registration): string {
  const { folder, definition, routes } = registration;
  const { program } = parse(source, { sourceType: "module", plugins: ["typescript"] });
  const text = new MagicString(source);
  const imports = program.body.filter((statement) => statement.type === "ImportDeclaration");
  const wanted = [
    { from: `./${folder}/index.ts`, name: routes },
    { from: `./${folder}/model.ts`, name: definition },
  ].filter(({ from, name }) => !isImported(imports, { from, name }));
  const taken = wanted.find(({ name }) => isDeclared(program.body, name));
  if (taken !== undefined) throw new Error(`it already declares ${taken.name}`);
  addImports(text, imports, wanted);
  addElement(text, arrayOf(program.body, "resources"), definition);
  addElement(text, arrayOf(program.body, "routes"), `...${routes}`);
  return text.toString();
}

interface WantedImport {
  readonly from: string;
  readonly name: string;
}

function isImported(imports: readonly ImportDeclaration[], { from, name }: WantedImport): boolean {
  return imports.some(
    ({ source, specifiers }) =>
      source.value === from && specifiers.some(({ local }) => local.name === name),
  );
}

function isDeclared(body: readonly Statement[], name: string): boolean {
  return body.some((statement) => {
    if (statement.type === "ImportDeclaration") {
      return statement.specifiers.some(({ local }) => local.name === name);
    }
    const declaration =
      statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declaration?.type === "VariableDeclaration") {
      return declaration.declarations.some(
        ({ id }) => id.type === "Identifier" && id.name === name,
      );
    }
    return declaration?.type === "FunctionDeclaration" && declaration.id?.name === name;
  });
}

/** Inserts each import in alphabetical order of paths if the imports are sorted, otherwise after the last one. */
function addImports(
  text: MagicString,
  imports: readonly ImportDeclaration[],
  wanted: readonly WantedImport[],
): void {
  const own = imports.filter(({ source }) => source.value.startsWith("."));
  const paths = own.map(({ source }) => source.value);
  const isOrdered = paths.every((path, index) => index === 0 || (paths[index - 1] ?? "") <= path);
  for (const { from, name } of wanted) {
    const line = `import { ${name} } from "${from}";`;
    const next = isOrdered ? own.find(({ source }) => source.value > from) : undefined;
    const last = imports.at(-1);
    if (next) text.appendLeft(next.start ?? 0, `${line}\n`);
    else if (last) text.appendLeft(endOfLine(text.original, last.end ?? 0), `\n${line}`);
    else text.prepend(`${line}\n`);
  }
}

function endOfLine(source: string, position: number): number {
  const end = source.indexOf("\n", position);
  return end === -1 ? source.length : end;
}

function arrayOf(body: readonly Statement[], name: string): ArrayExpression {
  for (const statement of body) {
    if (statement.type !== "ExportNamedDeclaration") continue;
    const { declaration } = statement;
    if (declaration?.type !== "VariableDeclaration") continue;
    for (const { id, init } of declaration.declarations) {
      if (id.type !== "Identifier" || id.name !== name || !init) continue;
      const value = withoutTypes(init);
      if (value.type === "ArrayExpression") return value;
    }
  }
  throw new Error(`it does not export an array ${name}`);
}

function withoutTypes(expression: Expression): Expression {
  const isTyped =
    expression.type === "TSAsExpression" || expression.type === "TSSatisfiesExpression";
  return isTyped ? withoutTypes(expression.expression) : expression;
}

/** Appends an element in the array's existing layout. */
function addElement(text: MagicString, array: ArrayExpression, element: string): void {
  const source = text.original;
  const elements = array.elements.filter((one) => one !== null);
  const texts = elements.map(({ start, end }) => source.slice(start ?? 0, end ?? 0));
  if (texts.includes(element)) return;
  const open = array.start ?? 0;
  const close = (array.end ?? 0) - 1;
  const last = elements.at(-1);
  const lineStart = source.lastIndexOf("\n", open) + 1;
  const indent = /^\s*/.exec(source.slice(lineStart, open))?.[0] ?? "";
  if (!last) {
    text.appendLeft(close, element);
    return;
  }
  const isBroken = source.slice(open, last.start ?? 0).includes("\n");
  if (isBroken) {
    const start = last.start ?? 0;
    const pad = /^\s*/.exec(source.slice(source.lastIndexOf("\n", start) + 1, start))?.[0] ?? "";
    const rest = source.slice(last.end ?? 0, close);
    const comma = /^\s*,/.exec(rest)?.[0];
    const at = (last.end ?? 0) + (comma?.length ?? 0);
    if (comma === undefined) text.appendLeft(last.end ?? 0, ",");
    // A comment after the last element stays with it.
    text.appendLeft(Math.min(endOfLine(source, at), close), `\n${pad}${element},`);
    return;
  }
  const lineLength = endOfLine(source, close) - lineStart + element.length + 2;
  const hasComment = source.slice(open, close).includes("/*");
  if (lineLength <= width || hasComment) {
    text.appendLeft(last.end ?? 0, `, ${element}`);
    return;
  }
  const lines = [...texts, element].map((one) => `${indent}  ${one},\n`).join("");
  text.update(open, close + 1, `[\n${lines}${indent}]`);
}
