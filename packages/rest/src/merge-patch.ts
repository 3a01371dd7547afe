import { bareFields } from "./bare-fields.ts";
import { isRecord } from "./schema.ts";

/** Applies a JSON Merge Patch (RFC 7396): `null` removes, objects merge, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged = bareFields();
  if (isRecord(target)) for (const name of Object.keys(target)) merged[name] = target[name];
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}
