import { isNode, nameOf, nodeAt, nodesAt, textAt, type AstNode } from "./ast.ts";

/**
 * Whether a function certainly throws when a parameter is undefined: a field of it is read, it is called, gone through or
 * taken apart, before anything else can decide, return or give it a value.
 */
export function breaksWithout(body: AstNode | undefined, name: string): boolean {
  if (body === undefined || name === "") return false;
  if (body.type !== "BlockStatement") return outcomeOf(body, name) === "breaks";
  for (const statement of nodesAt(body, "body")) {
    const first = alwaysRun(statement);
    for (const part of first.parts) {
      const outcome = outcomeOf(part, name);
      if (outcome !== "goes on") return outcome === "breaks";
    }
    if (first.part === "begin") return false;
  }
  return false;
}

type Outcome = "breaks" | "decides" | "goes on";

/** What of a statement is run in any case; `begin`: what follows may not be. */
function alwaysRun(statement: AstNode): {
  readonly parts: readonly AstNode[];
  readonly part: "all" | "begin";
} {
  const of = (...keys: readonly string[]): readonly AstNode[] =>
    keys.flatMap((key) => nodeAt(statement, key) ?? []);
  switch (statement.type) {
    case "ExpressionStatement":
      return { parts: of("expression"), part: "all" };
    case "VariableDeclaration":
      return { parts: nodesAt(statement, "declarations"), part: "all" };
    case "FunctionDeclaration":
    case "EmptyStatement":
      return { parts: [], part: "all" };
    case "ReturnStatement":
    case "ThrowStatement":
      return { parts: of("argument"), part: "begin" };
    case "IfStatement":
    case "WhileStatement":
      return { parts: of("test"), part: "begin" };
    case "SwitchStatement":
      return { parts: of("discriminant"), part: "begin" };
    case "ForOfStatement":
      return { parts: [statement], part: "begin" };
    default:
      return { parts: [], part: "begin" };
  }
}

/** What becomes of an expression while it is worked out, from the left to the right. */
function outcomeOf(node: AstNode, name: string): Outcome {
  switch (node.type) {
    case "FunctionExpression":
    case "ArrowFunctionExpression":
    case "ClassExpression":
      return "goes on";
    case "MemberExpression":
    case "ForOfStatement":
      return ofRead(node, name);
    case "CallExpression": {
      const callee = nodeAt(node, "callee");
      const before = inOrder([callee, ...nodesAt(node, "arguments")], name);
      return before === "goes on" && isNamed(callee, name) ? "breaks" : before;
    }
    case "VariableDeclarator": {
      const isTaken = nodeAt(node, "id")?.type === "ObjectPattern";
      const value = nodeAt(node, "init");
      return isTaken && isNamed(value, name) ? "breaks" : inOrder([value], name);
    }
    case "AssignmentExpression": {
      // What gives it a value decides.
      const left = nodeAt(node, "left");
      return isNamed(left, name) ? "decides" : inOrder([left, nodeAt(node, "right")], name);
    }
    case "LogicalExpression":
    case "ConditionalExpression":
    case "OptionalMemberExpression":
    case "OptionalCallExpression":
    case "UnaryExpression":
    case "BinaryExpression":
      return ofQuestion(node, name);
    default:
      return inOrder(childrenOf(node), name);
  }
}

function inOrder(parts: readonly (AstNode | undefined)[], name: string): Outcome {
  for (const part of parts) {
    const outcome = part === undefined ? "goes on" : outcomeOf(part, name);
    if (outcome !== "goes on") return outcome;
  }
  return "goes on";
}

/** A field that is read, or a list that is gone through. */
function ofRead(node: AstNode, name: string): Outcome {
  const object = nodeAt(node, node.type === "MemberExpression" ? "object" : "right");
  if (isNamed(object, name)) return "breaks";
  const key = node["computed"] === true ? nodeAt(node, "property") : undefined;
  return inOrder([object, key], name);
}

/** What may ask whether it has a value: `a && a.b`, `a ? a.b : c`, `a?.b`, `!a`, `a === undefined`. */
function ofQuestion(node: AstNode, name: string): Outcome {
  const isChoice = node.type === "LogicalExpression" || node.type === "ConditionalExpression";
  const parts = isChoice
    ? [nodeAt(node, node.type === "LogicalExpression" ? "left" : "test")]
    : node.type.startsWith("Optional")
      ? []
      : childrenOf(node);
  const outcome = inOrder(parts, name);
  if (outcome !== "goes on") return outcome;
  const asks = /^(?:Unary|Binary)/.test(node.type)
    ? parts.some((part) => isNamed(part, name))
    : mentions(node, name);
  return asks ? "decides" : "goes on";
}

function isNamed(node: AstNode | undefined, name: string): boolean {
  return node?.type === "Identifier" && nameOf(node) === name;
}

function mentions(node: AstNode, name: string): boolean {
  return isNamed(node, name) || childrenOf(node).some((child) => mentions(child, name));
}

/** What is below an expression, in the order of the source. */
function childrenOf(node: AstNode): readonly AstNode[] {
  const found: AstNode[] = [];
  for (const [key, value] of Object.entries(node)) {
    if (key === "loc" || key === "typeAnnotation" || key === "typeParameters") continue;
    if (key === "key" && textAt(node, "type") === "ObjectProperty") continue;
    if (isNode(value)) found.push(value);
    else if (Array.isArray(value)) for (const one of value.filter(isNode)) found.push(one);
  }
  return found;
}
