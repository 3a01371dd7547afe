/** A node of a syntax tree, as far as it is looked at without knowing its kind. */
export interface AstNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly loc: { readonly start: { readonly line: number } };
  readonly [key: string]: unknown;
}

export function isNode(value: unknown): value is AstNode {
  return (
    typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
  );
}

/** The node in a field. */
export function nodeAt(node: AstNode | undefined, key: string): AstNode | undefined {
  const value = node?.[key];
  return isNode(value) ? value : undefined;
}

/** The nodes in a field that is a list; holes are left out. */
export function nodesAt(node: AstNode | undefined, key: string): readonly AstNode[] {
  const value = node?.[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** The text in a field. */
export function textAt(node: AstNode | undefined, key: string): string | undefined {
  const value = node?.[key];
  return typeof value === "string" ? value : undefined;
}

/** The name of an identifier, or the value of a string. */
export function nameOf(node: AstNode | undefined): string | undefined {
  if (node?.type === "Identifier" || node?.type === "JSXIdentifier") return textAt(node, "name");
  return node?.type === "StringLiteral" ? textAt(node, "value") : undefined;
}

/** The text of a string, or of a template without holes. */
export function literalOf(node: AstNode | undefined): string | undefined {
  if (node?.type === "StringLiteral") return textAt(node, "value");
  if (node?.type !== "TemplateLiteral") return undefined;
  const quasis = nodesAt(node, "quasis");
  return quasis.length === 1 ? cookedOf(quasis[0]) : undefined;
}

/** The text of one part of a template. */
export function cookedOf(quasi: AstNode | undefined): string {
  const value = quasi?.["value"];
  const isPart = typeof value === "object" && value !== null && "cooked" in value;
  return isPart && typeof value.cooked === "string" ? value.cooked : "";
}

export function lineOf(node: AstNode): number {
  return node.loc.start.line;
}

/** Calls `visit` for a node and all below it, outer nodes first, in the order of the source. */
export function walk(
  root: AstNode,
  visit: (node: AstNode, parent: AstNode | undefined) => void,
): void {
  // Two stacks in step: an object for each node would be most of the work.
  const nodes: AstNode[] = [root];
  const parents: (AstNode | undefined)[] = [undefined];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    visit(node, parents.pop());
    const begin = nodes.length;
    for (const key in node) {
      const value = node[key];
      if (typeof value !== "object" || value === null || isNoChild(key)) continue;
      // Not spread into `push`: what has 100,000 entries is more than a call takes.
      if (Array.isArray(value)) for (const one of value.filter(isNode)) nodes.push(one);
      else if (isNode(value)) nodes.push(value);
    }
    // The first one is visited first.
    for (const below of nodes.splice(begin).toReversed()) nodes.push(below);
    while (parents.length < nodes.length) parents.push(node);
  }
}

function isNoChild(key: string): boolean {
  return key === "loc" || key === "errors" || key === "extra" || key.endsWith("omments");
}

/** The names that a pattern binds: `{ a, b: [c] }` binds a and c. */
export function boundNames(pattern: AstNode | undefined): readonly string[] {
  switch (pattern?.type) {
    case "Identifier":
      return [textAt(pattern, "name") ?? ""];
    case "ObjectPattern":
      return nodesAt(pattern, "properties").flatMap((property) =>
        boundNames(nodeAt(property, property.type === "RestElement" ? "argument" : "value")),
      );
    case "ArrayPattern":
      return nodesAt(pattern, "elements").flatMap((element) => boundNames(element));
    case "AssignmentPattern":
      return boundNames(nodeAt(pattern, "left"));
    case "RestElement":
      return boundNames(nodeAt(pattern, "argument"));
    case "TSParameterProperty":
      return boundNames(nodeAt(pattern, "parameter"));
    default:
      return [];
  }
}
