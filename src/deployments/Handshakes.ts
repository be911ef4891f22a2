import { CurrentSettings } from "#src/config/Settings.ts"
import { type MachineAddress, Machines } from "#src/machines/Machines.ts"
import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { type ServerRow } from "#src/servers/Server.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Cause, Duration, Effect, Option } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { makeDoor } from "./handshake/door.ts"
import { handshake } from "./handshake/handshake.ts"
import { linesOf } from "./handshake/words.ts"
import { HandshakesRepo } from "./HandshakesRepo.ts"
import { throughOutage } from "./through-outage.ts"

/** Seconds for all of it, both transports together. */
const seconds = 5

/** A server that says often that its lists changed is asked once in so many. */
const calm = "5 seconds"

/** The `client_id` of the token that the platform tries a machine with (RFC 9068 requires one). */
const clientId = "berth-handshake"

interface Target extends ServerRow {
  readonly accountId: string
}

/** Tries new machines with the MCP handshake, as the gateway will ask them (docs/decisions/mcp-handshake.md). */
export class Handshakes extends Effect.Service<Handshakes>()("deployments/Handshakes", {
  effect: Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const machines = yield* Machines
    const tokens = yield* AccessTokens
    const repo = yield* HandshakesRepo
    const logs = yield* ServerLogs
    const deployments = yield* DeploymentsRepo
    const due = new Set<string>()

    /** Any server of ours takes a token of its owner; one in byoa mode takes none that we could make. */
    const tokenFor = Effect.fn("Handshakes.tokenFor")(function*({ accountId, authMode, id, slug }: Target) {
      if (authMode === "byoa") return undefined
      const audience = publicUrl(settings, slug)
      return (yield* tokens.mint({ accountId, audience, scope: allMcpScopes, clientId, serverId: id })).token
    })

    const ask = Effect.fn("Handshakes.ask")(function*(server: Target, address: MachineAddress, port: number) {
      const door = makeDoor({
        address,
        port,
        publicUrl: publicUrl(settings, server.slug),
        replayToken: server.replayToken,
        token: yield* tokenFor(server)
      })
      const foreignIssuer = server.authMode === "byoa" ? server.byoaConfig?.issuer ?? "its own issuer" : undefined
      return yield* Effect.promise((signal) => handshake(door, { port, seconds, foreignIssuer }, signal))
    })

    /** Tries a deployment's machine, stores what it answered, and tells it in the server's log. Never fails. */
    const attempt = Effect.fn("Handshakes.attempt")(
      function*(server: Target, { id, port, version }: DeploymentRow) {
        const state = yield* machines.inspect(id)
        if (state === undefined) return
        const [took, report] = yield* Effect.timed(ask(server, state.address, port))
        yield* throughOutage()(repo.save(id, report))
        // What a machine in byoa mode refuses without a token of its own issuer is no fault of it.
        const level = server.authMode === "byoa" ? "info" : "warn"
        const lines = linesOf(report, Duration.toMillis(took), level)
        yield* logs.append(
          server.id,
          lines.map((line) => ({ ...line, message: `Deployment ${version}: ${line.message}` }))
        )
      },
      (effect, _, { id }) =>
        Effect.catchAllCause(effect, (cause) =>
          Cause.isInterrupted(cause)
            ? Effect.interrupt
            : Effect.logWarning(`The MCP handshake of deployment ${id} could not be tried`, cause))
    )

    /** The same with the active deployment of a server that says that its lists changed. Never fails. */
    const again = Effect.fn("Handshakes.again")(function*(serverId: string) {
      if (due.has(serverId)) return
      due.add(serverId)
      yield* Effect.sleep(calm)
      due.delete(serverId)
      const server = Option.getOrUndefined(yield* deployments.server(serverId))
      const id = server?.activeDeploymentId ?? undefined
      const deployment = id === undefined ? Option.none() : yield* deployments.find(id)
      if (server !== undefined && Option.isSome(deployment)) yield* attempt(server, deployment.value)
    })

    return { attempt, again } as const
  })
}) {}
