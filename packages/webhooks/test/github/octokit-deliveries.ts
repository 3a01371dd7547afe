const repository = { full_name: "octo/hello" };
const opened = { action: "opened", issue: { number: 7, title: "Bug", state: "open" }, repository };

/** Deliveries for the program in `octokit-program.ts`, and the status that they get. */
export const programDeliveries: readonly (readonly [
  name: string,
  payload: object,
  status: number,
])[] = [
  ["issues", opened, 200],
  ["push", { ref: "refs/heads/main", repository }, 200],
  ["issues", { ...opened, action: "labeled" }, 500],
];

/**
 * Actions of the program with @octokit/webhooks 14.2.0, which reports an error after all handlers;
 * `test/moving/before.process.test.ts` runs it.
 */
export const programJournal: readonly string[] = [
  "d-1 opened 7: Bug",
  "issues opened in octo/hello",
  "any issues",
  "pushed to refs/heads/main",
  "issues labeled in octo/hello",
  "any issues",
  "error of issues d-1",
  "failed: no labels, please",
];
