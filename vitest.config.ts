import { defineConfig } from "vitest/config"

// Where a machine reads the result; people read the output.
const report = process.env["TEST_REPORT"]

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    poolOptions: { forks: { maxForks: 2, minForks: 1 } },
    testTimeout: 20_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    reporters: ["default", "./test/support/skip-reporter.ts", ...(report === undefined ? [] : ["json"])],
    ...(report === undefined ? {} : { outputFile: { json: report } })
  }
})
