import { isSecretName } from "@fetchwork/kit";

/** Whether a header identifies the client to a server: such headers do not follow a redirect to another origin. */
export function isCredentialHeader(name: string): boolean {
  return isSecretName(name) || name === "www-authenticate" || name.startsWith("x-auth");
}
