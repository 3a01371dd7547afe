/** What the bundler puts the smoke test of one entry for. */
declare module "fetchwork-smoke-test" {
  export function smoke(platform: import("./platform.ts").Platform): Promise<void>;
}
