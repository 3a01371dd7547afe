import { fieldError, type FieldError } from "../field-error.ts";
import type { NearPoint } from "../resource/list-rules.ts";

interface Given {
  readonly errors: FieldError[];
  one(name: "max_distance" | "min_distance" | "near"): string | undefined;
}

/** Reads `near=latitude,longitude` with `min_distance` and `max_distance`, which need it. */
export function readNear(given: Given, field: string): NearPoint | undefined {
  const { errors } = given;
  const place = given.one("near");
  const minDistance = distance(given.one("min_distance"), "min_distance", errors);
  const maxDistance = distance(given.one("max_distance"), "max_distance", errors);
  if (place === undefined) {
    if (minDistance !== undefined || maxDistance !== undefined) {
      errors.push(fieldError("near", "required", "near is required"));
    }
    return undefined;
  }
  if (minDistance !== undefined && maxDistance !== undefined && minDistance > maxDistance) {
    const message = "min_distance must be lower than or equal to max_distance";
    errors.push(fieldError("min_distance", "max", message));
  }
  const parts = place.split(",", 3).map((part) => part.trim());
  if (parts.length !== 2) {
    const than = parts.length < 2 ? "greater" : "lower";
    const rule = parts.length < 2 ? "minlength" : "maxlength";
    errors.push(fieldError("near", rule, `near must have length ${than} than or equal to 2`));
    return undefined;
  }
  const [latitude, longitude] = parts.map(numberOf);
  if (latitude === undefined || longitude === undefined) {
    errors.push(fieldError("near", "type", "near must be of type number"));
    return undefined;
  }
  refuseBeyond(latitude, 90, errors);
  refuseBeyond(longitude, 180, errors);
  return { field, latitude, longitude, minDistance, maxDistance };
}

function distance(
  text: string | undefined,
  name: string,
  errors: FieldError[],
): number | undefined {
  if (text === undefined) return undefined;
  const value = numberOf(text);
  if (value === undefined) errors.push(fieldError(name, "type", `${name} must be of type number`));
  else if (value < 0) {
    errors.push(fieldError(name, "min", `${name} must be greater than or equal to 0`));
  }
  return value;
}

function refuseBeyond(value: number, bound: number, errors: FieldError[]): void {
  if (value < -bound) {
    errors.push(fieldError("near", "min", `near must be greater than or equal to -${bound}`));
  } else if (value > bound) {
    errors.push(fieldError("near", "max", `near must be lower than or equal to ${bound}`));
  }
}

function numberOf(text: string): number | undefined {
  return /^-?\d{1,15}(?:\.\d{1,20})?$/.test(text) ? Number(text) : undefined;
}
