export { sign, verify, verifyWithFallback } from "../schemes/body-signature.ts";
