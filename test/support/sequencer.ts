import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Twenty seconds or more each. */
const longest = [
  "packages/scripts",
  "deployments/kill-between-stages",
  "program/drain-at-gateways",
  "program/health-kill",
  "packages/real",
  "deployments/swap",
  "deployments/monitor",
  "clients/from-the-url",
  "program/gateway-quota",
  "program/kill",
  "deployments/mcp",
  "clients/documents",
  "imports/hostile",
  "http/bodies",
  "cli/output",
  "machines/output",
  "hub/capability-doc-sweep",
  "sql/embedded",
  "operations/backup",
  "deployments/mirror",
  "contract/deployments",
  "clients/seven-jobs",
  "program/terminal",
  "deployments/rollback",
  "deployments/health-gate",
  "machines/lifecycle",
  "deployments/sleep-kill",
  "http/ownership",
  "packages/pypi",
  "machines/egress",
  "deployments/outage",
  "packages/npm",
  "conformance/server",
  "conformance/doors",
  "program/start",
  "machines/crash",
  "packages/scripts-machine",
  "http/connections",
  "deployments/kill",
  "browser/pages",
  "packages/turns",
  "program/end",
  "directory/events-storm",
  "browser/listings",
  "composites/kill",
  "http/openapi",
  "readme/tour"
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
