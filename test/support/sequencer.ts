import { BaseSequencer, type TestSpecification } from "vitest/node"

/** More than twenty seconds each. */
const longest = [
  "program/health-kill",
  "program/terminal",
  "clients/from-the-url",
  "readme/tour",
  "program/kill",
  "machines/crash",
  "browser/pages",
  "clients/third-party",
  "deployments/rollback",
  "browser/listings",
  "program/start",
  "hub/capability-doc-storage",
  "http/outage",
  "deployments/lifecycle",
  "http/connections",
  "gateway/running",
  "contract/hub-unmet",
  "businesses/health"
]

const place = ({ moduleId }: TestSpecification) => {
  const at = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
  return at < 0 ? longest.length : at
}

/**
 * The files that take longest come first, so that none is left for the end, when the others are done. Vitest knows this
 * from the run before: in a fresh clone there is none, and what was skipped then took no time.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}
