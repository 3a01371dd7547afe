// `@fetchwork/oauth2/compat`: what the original has and new programs do not need: settings of the
// whole process, and objects with snake-case keys.
export { configure, resetSettings, settings, type Settings } from "./settings.ts";
export { snakeCase } from "../snake-case.ts";
export { snakyHashClass, type SnakyHashClass } from "./snaky-hash.ts";
export { registerParser } from "../message/parse-body.ts";
export type { SnakyHash } from "../snaky-hash.ts";
