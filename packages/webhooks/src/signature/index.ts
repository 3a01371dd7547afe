export { sign, verify, verifyWithFallback } from "./signature.ts";
