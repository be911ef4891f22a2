import { CurrentSettings } from "#src/config/Settings.ts"
import { Machines } from "#src/machines/Machines.ts"
import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { type ServerRow } from "#src/servers/Server.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { StaleTools } from "#src/servers/StaleTools.ts"
import { Cause, Duration, Effect, Option } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { makeDoor } from "./handshake/door.ts"
import { type Found, handshake } from "./handshake/handshake.ts"
import { linesOf } from "./handshake/words.ts"
import { HandshakesRepo } from "./HandshakesRepo.ts"
import { throughOutage } from "./through-outage.ts"

/** The `client_id` of the token that the platform tries a machine with (RFC 9068 requires one). */
const clientId = "berth-handshake"

export interface Target extends ServerRow {
  readonly accountId: string
}

export interface Asked {
  readonly report: Found
  readonly milliseconds: number
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
    const staleTools = yield* StaleTools

    /** Any server of ours takes a token of its owner; one in byoa mode takes none that we could make. */
    const tokenFor = Effect.fn("Handshakes.tokenFor")(function*({ accountId, authMode, id, slug }: Target) {
      if (authMode === "byoa") return undefined
      const audience = publicUrl(settings, slug)
      return (yield* tokens.mint({ accountId, audience, scope: allMcpScopes, clientId, serverId: id })).token
    })

    /**
     * What a deployment's machine answers, stored nowhere; undefined when there is no machine. It is given the time that
     * its health check has, or what is left of that, and at least what clients of the world wait.
     */
    const ask = Effect.fn("Handshakes.ask")(function*(
      server: Target,
      { id, port }: DeploymentRow,
      secondsLeft: number = server.healthTimeoutSeconds
    ) {
      const seconds = Math.round(Math.max(settings.handshakeSeconds, secondsLeft))
      const state = yield* machines.inspect(id)
      if (state === undefined) return undefined
      const door = makeDoor({
        address: state.address,
        port,
        publicUrl: publicUrl(settings, server.slug),
        replayToken: server.replayToken,
        token: yield* tokenFor(server)
      })
      const foreignIssuer = server.authMode === "byoa" ? server.byoaConfig?.issuer ?? "its own issuer" : undefined
      const asked = Effect.promise((signal) => handshake(door, { port, seconds, foreignIssuer }, signal))
      const [took, report] = yield* Effect.timed(asked)
      const problem = report.problem === null ? null : yield* logs.masked(server.id, report.problem)
      return { report: { ...report, problem }, milliseconds: Duration.toMillis(took) } satisfies Asked
    })

    const save = (id: string, report: Found) => throughOutage()(repo.save(id, report))

    /** Tells an answer in the server's log. */
    const tell = (server: Target, { version }: DeploymentRow, { milliseconds, report }: Asked) => {
      // What a machine in byoa mode refuses without a token of its own issuer is no fault of it.
      const lines = linesOf(report, milliseconds, server.authMode === "byoa" ? "info" : "warn")
      return logs.append(
        server.id,
        lines.map((line) => ({ ...line, message: `Deployment ${version}: ${line.message}` }))
      )
    }

    const neverFails = (deploymentId: string) =>
      Effect.catchAllCause((cause) =>
        Cause.isInterrupted(cause)
          ? Effect.interrupt
          : Effect.as(
            Effect.logWarning(`The MCP handshake of deployment ${deploymentId} could not be tried`, cause),
            false
          )
      )

    /** Asks a deployment's machine, stores what is to be kept of the answer, and tells it in the server's log. */
    const tried = Effect.fn("Handshakes.tried")(
      function*(server: Target, deployment: DeploymentRow, isKept: (report: Found) => boolean) {
        const asked = yield* ask(server, deployment)
        if (asked === undefined) return false
        if (isKept(asked.report)) yield* save(deployment.id, asked.report)
        yield* tell(server, deployment, asked)
        return asked.report.ok
      }
    )

    /** Tries a deployment's machine, stores what it answered, and tells it in the server's log. Never fails. */
    const attempt = Effect.fn("Handshakes.attempt")((server: Target, deployment: DeploymentRow) =>
      neverFails(deployment.id)(tried(server, deployment, () => true))
    )

    /**
     * The same with the active deployment of a server. What it listed before is kept when it does not answer. Whether it
     * answered, or has nothing to be asked for. Never fails.
     */
    const refresh = Effect.fn("Handshakes.refresh")(function*(serverId: string) {
      const server = Option.getOrUndefined(yield* deployments.server(serverId))
      const id = server?.activeDeploymentId ?? undefined
      const deployment = id === undefined ? undefined : Option.getOrUndefined(yield* deployments.find(id))
      if (server === undefined || deployment === undefined) return true
      return yield* neverFails(deployment.id)(tried(server, deployment, ({ ok }) => ok))
    })

    /** Asks the servers whose tools may have changed: with their business, or as they say. */
    const listChanged = Effect.flatMap(
      staleTools.due,
      Effect.forEach(
        (one) =>
          Effect.flatMap(refresh(one.serverId), (isKnown) => isKnown ? staleTools.listed(one) : staleTools.missed(one)),
        { concurrency: 8, discard: true }
      )
    ).pipe(Effect.withSpan("Handshakes.listChanged"))

    return { ask, save, tell, attempt, listChanged } as const
  })
}) {}
