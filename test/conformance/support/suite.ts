import { execFile, spawn } from "node:child_process"
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

const read = (folder: string, mode: "server" | "authorization-server"): Outcomes => {
  const outcomes = new Map<string, Status>()
  for (const name of readdirSync(folder)) {
    const scenario = new RegExp(`^${mode}-(.+)-\\d{4}-\\d\\d-\\d\\dT`).exec(name)?.[1]
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

const newest = "@modelcontextprotocol/conformance/dist/index.js"

/** Its releases, and the revision whose requirements one checks, with what they are asked for. */
const suites = {
  "0.1.16": ["conformance-0.1/dist/index.js"],
  "2025-11-25": [newest, "--requirements", "2025-11-25"],
  "2026-07-28": [newest, "--requirements", "2026-07-28"]
} as const

export type Suite = keyof typeof suites

/** What the official suite finds of a server at that URL. */
export const runSuite = ({ node, script }: Peers, suite: Suite, url: string) =>
  new Promise<Outcomes>((resolve, reject) => {
    const folder = temporaryDirectory("conformance")
    const [program, ...wanted] = suites[suite]
    const args = [script(program), "server", "--url", url, ...wanted, "--output-dir", folder]
    // Its exit code says whether all passed; the outcomes say what did.
    execFile(node, args, { timeout: 120_000, maxBuffer: 64_000_000, env: {} }, (_error, out, err) => {
      const outcomes = read(folder, "server")
      if (outcomes.size === 0) reject(new Error(`The suite left no outcome:\n${out}\n${err}`))
      else resolve(outcomes)
    })
  })

/** What its authorization mode is told of an authorization server. */
export interface AuthorizationServer {
  readonly issuer: string
  readonly clientId: string
  readonly resource: string
  /** Where the suite waits for the answer, at `http://127.0.0.1:PORT/callback`. */
  readonly port: number
  /** What a user does with the URL that the suite prints, the way back to the callback included. */
  readonly approve: (url: string) => Promise<void>
}

/** The suite's authorization mode, every scenario of it; its exit code is 0 when none failed. */
export const runAuthorizationSuite = (
  { node, script }: Peers,
  { approve, clientId, issuer, port, resource }: AuthorizationServer
) =>
  new Promise<{ readonly code: number | null; readonly outcomes: Outcomes; readonly printed: string }>(
    (resolve, reject) => {
      const folder = temporaryDirectory("conformance")
      const args = ["--url", issuer, "--client-id", clientId, "--resource", resource, "-p", `${port}`, "-o", folder]
      const child = spawn(node, [script(newest), "authorization", ...args], { timeout: 120_000, env: {} })
      let printed = ""
      let approving = false
      child.stderr.on("data", (chunk) => printed += chunk)
      child.stdout.on("data", (chunk) => {
        printed += chunk
        // It listens at the callback before it prints where to go, and says then that it waits.
        const asked = /^(https?:\S+)\s+Waiting up to/m.exec(printed)?.[1]
        if (approving || asked === undefined) return
        approving = true
        approve(asked).catch((error: unknown) => {
          child.kill("SIGKILL")
          reject(new Error(`Nobody approved: ${String(error)}\n${printed}`))
        })
      })
      child.on("error", reject)
      child.on("close", (code) => resolve({ code, outcomes: read(folder, "authorization-server"), printed }))
    }
  )

export const withStatus = (outcomes: Outcomes, ...statuses: ReadonlyArray<Status>) =>
  [...outcomes].filter(([, status]) => statuses.includes(status)).map(([check]) => check).sort()
