import type { Context } from "@fetchwork/http";

/** Whether what a framework carries with an exchange is our context. */
export function isContext(value: unknown): value is Context {
  return typeof value === "object" && value !== null && "onFinish" in value && "waitUntil" in value;
}
