/** Returns the URL of a store as it may be shown: without user, password and parameters. */
export function shownUrl(url: string): string {
  if (/^(?:sqlite|file):/.test(url)) return url;
  const [, scheme, place = ""] = /^(postgres(?:ql)?:\/\/)(?:.*@)?(.*)$/is.exec(url) ?? [];
  return scheme === undefined ? "the store" : scheme + place.replace(/[?#].*$/s, "");
}
