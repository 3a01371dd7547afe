import { changeHeaders } from "@fetchwork/http";
import { byCaller } from "../plan/by-caller.ts";
import { createQueryBodyReader } from "../plan/query-body.ts";
import type { ResourceHandler } from "../resource/call.ts";
import type { Resource } from "../resource/resource.ts";

/** The body member for the next page, as a dictionary (RFC 9651): `page=2`, `after="…"`. */
const nextPageHeader = "x-next-page";

/**
 * Makes the handler of QUERY of the one that lists: it reads the body as the parameters that a GET
 * has in its URL.
 *
 * Links would have the filter in their targets, where logs keep what the body kept out of them. So
 * `Link` is left out, and `X-Next-Page` has what to change in the body for the next page.
 */
export function queryOperation(resource: Resource, list: ResourceHandler): ResourceHandler {
  const readerFor = byCaller(resource, (rules) => createQueryBodyReader(resource, rules));

  return async (call) => {
    const response = await list({ ...call, query: readerFor(call)(call.body) });
    return changeHeaders(response, call.context, (headers) => {
      const [, target = ""] = /<([^<>]*)>; rel="next"/.exec(headers.get("link") ?? "") ?? [];
      const next = new URLSearchParams(target.slice(target.indexOf("?")));
      const name = ["page", "after"].find((one) => next.has(one));
      headers.delete("link");
      if (name === undefined) return;
      const value = next.get(name) ?? "";
      headers.set(nextPageHeader, `${name}=${/^\d{1,15}$/.test(value) ? value : `"${value}"`}`);
    });
  };
}
