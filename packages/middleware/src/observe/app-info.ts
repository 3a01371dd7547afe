import type { Middleware } from "@fetchwork/http";
import { changeResult, setDefault } from "@fetchwork/http/responses";
import { checkHeaderValue, checkOptions, optionError } from "../check-options.ts";
import { place } from "../order.ts";

/** Options of {@link appInfo}. */
export interface AppInfoOptions {
  /** Name of the application, sent as `App-Name`. */
  readonly name: string;
  /** Its version, sent as `App-Version`. It helps attackers to find known weaknesses. */
  readonly version: string;
  /** Owner of the application, sent as `Org`. Default: no such header. */
  readonly org?: string | undefined;
  /**
   * Name of the machine, sent as `M-Host`; false sends none. Default: the environment variable
   * `MHOST`, read once, here; no header where it is empty, or where the runtime has no environment.
   */
  readonly host?: string | false | undefined;
}

/**
 * Adds `App-Name`, `App-Version`, `Org` and `M-Host` to every response, unless the handler set
 * them.
 *
 * @example
 * ```ts
 * wrap(handler, appInfo({ name: "blog", version: "1.0.2", org: "acme" }));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when a value cannot be sent in a header
 */
export function appInfo(options: AppInfoOptions): Middleware {
  checkOptions("appInfo", options, ["name", "version", "org", "host"]);
  const { name, version, org = "", host = environmentVariable("MHOST") } = options;
  if (name === "") throw optionError("name", name, "a name");
  if (version === "") throw optionError("version", version, "a version");
  const pairs: [string, string][] = [];
  const add = (header: string, option: string, value: string): void => {
    checkHeaderValue(value, option);
    if (value !== "") pairs.push([header, value]);
  };
  add("app-name", "name", name);
  add("app-version", "version", version);
  add("org", "org", org);
  if (host !== false && host !== undefined) add("m-host", "host", host);

  const change = (headers: Headers): void => {
    for (const [header, value] of pairs) setDefault(headers, header, value);
  };
  return place("appInfo", (next) => (request, context) => {
    return changeResult(next(request, context), context, change);
  });
}

/** Value of an environment variable, where the runtime has an environment. */
function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly env?: Readonly<Record<string, unknown>> };
  };
  const value = process?.env?.[name];
  return typeof value === "string" ? value : undefined;
}
