import { defineConfig } from "vitest/config"
import { othersThan } from "./test/support/done.ts"
import LongestFirst from "./test/support/sequencer.ts"

// Where a machine reads the result; people read the output.
const report = process.env["TEST_REPORT"]

// What an earlier run has done.
const done = process.env["TEST_DONE"]

// As many at once as there are at most: the pool ends an idle process twice where it may have fewer, which fails a run.
const forks = Number(process.env["TEST_FORKS"] ?? "2")

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/setup.ts"],
    pool: "forks",
    // To load the program and its libraries takes two seconds: once for each process, not once for each file. What a
    // file changes of its process (environment, Date, listeners) it must put back.
    isolate: false,
    // One deprecation is known (src/main.ts), and is no news in a report of tests.
    poolOptions: { forks: { maxForks: forks, minForks: forks, execArgv: ["--no-deprecation"] } },
    // What a library says of the Node it will need some day is news for its users, not for who reads a test's report.
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
    sequence: { sequencer: LongestFirst },
    // For a machine that is busy with something else; none takes a third of it on a quiet one.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    ...(done === undefined ? {} : { testNamePattern: othersThan(done) }),
    // The full run on a busy machine may try once more; the reporter names whatever needed it.
    retry: process.env["CI_FULL"] === undefined ? 0 : 1,
    // What a program prints is read where a test failed.
    silent: "passed-only",
    reporters: ["default", "./test/support/reporter.ts", ...(report === undefined ? [] : ["json"])],
    ...(report === undefined ? {} : { outputFile: { json: report } })
  }
})
