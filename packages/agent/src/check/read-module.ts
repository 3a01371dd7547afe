import {
  boundNames,
  isNode,
  lineOf,
  literalOf,
  nameOf,
  nodeAt,
  nodesAt,
  textAt,
  walk,
  type AstNode,
} from "./ast.ts";
import { isRequire, readAssignment } from "./read-assignment.ts";
import type { CallFact, ImportFact, WantedName } from "./module-facts.ts";

/** Facts about a module, for other files. */
export type ModuleFacts = Readonly<ModuleCollector>;

/** Facts found so far while a module is read. */
export class ModuleCollector {
  imports: ImportFact[] = [];
  /** Exported names. */
  exports: Set<string> = new Set();
  /** Specifiers of `export * from`. */
  stars: string[] = [];
  /** Every name that is declared somewhere in it, and how often. */
  declared: Map<string, number> = new Map();
  /** Names that are declared at its top. */
  topLevel: Set<string> = new Set();
  /** Names that are made global: `window.start = start`. */
  globals: Set<string> = new Set();
  /** Names that are taken of whole modules, by the local name of the module. */
  namespaces: Map<string, WantedName[]> = new Map();
  calls: CallFact[] = [];
  /** Whether the module exports something that cannot be listed. */
  opaque = false;
  usesEsm = false;
  usesCjs: WantedName | undefined = undefined;
}

/** Reads what a parsed script imports, exports, declares and calls. */
export function readModule(program: AstNode): ModuleFacts {
  const found = new ModuleCollector();
  for (const statement of nodesAt(program, "body")) readStatement(statement, found);
  walk(program, (node, parent) => readNode(node, parent, found));
  walk(program, (node, parent) => readMemberUse(node, parent, found));
  return found;
}

function readStatement(node: AstNode, found: ModuleCollector): void {
  if (node.type === "ImportDeclaration") return readImport(node, found);
  if (node.type === "ExportAllDeclaration") return readStar(node, found);
  if (node.type === "ExportDefaultDeclaration") {
    found.usesEsm = true;
    const declaration = nodeAt(node, "declaration");
    found.exports.add("default");
    if (declaration !== undefined) declareTop(declaration, found);
    return;
  }
  if (node.type === "ExportNamedDeclaration") return readExport(node, found);
  if (node.type === "TSExportAssignment") {
    found.opaque = true;
    return;
  }
  declareTop(node, found);
}

function readImport(node: AstNode, found: ModuleCollector): void {
  found.usesEsm = true;
  const specifier = literalOf(nodeAt(node, "source")) ?? "";
  const names: WantedName[] = [];
  const typeOnly = textAt(node, "importKind") === "type";
  for (const part of nodesAt(node, "specifiers")) {
    const local = nameOf(nodeAt(part, "local")) ?? "";
    if (part.type === "ImportNamespaceSpecifier") {
      found.namespaces.set(local, names);
      continue;
    }
    const name =
      part.type === "ImportDefaultSpecifier"
        ? "default"
        : (nameOf(nodeAt(part, "imported")) ?? local);
    names.push({ name, line: lineOf(part) });
  }
  found.imports.push({ specifier, line: lineOf(node), how: "import", typeOnly, names });
}

function readStar(node: AstNode, found: ModuleCollector): void {
  found.usesEsm = true;
  const specifier = literalOf(nodeAt(node, "source")) ?? "";
  const exported = nameOf(nodeAt(node, "exported"));
  if (exported === undefined) found.stars.push(specifier);
  else found.exports.add(exported);
  found.imports.push({ specifier, line: lineOf(node), how: "import", typeOnly: false, names: [] });
}

function readExport(node: AstNode, found: ModuleCollector): void {
  found.usesEsm = true;
  const declaration = nodeAt(node, "declaration");
  if (declaration !== undefined) {
    for (const name of declareTop(declaration, found)) found.exports.add(name);
    return;
  }
  const specifier = literalOf(nodeAt(node, "source"));
  const names: WantedName[] = [];
  for (const part of nodesAt(node, "specifiers")) {
    const local = nameOf(nodeAt(part, "local"));
    const exported = nameOf(nodeAt(part, "exported")) ?? local ?? "";
    const isNamespace = part.type === "ExportNamespaceSpecifier";
    found.exports.add(exported);
    if (specifier !== undefined && local !== undefined && !isNamespace) {
      names.push({ name: local, line: lineOf(part) });
    }
  }
  if (specifier === undefined) return;
  const typeOnly = textAt(node, "exportKind") === "type";
  found.imports.push({ specifier, line: lineOf(node), how: "import", typeOnly, names });
}

/** Notes what a statement at the top declares; returns its names. */
function declareTop(node: AstNode, found: ModuleCollector): readonly string[] {
  const name = nameOf(nodeAt(node, "id"));
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
    case "TSDeclareFunction":
    case "ClassDeclaration":
    case "ClassExpression":
    case "TSEnumDeclaration":
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
    case "TSModuleDeclaration":
    case "TSImportEqualsDeclaration":
      if (name !== undefined) found.topLevel.add(name);
      return name === undefined ? [] : [name];
    case "VariableDeclaration":
      return nodesAt(node, "declarations").flatMap((part) => {
        const names = boundNames(nodeAt(part, "id"));
        for (const one of names) found.topLevel.add(one);
        return names;
      });
    default:
      return [];
  }
}

function readNode(node: AstNode, parent: AstNode | undefined, found: ModuleCollector): void {
  const declare = (names: readonly string[]): void => {
    for (const name of names) found.declared.set(name, (found.declared.get(name) ?? 0) + 1);
  };
  switch (node.type) {
    case "VariableDeclarator":
      declare(boundNames(nodeAt(node, "id")));
      readRequire(node, found);
      return;
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
    case "ObjectMethod":
    case "ClassMethod":
    case "ClassPrivateMethod":
    case "TSDeclareFunction":
      declare(boundNames(nodeAt(node, "id")));
      declare(nodesAt(node, "params").flatMap((parameter) => boundNames(parameter)));
      return;
    case "ClassDeclaration":
    case "ClassExpression":
    case "TSEnumDeclaration":
    case "TSModuleDeclaration":
    case "TSImportEqualsDeclaration":
      return declare(boundNames(nodeAt(node, "id")));
    case "ImportSpecifier":
    case "ImportDefaultSpecifier":
    case "ImportNamespaceSpecifier":
      return declare(boundNames(nodeAt(node, "local")));
    case "CatchClause":
      return declare(boundNames(nodeAt(node, "param")));
    case "AssignmentExpression":
      return readAssignment(node, found, declare);
    case "ImportExpression":
      return readDynamic(node, nodeAt(node, "source"), "dynamic", found);
    case "CallExpression":
    case "OptionalCallExpression":
    case "NewExpression":
      return readCall(node, parent, found);
    default:
  }
}

/** `const a = require("a")`, `const { b } = require("b")`, `const c = await import("c")`. */
function readRequire(node: AstNode, found: ModuleCollector): void {
  const value = nodeAt(node, "init");
  const call = value?.type === "AwaitExpression" ? nodeAt(value, "argument") : value;
  const isDynamic = call?.type === "ImportExpression";
  if (!isDynamic && !isRequire(call)) return;
  const specifier = literalOf(isDynamic ? nodeAt(call, "source") : nodesAt(call, "arguments")[0]);
  if (specifier === undefined || (isDynamic && value === call)) return;
  const names: WantedName[] = [];
  const target = nodeAt(node, "id");
  if (target?.type === "Identifier") {
    const local = nameOf(target) ?? "";
    found.namespaces.set(local, names);
  }
  for (const property of nodesAt(target, "properties")) {
    const name = nameOf(nodeAt(property, "key"));
    if (property.type === "RestElement" || property["computed"] === true || name === undefined)
      continue;
    names.push({ name, line: lineOf(property) });
  }
  const how = isDynamic ? "dynamic" : "require";
  found.imports.push({ specifier, line: lineOf(node), how, typeOnly: false, names });
}

function readDynamic(
  node: AstNode,
  source: AstNode | undefined,
  how: ImportFact["how"],
  found: ModuleCollector,
): void {
  const specifier = literalOf(source);
  if (specifier === undefined) return;
  found.imports.push({ specifier, line: lineOf(node), how, typeOnly: false, names: [] });
}

function readCall(node: AstNode, parent: AstNode | undefined, found: ModuleCollector): void {
  const callee = nodeAt(node, "callee");
  const values = nodesAt(node, "arguments");
  const isNew = node.type === "NewExpression";
  const line = lineOf(node);
  if (isRequire(node) && parent?.type !== "VariableDeclarator") {
    readDynamic(node, values[0], "require", found);
    if (parent?.type === "MemberExpression") {
      const name = nameOf(nodeAt(parent, "property"));
      if (parent["computed"] !== true && name !== undefined)
        found.imports.at(-1)?.names.push({ name, line });
    }
  }
  if (isNew && nameOf(callee) === "URL" && isImportMetaUrl(values[1])) {
    readDynamic(node, values[0], "url", found);
  }
  if (callee?.type === "Identifier") found.calls.push({ name: nameOf(callee) ?? "", isNew, line });
}

function isImportMetaUrl(node: AstNode | undefined): boolean {
  return node?.type === "MemberExpression" && nodeAt(node, "object")?.type === "MetaProperty";
}

/** `ns.name`, where `ns` is a whole module. */
function readMemberUse(node: AstNode, parent: AstNode | undefined, found: ModuleCollector): void {
  if (node.type !== "MemberExpression" || node["computed"] === true) return;
  const local = nameOf(nodeAt(node, "object"));
  if (local === undefined || nodeAt(node, "object")?.type !== "Identifier") return;
  const namespace = found.namespaces.get(local);
  const name = nameOf(nodeAt(node, "property"));
  if (namespace === undefined || name === undefined || found.declared.get(local) !== 1) return;
  const isWritten =
    parent?.type === "AssignmentExpression" && isNode(parent["left"]) && parent["left"] === node;
  if (!isWritten) namespace.push({ name, line: lineOf(node) });
}
