const secret =
  /(?:^|\/)(?:\.env(?!\.(?:example|sample|template)$)[^/]*|\.npmrc|\.netrc|\.pgpass|id_(?:rsa|dsa|ecdsa|ed25519)|[^/]*\.(?:pem|key|p12|pfx|jks|keystore)|credentials(?:\.json)?|secrets?\.(?:json|ya?ml|toml))$/i;

/** Whether a file holds keys as a rule (`.env`, certificates, credentials): it is named to a model, and never shown. */
export function mayBeSecret(path: string): boolean {
  return secret.test(path);
}
