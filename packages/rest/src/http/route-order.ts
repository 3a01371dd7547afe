import { check } from "../errors.ts";
import type { Route } from "../plan/route.ts";

/**
 * Checks that every route can be reached and told apart.
 *
 * @throws RestError `ERR_REST_DEFINITION` for a wrong path, a GET with a body, and two routes or
 * operations of one name.
 */
export function checkRoutes(routes: readonly Route[]): void {
  const seen = new Set<string>();
  for (const { method, operation, path, body } of routes) {
    const isPath = /^(?:\/(?::\w+|[\w.~-]+))+$/.test(path);
    check(isPath, `the path ${path} must be like /articles/:id`);
    check(method !== "GET" || !body, `${operation} is a GET, which has no body`);
    for (const name of [`${method} ${path.replace(/:\w+/g, ":")}`, operation]) {
      check(!seen.has(name), `two routes are called ${name}`);
      seen.add(name);
    }
  }
}

/** Orders fixed parts of a path before parameters, so that `/users/me` precedes `/users/:id`. */
export function byPrecedence(one: Route, other: Route): number {
  const [first, second] = [rank(one), rank(other)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function rank({ path }: Route): string {
  return path.replace(/:\w+/g, "\uffff");
}
