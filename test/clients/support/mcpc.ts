import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { newMachine, type Outcome, runNode } from "./machine.ts"
import { type Peers } from "./peers.ts"

/** mcpc on a machine of its own: it keeps a process for each connection, which `close` ends. */
export const newMcpc = (peers: Peers) => {
  const { environment } = newMachine()
  const { HOME: home = "", PATH: bin = "" } = environment
  // It starts its other process as `node`.
  symlinkSync(peers.node, join(bin, "node"))
  const kept = { ...environment, MCPC_HOME_DIR: join(home, "mcpc"), NODE_COMPILE_CACHE: join(home, "compiled") }

  const run = (args: ReadonlyArray<string>, types?: (url: string) => Promise<string>): Promise<Outcome> =>
    runNode(peers, [peers.script("@apify/mcpc/bin/mcpc"), ...args], {
      environment: kept,
      timeout: 120_000,
      // Without a browser it waits for the address that the user's ended at.
      ...(types === undefined ? {} : { types })
    })

  /** Gives its other process five seconds to start, which a busy machine may need more than once. */
  const connect = async (url: string, session: string, ...options: ReadonlyArray<string>) => {
    for (let tries = 4;; tries--) {
      const outcome = await run(["connect", url, session, ...options])
      if (tries === 1 || !outcome.err.includes("Bridge failed to start")) return outcome
    }
  }
  return { connect, run, close: () => run(["clean", "all"]) }
}
