/**
 * Turns a key of a provider into snake case: `accessToken`, `AccessToken`, `ACCESS_TOKEN` and
 * `access-token` are `access_token`, `HTTPServer` is `http_server`, `Foo::Bar` is `foo/bar`. Takes
 * time linear in the length.
 */
export function snakeCase(key: string): string {
  if (/^[a-z\d]+(?:_[a-z\d]+)*$/.test(key)) return key;
  return key
    .trim()
    .replaceAll(/\s/g, "_")
    .replaceAll("::", "/")
    .replaceAll(/(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z\d])(?=[A-Z])|-/g, "_")
    .replaceAll(/_+/g, "_")
    .toLowerCase();
}
