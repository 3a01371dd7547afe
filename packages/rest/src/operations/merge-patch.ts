import { isObject } from "@fetchwork/kit";
import { bareFields } from "../bare-fields.ts";
import { Problem } from "../problem.ts";

/** Deeper patches are refused, as the store refuses deeper documents. */
const maxDepth = 200;

/**
 * Applies a JSON Merge Patch (RFC 7396): `null` removes, objects merge, everything else replaces.
 *
 * @throws Problem 400 for a patch of more than 200 levels.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  return merge(target, patch, 1);
}

function merge(target: unknown, patch: unknown, depth: number): unknown {
  if (!isObject(patch)) return patch;
  if (depth > maxDepth) {
    throw new Problem(400, { detail: `the body has more than ${maxDepth} levels` });
  }
  const merged = bareFields();
  if (isObject(target)) for (const name of Object.keys(target)) merged[name] = target[name];
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name], value, depth + 1);
  }
  return merged;
}
