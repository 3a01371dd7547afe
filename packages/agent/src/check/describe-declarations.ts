import { isNode, nodeAt, nodesAt, textAt, type AstNode } from "./ast.ts";
import { isScript, loadScriptParser } from "./parse-script.ts";
import { loadPageReader } from "./read-page.ts";
import { readStyle } from "./read-style.ts";

/**
 * Declarations of a file for others, taken from its source: of scripts the exports with parameters
 * and without bodies, of pages ids and classes, of styles classes and properties. Other files are
 * cut at `limit` characters.
 */
export async function describeDeclarations(
  path: string,
  source: string,
  limit = 8_000,
): Promise<string> {
  return (await declarationsOf(path, source)).slice(0, limit);
}

async function declarationsOf(path: string, source: string): Promise<string> {
  if (isScript(path)) {
    const { program } = (await loadScriptParser())(path, source);
    if (program === undefined) return source;
    return nodesAt(program, "body")
      .flatMap((statement) => describeStatement(statement, source))
      .join("\n");
  }
  if (/\.html?$/i.test(path)) {
    const { ids, classes } = (await loadPageReader())(source);
    return `ids: ${ids.map(({ text }) => text).join(" ")}\nclasses: ${[...classes].join(" ")}`;
  }
  if (/\.css$/i.test(path)) {
    const { classes, ids, variablesSet } = readStyle(source);
    return `classes: ${[...classes].join(" ")}\nids: ${[...ids].join(" ")}\nproperties: ${[...variablesSet].join(" ")}`;
  }
  return source;
}

function describeStatement(node: AstNode, source: string): readonly string[] {
  const text = (from: number, to: number): string => source.slice(from, to).trim();
  switch (node.type) {
    case "ImportDeclaration":
      return [];
    case "ExportNamedDeclaration":
    case "ExportDefaultDeclaration": {
      const inner = nodeAt(node, "declaration");
      if (inner === undefined) return [text(node.start, node.end)];
      const described = describeStatement(inner, source);
      return described.map((line) => `${text(node.start, inner.start)} ${line}`);
    }
    case "FunctionDeclaration":
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      return [text(node.start, nodeAt(node, "body")?.start ?? node.end)];
    case "ClassDeclaration":
    case "ClassExpression": {
      const body = nodeAt(node, "body");
      const members = nodesAt(body, "body").flatMap((member) => {
        if (
          member.type.startsWith("ClassPrivate") ||
          textAt(member, "accessibility") === "private"
        ) {
          return [];
        }
        const end = nodeAt(member, "body")?.start ?? nodeAt(member, "value")?.start ?? member.end;
        return [`  ${text(member.start, end)}`];
      });
      return [`${text(node.start, body?.start ?? node.end)} {\n${members.join("\n")}\n}`];
    }
    case "VariableDeclaration":
      return nodesAt(node, "declarations").map((part) => describeVariable(part, node, source));
    case "ExpressionStatement": {
      const inner = nodeAt(node, "expression");
      const isExport =
        inner?.type === "AssignmentExpression" &&
        /^(?:module\.)?exports\b/.test(source.slice(inner.start, inner.start + 20));
      return isExport && isNode(inner)
        ? [text(node.start, Math.min(node.end, node.start + 400))]
        : [];
    }
    default:
      return node.type.startsWith("TS") || node.type.startsWith("Export")
        ? [text(node.start, node.end)]
        : [];
  }
}

function describeVariable(part: AstNode, whole: AstNode, source: string): string {
  const value = nodeAt(part, "init");
  const kind = textAt(whole, "kind") ?? "const";
  const name = source.slice(part.start, value?.start ?? part.end);
  if (value === undefined) return `${kind} ${name}`;
  const body = /Function/.test(value.type) ? nodeAt(value, "body") : undefined;
  const end = body?.start ?? Math.min(value.end, value.start + 200);
  return `${kind} ${name}${source.slice(value.start, end).trim()}`;
}
