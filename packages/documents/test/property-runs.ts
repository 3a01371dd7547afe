/**
 * Returns how often a property is tried: the larger number in `npm run test:all` and in CI.
 */
export function propertyRuns(few: number, many: number): number {
  return process.env["FETCHWORK_TESTS"] === undefined ? few : many;
}
