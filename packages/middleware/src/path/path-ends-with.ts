import { canonicalizePath } from "./canonical-path.ts";
import { pathOf } from "../request/request-path.ts";

/** Whether the path of a URL ends with `ending`, whatever the case; `ending` is in lower case. */
export function pathEndsWith(url: string, ending: string): boolean {
  const path = pathOf(url);
  const canonical = path.includes("%") ? (canonicalizePath(path) ?? path) : path;
  return canonical.slice(-ending.length).toLowerCase() === ending;
}
