import type { NodeTransportOptions, ConnectionOpts } from "./connection-opts.ts";
import { OAuth2UsageError } from "../errors.ts";
import type { Fetch } from "./fetch.ts";

/** The function of this package's Node part that is used. */
interface NodePart {
  readonly nodeTransport: (options: NodeTransportOptions) => Fetch;
}

interface NodeModule {
  readonly createRequire: (url: string) => (specifier: string) => unknown;
}

/**
 * Makes what sends with options that need Node. The Node part of this package is loaded only here.
 * So the main part stays free of it, and a bundler for a browser does not see it.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when an option is wrong, or the platform is not Node,
 * or `undici` is not there
 */
export function loadNodeTransport(options: ConnectionOpts): Fetch {
  const { timeout: _timeout, headers: _headers, ...transport } = options;
  return nodePart().nodeTransport(transport);
}

function nodePart(): NodePart {
  try {
    const { process } = globalThis as {
      readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
    };
    // A module of Node, which has this.
    const module = process?.getBuiltinModule?.("node:module") as NodeModule | undefined;
    if (module === undefined) throw new TypeError("the platform is not Node");
    // The Node part of this package, which exports this.
    return module.createRequire(import.meta.url)("@fetchwork/oauth2/node") as NodePart;
  } catch (error) {
    throw new OAuth2UsageError(
      "ERR_OAUTH_OPTION",
      "connectionOpts about certificates, proxies and sockets need Node and the package undici, which are not found",
      { cause: error },
    );
  }
}
