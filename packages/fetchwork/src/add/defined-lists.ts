import { parse } from "@babel/parser";

type Constants = ReadonlyMap<string, unknown>;

/** Methods of the list of a resource. */
const listMethods: ReadonlySet<unknown> = new Set(["GET", "POST"]);

/** What a definition puts at the path of a list. */
interface DefinedList {
  readonly path: string | undefined;
  /** Name of the resource; none for a route of one's own. */
  readonly name: string | undefined;
}

/**
 * Finds the definitions of a module that put something at the path of a list: those of `defineResource`, and the GET and
 * POST of `defineRoute`. It recognizes them by their options, whatever the functions are called. A string counts when it
 * can be computed from the module: in any quotes, concatenated, or in a constant.
 */
export function definedLists(source: string): readonly DefinedList[] {
  const lists: DefinedList[] = [];
  const program = programOf(source);
  const constants = constantsIn(program);
  for (const node of nodesIn(program)) {
    if (node["type"] !== "ObjectExpression") continue;
    const members = membersOf(node);
    const [path, name, method] = ["path", "name", "method"].map((member) =>
      textOf(members.get(member), constants),
    );
    if (members.has("method")) {
      if (listMethods.has(method)) lists.push({ path, name: undefined });
    } else if (members.has("schema") && members.has("path")) lists.push({ path, name });
  }
  return lists;
}

/** A module with a syntax error defines nothing; the project reports it at start. */
function programOf(source: string): unknown {
  try {
    return parse(source, { sourceType: "module", plugins: ["typescript"] }).program;
  } catch {
    return undefined;
  }
}

type Node = Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

/** The nodes of a tree, without recursion: nothing that a text nests overflows the stack. */
function nodesIn(root: unknown): readonly Node[] {
  const waiting: unknown[] = [root];
  const found: Node[] = [];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (isNode(next)) found.push(next);
    const members: readonly unknown[] = typeof next === "object" ? Object.values(next ?? {}) : [];
    waiting.push(...members.toReversed());
  }
  return found;
}

function constantsIn(program: unknown): Constants {
  const constants = new Map<string, unknown>();
  for (const node of nodesIn(program)) {
    if (node["type"] !== "VariableDeclaration" || node["kind"] !== "const") continue;
    for (const { id, init } of [node["declarations"]].flat().filter(isNode)) {
      if (isNode(id) && typeof id["name"] === "string") constants.set(id["name"], init);
    }
  }
  return constants;
}

function membersOf({ properties }: Node): ReadonlyMap<unknown, unknown> {
  const members = new Map<unknown, unknown>();
  for (const property of [properties].flat()) {
    if (!isNode(property) || property["type"] !== "ObjectProperty") continue;
    const { key, value, computed } = property;
    if (isNode(key) && computed !== true) members.set(key["name"] ?? key["value"], value);
  }
  return members;
}

/** What an expression is, where that is a text and follows from the module alone. */
function textOf(expression: unknown, constants: Constants): string | undefined {
  if (!isNode(expression)) return undefined;
  switch (expression["type"]) {
    case "StringLiteral":
      return String(expression["value"]);
    case "TemplateLiteral":
      return templateOf(expression, constants);
    case "BinaryExpression": {
      const left = textOf(expression["left"], constants);
      const right = textOf(expression["right"], constants);
      const isJoined = expression["operator"] === "+" && left !== undefined && right !== undefined;
      return isJoined ? left + right : undefined;
    }
    case "TSAsExpression":
    case "TSSatisfiesExpression":
      return textOf(expression["expression"], constants);
    case "Identifier": {
      const name = String(expression["name"]);
      // Without it here, a constant that is made of itself would have no end.
      const others = new Map([...constants].filter(([other]) => other !== name));
      return textOf(constants.get(name), others);
    }
    default:
      return undefined;
  }
}

function templateOf(template: Node, constants: Constants): string | undefined {
  const holes = [template["expressions"]].flat().map((hole) => textOf(hole, constants));
  if (holes.includes(undefined)) return undefined;
  const quasis = [template["quasis"]].flat().map((quasi) => {
    const value = isNode(quasi) ? quasi["value"] : undefined;
    return String(Reflect.get(Object(value), "cooked"));
  });
  return quasis.map((quasi, index) => `${quasi}${holes[index] ?? ""}`).join("");
}
