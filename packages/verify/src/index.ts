export { type Baseline, type BaselineChanges, compareBaseline } from "./baseline.ts";
export { VerifyError } from "./errors.ts";
export { type Finding, type FindingCode, fixes, keyOf, type ShownRequest } from "./finding.ts";
export { invariant, type Invariant } from "./invariant.ts";
export type { Cost } from "./scale/try-scale.ts";
export { verifyService, type VerifyOptions, type VerifyReport } from "./verify-service.ts";
