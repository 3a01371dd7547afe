const names = [
  // Variables of an environment, but not what is there to be copied: `.env.local`, `prod.env`, `.dev.vars`.
  String.raw`\.env(?!\.(?:example|sample|template)$)[^/]*`,
  String.raw`(?!(?:example|sample|template)\.)[^/]+\.env`,
  String.raw`\.dev\.vars[^/]*|[^/]*\.tfvars(?:\.json)?|[^/]*\.tfstate(?:\.backup)?`,
  // What tools sign in with.
  String.raw`\.(?:npmrc|netrc|pgpass|pypirc|htpasswd|git-credentials)|credentials(?:\.json)?`,
  String.raw`service[-_]?account[^/]*\.json|secrets?\.(?:json|ya?ml|toml)`,
  // Keys.
  String.raw`id_(?:rsa|dsa|(?:ecdsa|ed25519)(?:_sk)?)|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|ppk|kdbx)`,
];

const secret = new RegExp(`(?:^|/)(?:${names.join("|")})$`, "i");

/** Whether a file holds keys as a rule (`.env`, certificates, credentials): it is named to a model, and never shown. */
export function mayBeSecret(path: string): boolean {
  return secret.test(path);
}
