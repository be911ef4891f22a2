import { Effect } from "effect"
import { CurrentSettings } from "../Config.ts"
import { Machines } from "../machines/Machines.ts"

/** What whoever started the platform wants to know first. */
export const announce = Effect.fn("cli.announce")(function*(_options: { readonly demo: boolean }) {
  const { baseUrl } = yield* CurrentSettings
  const { driver } = yield* Machines
  yield* Effect.log(`Machines run in the ${driver.name} driver (${driver.tier}): ${driver.enforces.join("; ")}`)
  yield* Effect.log(`Berth is ready: ${baseUrl} (API at ${baseUrl}/docs, MCP at ${baseUrl}/mcp)`)
})
