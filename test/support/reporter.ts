import { relative } from "node:path"
import { type Reporter, type TestCase, type TestModule, type Vitest } from "vitest/node"
import { leftOut } from "./left-out.ts"

const nameOf = (module: TestModule, test: TestCase) => `${relative(process.cwd(), module.moduleId)} > ${test.fullName}`

/**
 * Prints what the usual report leaves unread: why something was skipped (a reason given to `ctx.skip(reason)` or in
 * the suite's name), and what passed only at its second try, with the first line of what went wrong at the first.
 */
export default class PlainReporter implements Reporter {
  #leftOut = 0
  /** Whether tests are chosen by name: of those that are not, nobody asks why. What skips itself still says so. */
  #chosen = false

  onInit({ config }: Vitest) {
    this.#chosen = config.testNamePattern !== undefined
  }

  onTestModuleEnd(module: TestModule) {
    for (const test of module.children.allTests("skipped")) {
      const result = test.result()
      if (test.name.endsWith(leftOut)) {
        this.#leftOut++
        continue
      }
      const note = result.state === "skipped" ? result.note : undefined
      if (this.#chosen && note === undefined) continue
      console.log(`skipped: ${nameOf(module, test)}${note === undefined ? "" : `: ${note}`}`)
    }
    for (const test of module.children.allTests("passed")) {
      if (test.diagnostic()?.flaky !== true) continue
      const message = test.result().errors?.[0]?.message ?? "no error was kept"
      console.log(`flaky: ${nameOf(module, test)}: ${message.split("\n", 1)[0]}`)
    }
  }

  onTestRunEnd() {
    if (this.#leftOut > 0) console.log(`\n${this.#leftOut} long proofs were left out; CI_FULL=1 npm test runs them`)
  }
}
