/** Returns the URL of the store as it may be shown: a database's without user and password. */
export function shownUrl(databaseUrl: string): string {
  return databaseUrl.replace(/^(postgres(?:ql)?:\/\/).*@/is, "$1");
}
