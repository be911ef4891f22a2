import { writeBehind } from "#src/jobs/write-behind.ts"
import { Effect } from "effect"
import { SessionsRepo } from "./SessionsRepo.ts"

/** More deployments than a host runs. */
const capacity = 100_000

/**
 * Counts the MCP sessions that machines hand out, and those that clients end by DELETE (MCP 2025-11-25, Session
 * Management). All gateways write to one table, within a second: a machine that drains is needed while sessions of it
 * may be open (docs/decisions/swap-and-drain.md).
 */
export class Sessions extends Effect.Service<Sessions>()("routing/Sessions", {
  scoped: Effect.gen(function*() {
    const repo = yield* SessionsRepo
    const { add, flush } = yield* writeBehind("Counting MCP sessions", "1 second", {
      what: "MCP sessions",
      names: ["opened", "closed"],
      capacity,
      batch: capacity,
      write: repo.add
    })
    const count = (deploymentId: string, name: "opened" | "closed") =>
      add(deploymentId, () => ({ deploymentId, opened: 0, closed: 0 }), name)

    return {
      opened: (deploymentId: string) => count(deploymentId, "opened"),
      closed: (deploymentId: string) => count(deploymentId, "closed"),
      /** How many sessions of these deployments may be open. Those that no client has closed count, however old. */
      openOf: (ids: ReadonlyArray<string>) =>
        Effect.zipRight(
          flush,
          Effect.map(repo.open(ids), (rows) => new Map(rows.map(({ deploymentId, open }) => [deploymentId, open])))
        )
    } as const
  })
}) {}
