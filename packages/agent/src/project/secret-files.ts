const names = [
  // Variables of an environment, but not what is there to be copied: `.env.local`, `prod.env`,
  // `.dev.vars`.
  String.raw`\.env(?!\.(?:example|sample|template)$)[^/]*`,
  String.raw`(?!(?:example|sample|template)\.)[^/]+\.env`,
  String.raw`\.dev\.vars[^/]*|[^/]*\.tfvars(?:\.json)?|[^/]*\.tfstate(?:\.backup)?`,
  // Credentials of tools.
  String.raw`\.(?:npmrc|netrc|pgpass|pypirc|htpasswd|git-credentials)|credentials(?:\.json)?`,
  String.raw`(?:[^/]*[-_.])?service[-_]?account[^/]*\.json|secrets?\.(?:json|ya?ml|toml)`,
  // Keys.
  String.raw`id_(?:rsa|dsa|(?:ecdsa|ed25519)(?:_sk)?)|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|ppk|kdbx)`,
];

const secret = new RegExp(`(?:^|/)(?:${names.join("|")})$`, "i");

/** Whether a file usually holds keys (`.env`, certificates): models see its name only. */
export function mayBeSecret(path: string): boolean {
  return secret.test(path);
}

const tokens = [
  String.raw`-----BEGIN (?:[A-Z ]{0,30} )?PRIVATE KEY-----`,
  String.raw`\b(?:AKIA|ASIA)[A-Z\d]{16}\b`,
  String.raw`\b(?:gh[opusr]_[A-Za-z\d]{36}|github_pat_\w{40})`,
  String.raw`\bxox[abeprs]-[A-Za-z\d-]{10}`,
  String.raw`\b[sr]k_live_[A-Za-z\d]{16}`,
  String.raw`\bsk-(?:proj-|ant-|svcacct-)?[\w-]{32}`,
];

const token = new RegExp(tokens.join("|"));

/** Whether a text has a private key or a token of AWS, GitHub, Slack, Stripe, OpenAI, Anthropic. */
export function holdsSecret(text: string): boolean {
  return token.test(text);
}
