import { BaseSequencer, type TestSpecification } from "vitest/node"

/** More than twenty seconds each. */
const longest = [
  "program/health-kill",
  "deployments/swap",
  "program/start",
  "readme/tour",
  "program/terminal",
  "program/kill",
  "deployments/sleep-kill",
  "machines/lifecycle",
  "machines/crash",
  "deployments/rollback",
  "deployments/kill",
  "packages/real",
  "clients/from-the-url",
  "browser/pages",
  "packages/pypi",
  "deployments/monitor",
  "clients/third-party",
  "composites/kill",
  "browser/listings",
  "packages/npm",
  "deployments/health-gate",
  "http/outage",
  "hub/capability-doc-storage",
  "deployments/lifecycle",
  "machines/egress",
  "mcp/parity",
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
