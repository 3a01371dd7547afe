import { OAuth2UsageError, optionError } from "../errors.ts";

/**
 * Reads the base URL of a provider.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when it is not http(s), or has user information
 */
export function parseSite(site: string | URL): URL {
  const url = URL.canParse(site) ? new URL(site) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw optionError("site", url === undefined ? "no URL" : url.protocol, "an http or https URL");
  }
  if (url.username !== "" || url.password !== "") {
    throw optionError("site", "a URL with user information", "one without");
  }
  url.hash = "";
  return url;
}

/** Resolves a path or URL. */
export type UrlResolver = (path: string | URL) => URL;

/**
 * Makes a resolver of paths against the base URL of a provider. Without a leading `/` a path is
 * relative to that of the site. With one it is a path on the site's host; an absolute URL stays
 * what it is. The query of the site is on every URL of the site. A fragment is dropped.
 *
 * The resolver throws OAuth2UsageError `ERR_OAUTH_TARGET` when a path would change the host
 * (`//host`, `/\host`, line breaks), or an absolute URL is not http(s) or has user information;
 * `ERR_OAUTH_OPTION` when there is no site.
 */
export function createResolver(site: URL | undefined): UrlResolver {
  const onSite = site === undefined ? undefined : createSiteResolver(site);
  return (path) => resolveUrl(onSite, path);
}

function resolveUrl(onSite: ((path: string) => URL) | undefined, path: string | URL): URL {
  if (path instanceof URL) return checkAbsolute(new URL(path));
  if (/[\p{Cc}\\]/u.test(path)) throw targetError("has a backslash or control character");
  if (/^[a-z][a-z\d+.-]*:/i.test(path)) {
    // `http:host` is another URL with a site than without one.
    if (!/^[a-z]+:\/\//i.test(path) || !URL.canParse(path))
      throw targetError("is not an absolute URL");
    return checkAbsolute(new URL(path));
  }
  if (onSite === undefined) {
    throw new OAuth2UsageError("ERR_OAUTH_OPTION", "a path needs the option site");
  }
  // WHATWG URL drops spaces around a reference; a host may hide behind them.
  if (path.trim().startsWith("//")) throw targetError("names another host");
  return onSite(path);
}

function createSiteResolver({ origin, pathname, search }: URL): (path: string) => URL {
  const whole = origin + pathname;
  const folder = pathname.endsWith("/") ? whole : `${whole}/`;
  return (path) => {
    // A target with one slash at its start is a path of the host: parsing it with the origin takes
    // one URL, resolving takes two.
    const url = path.startsWith("/")
      ? new URL(origin + path)
      : relative(path, path === "" ? whole : folder);
    if (url.origin !== origin) throw targetError("names another host");
    if (search !== "") {
      url.search = url.search === "" ? search : `${search}&${url.search.slice(1)}`;
    }
    return withoutFragment(url);
  };
}

/** The platform's error would show the path, and be of another kind. */
function relative(path: string, base: string): URL {
  if (!URL.canParse(path, base)) throw targetError("is not a URL");
  return new URL(path, base);
}

function withoutFragment(url: URL): URL {
  if (url.href.includes("#")) url.hash = "";
  return url;
}

function checkAbsolute(url: URL): URL {
  if (!/^https?:$/.test(url.protocol)) throw targetError(`is ${url.protocol}, not http or https`);
  if (url.username !== "" || url.password !== "") throw targetError("has user information");
  return withoutFragment(url);
}

function targetError(problem: string): OAuth2UsageError {
  return new OAuth2UsageError("ERR_OAUTH_TARGET", `the path or URL ${problem}`);
}
