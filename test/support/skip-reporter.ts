import { relative } from "node:path"
import { type Reporter, type TestModule } from "vitest/node"

/** Prints why something was skipped: a reason given to `ctx.skip(reason)` or in the suite's name would go unread. */
export default class SkipReporter implements Reporter {
  onTestModuleEnd(module: TestModule) {
    for (const test of module.children.allTests("skipped")) {
      const result = test.result()
      const note = result.state === "skipped" ? result.note : undefined
      console.log(
        `skipped: ${relative(process.cwd(), module.moduleId)} > ${test.fullName}${
          note === undefined ? "" : `: ${note}`
        }`
      )
    }
  }
}
