import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Peers } from "../../clients/support/peers.ts"
import { temporaryDirectory } from "../../support/Settings.ts"

export type Status = "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED"

/** Worst first: a check that is made more than once is as good as its worst outcome. */
const order: ReadonlyArray<Status> = ["FAILURE", "WARNING", "SKIPPED", "INFO", "SUCCESS"]

/** Outcomes by `scenario:check`. */
export type Outcomes = ReadonlyMap<string, Status>

interface Check {
  readonly id: string
  readonly status: Status
}

const read = (folder: string): Outcomes => {
  const outcomes = new Map<string, Status>()
  for (const name of readdirSync(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)?.[1]
    if (scenario === undefined) continue
    const checks = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as ReadonlyArray<Check>
    for (const { id, status } of checks) {
      const key = `${scenario}:${id}`
      const before = outcomes.get(key) ?? "SUCCESS"
      outcomes.set(key, order.indexOf(status) < order.indexOf(before) ? status : before)
    }
  }
  return outcomes
}

/** What MCP 2025-11-25 requires of a server, checked by the official suite at that URL. */
export const runSuite = ({ node, script }: Peers, url: string) =>
  new Promise<Outcomes>((resolve, reject) => {
    const folder = temporaryDirectory("conformance")
    const suite = script("@modelcontextprotocol/conformance/dist/index.js")
    const args = [suite, "server", "--url", url, "--requirements", "2025-11-25", "--output-dir", folder]
    // Its exit code says whether all passed; the outcomes say what did.
    execFile(node, args, { timeout: 120_000, maxBuffer: 64_000_000, env: {} }, (_error, out, err) => {
      const outcomes = read(folder)
      if (outcomes.size === 0) reject(new Error(`The suite left no outcome:\n${out}\n${err}`))
      else resolve(outcomes)
    })
  })

export const withStatus = (outcomes: Outcomes, ...statuses: ReadonlyArray<Status>) =>
  [...outcomes].filter(([, status]) => statuses.includes(status)).map(([check]) => check).sort()
