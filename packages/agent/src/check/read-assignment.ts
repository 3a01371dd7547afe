import { lineOf, literalOf, nameOf, nodeAt, nodesAt, type AstNode } from "./ast.ts";
import type { ModuleCollector } from "./read-module.ts";

/** Whether a node is `require(...)`. */
export function isRequire(node: AstNode | undefined): boolean {
  return (
    node?.type === "CallExpression" &&
    nameOf(nodeAt(node, "callee")) === "require" &&
    nodeAt(node, "callee")?.type === "Identifier"
  );
}

/** Exports of CommonJS, globals, and names that are assigned without a declaration. */
export function readAssignment(
  node: AstNode,
  found: ModuleCollector,
  declare: (names: readonly string[]) => void,
): void {
  const left = nodeAt(node, "left");
  if (left?.type === "Identifier") return declare([nameOf(left) ?? ""]);
  if (left?.type !== "MemberExpression") return;
  const object = nodeAt(left, "object");
  const property = nameOf(nodeAt(left, "property"));
  const isPlain = left["computed"] !== true && property !== undefined;
  const owner = nameOf(object);
  // window.start = start makes a global.
  if ((owner === "window" || owner === "globalThis" || owner === "self") && isPlain) {
    if (!found.declared.has(property)) declare([property]);
    found.globals.add(property);
    return;
  }
  const ofModule = object?.type === "MemberExpression" && isModuleExports(object);
  if (isModuleExports(left)) {
    found.usesCjs ??= { name: "module.exports", line: lineOf(node) };
    readExportedValue(nodeAt(node, "right"), found);
  } else if (owner === "exports" || ofModule) {
    found.usesCjs ??= { name: "exports", line: lineOf(node) };
    if (isPlain) found.exports.add(property);
    else found.opaque = true;
  }
}

function isModuleExports(node: AstNode): boolean {
  return (
    nameOf(nodeAt(node, "object")) === "module" && nameOf(nodeAt(node, "property")) === "exports"
  );
}

function readExportedValue(value: AstNode | undefined, found: ModuleCollector): void {
  if (value?.type !== "ObjectExpression") {
    found.opaque = true;
    return;
  }
  for (const property of nodesAt(value, "properties")) {
    const spread = property.type === "SpreadElement" ? nodeAt(property, "argument") : undefined;
    const specifier = isRequire(spread) ? literalOf(nodesAt(spread, "arguments")[0]) : undefined;
    const name = nameOf(nodeAt(property, "key"));
    if (specifier !== undefined) found.stars.push(specifier);
    else if (spread !== undefined || property["computed"] === true || name === undefined) {
      found.opaque = true;
    } else found.exports.add(name);
  }
}
