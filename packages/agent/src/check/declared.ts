import { boundNames, lineOf, nameOf, nodeAt, nodesAt, textAt, walk, type AstNode } from "./ast.ts";
import { breaksWithout } from "./breaks-without.ts";
import type { Arity, Declared, SelfCall } from "./module-facts.ts";

/**
 * A parameter that is taken apart without a default needs a value, and so does one of which a field is read before anything
 * else can happen; other parameters of JavaScript may be left out.
 */
export function arityOf(node: AstNode): Arity {
  const parameters = nodesAt(node, "params").filter((parameter) => nameOf(parameter) !== "this");
  const takesAll = parameters.some(({ type }) => type === "RestElement") || usesArguments(node);
  const needed = parameters.findLastIndex((parameter) => {
    if (parameter.type === "ObjectPattern" || parameter.type === "ArrayPattern") return true;
    const typed = nodeAt(parameter, "typeAnnotation");
    if (typed === undefined && parameter.type === "Identifier") {
      return breaksWithout(nodeAt(node, "body"), nameOf(parameter) ?? "");
    }
    return (
      parameter.type === "Identifier" &&
      typed !== undefined &&
      parameter["optional"] !== true &&
      !mayBeMissing(typed)
    );
  });
  return { least: needed + 1, most: takesAll ? Infinity : parameters.length };
}

function mayBeMissing(annotation: AstNode): boolean {
  let may = false;
  walk(annotation, ({ type }) => {
    may ||= /^TS(?:Undefined|Void|Any|Unknown)Keyword$/.test(type) || type === "TSTypeReference";
  });
  return may;
}

function usesArguments(node: AstNode): boolean {
  const body = nodeAt(node, "body");
  let uses = false;
  if (body !== undefined) {
    walk(body, (inner) => {
      uses ||= inner.type === "Identifier" && textAt(inner, "name") === "arguments";
    });
  }
  return uses;
}

/** A class; its members are unknown when it extends another, or names some by computing. */
export function readClass(node: AstNode): Declared {
  const members = new Set<string>();
  const methods = new Map<string, Arity>();
  let known = nodeAt(node, "superClass") === undefined;
  let arity: Arity = { least: 0, most: 0 };
  for (const member of nodesAt(nodeAt(node, "body"), "body")) {
    const name = nameOf(nodeAt(member, "key"));
    if (member.type === "TSIndexSignature" || (member["computed"] === true && name === undefined)) {
      known = false;
    }
    if (name === undefined || member["static"] === true) continue;
    if (textAt(member, "kind") === "constructor") {
      arity = arityOf(member);
      const own = nodesAt(member, "params").filter(({ type }) => type === "TSParameterProperty");
      for (const one of own.flatMap((parameter) => boundNames(parameter))) members.add(one);
      continue;
    }
    members.add(name);
    if (textAt(member, "kind") === "method") methods.set(name, arityOf(member));
  }
  const selfCalls: SelfCall[] = [];
  walk(node, (inner, parent) => {
    const self = selfCallOf(inner, parent);
    if (self !== undefined) selfCalls.push(self);
    if (inner.type === "AssignmentExpression") {
      const left = nodeAt(inner, "left");
      if (nodeAt(left, "object")?.type !== "ThisExpression") return;
      const name = nameOf(nodeAt(left, "property"));
      if (left?.["computed"] === true || name === undefined) known = false;
      else {
        members.add(name);
        methods.delete(name);
      }
    }
    // Object.assign(this, ...) and the like.
    if (inner.type === "CallExpression") {
      known &&= !nodesAt(inner, "arguments").some(({ type }) => type === "ThisExpression");
    }
  });
  const isExtended = nodeAt(node, "superClass") !== undefined;
  // Inside of it, `this` may be another object: of a function, or of a class in it.
  const own = hasOtherThis(node) ? [] : selfCalls;
  const classFact = known ? { members, methods, selfCalls: own } : undefined;
  return { arity: isExtended ? undefined : arity, classFact };
}

function selfCallOf(node: AstNode, parent: AstNode | undefined): SelfCall | undefined {
  if (node.type !== "MemberExpression" || node["computed"] === true) return undefined;
  if (nodeAt(node, "object")?.type !== "ThisExpression" || parent?.type !== "CallExpression") {
    return undefined;
  }
  const name = nameOf(nodeAt(node, "property"));
  return name === undefined || nodeAt(parent, "callee") !== node
    ? undefined
    : { name, line: lineOf(node) };
}

function hasOtherThis(node: AstNode): boolean {
  let has = nodesAt(node, "decorators").length > 0;
  walk(node, (inner) => {
    if (inner === node) return;
    has ||=
      /^(?:FunctionExpression|FunctionDeclaration|ObjectMethod|ClassDeclaration|ClassExpression|StaticBlock)$/.test(
        inner.type,
      ) ||
      (inner.type === "ClassMethod" && inner["static"] === true);
  });
  return has;
}
