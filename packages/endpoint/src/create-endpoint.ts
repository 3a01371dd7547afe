import { boundedCache } from "./bounded-cache.ts";
import type { Endpoint } from "./endpoint.ts";
import { checkChoice, checkNames } from "./check-names.ts";
import { fail } from "./errors.ts";
import { mergeOptions } from "./merge.ts";
import type { EndpointDefaults, EndpointOptions, RequestOptions } from "./options.ts";
import { isObject, pick, type PlainObject } from "./own-property.ts";
import { checkOptions, placeParameters, type Settings } from "./parse-options.ts";
import { githubPreset, vendorPreset, type VendorPreset } from "./preset.ts";
import type { ArrayFormat } from "./query.ts";
import { splitRoute } from "./route.ts";
import { optionNames } from "./url-template.ts";
import { VERSION } from "./version.ts";

/** Options of {@link createEndpoint}. They override the preset. */
export interface CreateEndpointOptions {
  /**
   * A preset, `"github"` for that one, or a vendor's name for media types. Default: `vendorPreset`.
   */
  readonly vendor?: string | VendorPreset | undefined;
  /** Put before every url that is not absolute. Default: the preset's. */
  readonly baseUrl?: string | undefined;
  /** How `method` is written in the result. Default: the preset's. */
  readonly methodCase?: "lower" | "upper" | undefined;
  /** Default: `fetchwork-endpoint/<version>`. */
  readonly userAgent?: string | undefined;
  /** How a list becomes query parameters. Default: `"comma"`. */
  readonly arrayFormat?: ArrayFormat | undefined;
  /**
   * `"throw"` refuses a request whose url misses a variable of `{a}`, `{+a}` or `:a`. It refuses an
   * empty text and a number that is not finite in a path, too. `"empty"` leaves a missing variable
   * out, with the slash before it, so that `DELETE /users/{id}` may become `DELETE /users`.
   * Default: the preset's, which for most is `"throw"`.
   */
  readonly onMissing?: "empty" | "throw" | undefined;
}

const optionsOfEndpoint = [
  "vendor",
  "baseUrl",
  "methodCase",
  "userAgent",
  "arrayFormat",
  "onMissing",
];
const propertiesOfPreset = [
  "vendor",
  "baseUrl",
  "methodCase",
  "plusParameters",
  "stripSlash",
  "onMissing",
];

/**
 * Makes a builder of request options.
 *
 * @throws {EndpointError} `ERR_ENDPOINT_OPTION` or `ERR_ENDPOINT_HEADER` for a wrong option.
 *
 * @example
 * const endpoint = createEndpoint({ vendor: "acme", baseUrl: "https://api.acme.example" });
 */
export function createEndpoint(options: CreateEndpointOptions = {}): Endpoint {
  checkNames("createEndpoint", options, optionsOfEndpoint);
  const { vendor = vendorPreset } = options;
  const preset = typeof vendor === "string" ? presetOf(vendor) : vendor;
  checkNames("vendor", preset, propertiesOfPreset);
  const {
    baseUrl = preset.baseUrl,
    userAgent = `fetchwork-endpoint/${VERSION}`,
    methodCase = preset.methodCase ?? "lower",
    arrayFormat = "comma",
    onMissing = preset.onMissing ?? "throw",
  } = options;
  checkChoice("methodCase", methodCase, ["lower", "upper"]);
  checkChoice("arrayFormat", arrayFormat, ["comma", "repeat", "brackets"]);
  checkChoice("onMissing", onMissing, ["throw", "empty"]);
  if (typeof preset.vendor !== "string" || !/^[\w-]+$/.test(preset.vendor)) {
    fail("ERR_ENDPOINT_OPTION", "vendor must be a preset, or a name of letters, digits, _ and -");
  }
  const accept = `application/vnd.${preset.vendor}.v3+json`;
  const headers = { accept, "user-agent": userAgent };
  return fromDefaults<never>(
    { method: "GET", baseUrl, headers, mediaType: { format: "" } },
    { ...preset, methodCase, arrayFormat, isStrict: onMissing === "throw" },
  );
}

function presetOf(vendor: string): VendorPreset {
  return vendor === "github" ? githubPreset : { ...vendorPreset, vendor };
}

/** Builds request options with the default preset; see {@link Endpoint}. */
export const endpoint: Endpoint = /* @__PURE__ */ createEndpoint();

/** Reads a route once; `endpoint.compile` of the default builder. */
export const compile: Endpoint["compile"] = (route) => endpoint.compile(route);

function fromDefaults<Known extends string>(
  given: EndpointDefaults,
  settings: Settings,
): Endpoint<Known> {
  checkOptions({ ...given, url: "/" }, settings);
  Object.freeze(given.headers);
  Object.freeze(given.mediaType);
  const DEFAULTS = Object.freeze(given);
  const names = Object.keys(DEFAULTS).filter((name) => !optionNames.has(name));
  const parameters = pick(DEFAULTS, names);

  const known = boundedCache((route) =>
    checkOptions({ ...DEFAULTS, ...splitRoute(route) }, settings),
  );
  const merge = (route?: unknown, options?: unknown): EndpointDefaults =>
    mergeOptions(DEFAULTS, route, options);
  const parse = (options: EndpointOptions): RequestOptions =>
    placeParameters(checkOptions(options, settings), options, settings);
  function build(route?: unknown, options: unknown = {}): RequestOptions {
    // Calls mostly bring a route and texts: there is nothing to merge.
    if (typeof route !== "string" || !isSimple(options)) return parse(merge(route, options));
    const all = names[0] ? { ...parameters, ...options } : options;
    return placeParameters(known(route), all, settings);
  }
  function isSimple(options: unknown): options is PlainObject {
    return (
      isObject(options) &&
      Object.keys(options).every(
        (key) =>
          !optionNames.has(key) &&
          !(names[0] && (options[key] === undefined || isObject(options[key]))),
      )
    );
  }
  return Object.assign(build, {
    DEFAULTS,
    merge,
    parse,
    defaults: (options: EndpointOptions) => fromDefaults(merge(undefined, options), settings),
    compile(route: string) {
      known(route);
      return (options?: EndpointOptions) => build(route, options);
    },
  });
}
