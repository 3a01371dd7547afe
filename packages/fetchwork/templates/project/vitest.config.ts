import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts"],
    // Hashing passwords takes its time where there is little of it.
    testTimeout: 60_000,
  },
});
