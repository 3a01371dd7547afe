import { defineConfig } from "vitest/config";

const conditions = ["@fetchwork/source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["{packages,examples}/*/{src,test}/**/*.test.ts", "test/**/*.test.ts"],
    reporters: ["default", "./scripts/plain-summary-reporter.ts"],
    execArgv: ["--conditions=@fetchwork/source"],
    testTimeout: 20_000,
  },
});
