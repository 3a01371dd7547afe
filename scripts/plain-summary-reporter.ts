import type { Reporter, TestModule } from "vitest/node";

/** Prints `N passed, N failed` as the last line, alone, for programs that read the output. */
export default class PlainSummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    for (const module of modules) {
      failed += errorsOutsideTests(module);
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed += 1;
        else if (state === "failed") failed += 1;
        else skipped += 1;
      }
    }
    const line = `${passed} passed, ${failed} failed`;
    // Other reporters and a slow shutdown still write after this call; nothing writes after "exit".
    process.once("exit", () => {
      process.stdout.write(`\n${skipped > 0 ? `${line}, ${skipped} skipped` : line}\n`);
    });
  }
}

/**
 * Counts files that do not load and suites whose hooks fail: their tests are reported as skipped.
 */
function errorsOutsideTests(module: TestModule): number {
  let count = module.errors().length;
  for (const suite of module.children.allSuites()) count += suite.errors().length;
  return count;
}
