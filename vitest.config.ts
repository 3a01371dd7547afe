import { defineConfig } from "vitest/config";
import "./scripts/require-node.cjs";

const conditions = ["@fetchwork/source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  // Only erasing is needed here; a broken project reference is for the type check to report.
  tsconfig: "tsconfig.base.json",
  test: {
    include: ["{packages,examples}/*/{src,test}/**/*.test.ts", "test/**/*.test.ts"],
    reporters: ["default", "./scripts/plain-summary-reporter.ts"],
    execArgv: ["--conditions=@fetchwork/source"],
    testTimeout: 20_000,
    // A machine that is busy with other tests is slow; what never comes is no less missed.
    expect: { poll: { timeout: 10_000 } },
  },
});
