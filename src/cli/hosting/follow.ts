import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { show } from "#src/cli/json-output.ts"
import { oneLine } from "#src/cli/mcp/render.ts"
import { type Deployment, type ListedDeployment } from "#src/deployments/Deployment.ts"
import { type Server } from "#src/servers/Server.ts"
import { type RequestError, type ResponseError } from "@effect/platform/HttpClientError"
import { Clock, Console, Duration, Effect, Predicate, Schedule } from "effect"
import { type Connected, facts, failureOf } from "./platform.ts"
import { inCommands } from "./registry-advice.ts"

const isUnderWay = ({ status }: Deployment) => status === "pending" || status === "building"

/** Of a proxy or an installation that is busy or restarts: the deployment goes on there. */
const passing = new Set([429, 502, 503, 504])

const mayPass = (error: unknown) => {
  if (Predicate.isTagged(error, "ResponseError")) return passing.has((error as ResponseError).response.status)
  if (!Predicate.isTagged(error, "RequestError")) return false
  // Without a token nothing was asked, and asking again gives none.
  const { cause } = error as RequestError
  return !(cause instanceof CliFailure) || cause.code === exitCodes.noAnswer
}

const longestPause = 120

/** When to ask again: as Retry-After says in seconds (RFC 9110, 10.2.3), else in a second. */
const pauseAfter = (error: unknown) => {
  const said = Predicate.isTagged(error, "ResponseError")
    ? Number((error as ResponseError).response.headers["retry-after"] ?? 1)
    : 1
  return Duration.seconds(said >= 1 ? Math.min(said, longestPause) : 1)
}

const patience = Schedule.identity<unknown>().pipe(
  Schedule.addDelay(pauseAfter),
  Schedule.intersect(Schedule.recurs(60))
)

/** Often at first, as most end soon; a plan allows only so many requests a minute. */
const pause = (milliseconds: number) => milliseconds < 10_000 ? "400 millis" : "2500 millis"

const goesOn = ({ id, serverId }: Deployment) =>
  `The deployment ${id} goes on without this command; berth status --server ${serverId} tells its end`

/** A reminder, which comes every five seconds, and its reason: the reason is not told again while it is the same. */
const reminder = /^(Still waiting after \d+ s): (.+)$/
const toTell = (doing: string, before: string) => {
  const [, short, reason] = reminder.exec(doing) ?? []
  return short !== undefined && reason === reminder.exec(before)?.[2] ? short : doing
}

/** Waits for a deployment's end, and says on standard error what it does. */
export const follow = Effect.fn("cli.follow")(
  function*({ api }: Connected, begun: Deployment) {
    const path = { serverId: begun.serverId, deploymentId: begun.id }
    const start = yield* Clock.currentTimeMillis
    let latest = begun
    let told = ""
    while (isUnderWay(latest)) {
      const doing = latest.progress === null ? "" : oneLine(latest.progress)
      if (doing !== told && doing !== "") yield* Console.error(toTell(doing, told))
      told = doing
      yield* Effect.sleep(pause((yield* Clock.currentTimeMillis) - start))
      latest = (yield* Effect.retry(api.deployments.get({ path }), { schedule: patience, while: mayPass })).data
    }
    return latest
  },
  (effect, { root }, begun) =>
    effect.pipe(
      Effect.mapError((error) => {
        const { code, message } = failureOf(error, root) ?? { code: exitCodes.failed, message: String(error) }
        return new CliFailure({ message: `${message}\n${goesOn(begun)}`, code })
      }),
      Effect.onInterrupt(() => Console.error(goesOn(begun)))
    )
)

const handshake = ({ mcp }: Deployment) => {
  if (mcp === null) return null
  const tools = mcp.toolCount === 1 ? "1 tool" : `${mcp.toolCount} tools`
  const worked = mcp.ok ? `${tools} over ${mcp.transport ?? "?"}, revision ${mcp.revision ?? "?"}` : null
  return [worked ?? "the handshake failed", mcp.problem].filter((part) => part !== null).join(": ")
}

/**
 * Whether clients can't use what runs, since its MCP handshake failed. In byoa mode the platform has no token to try it
 * with, and can't tell.
 */
export const isUnusable = ({ mcp }: Pick<ListedDeployment, "mcp">, { authMode }: Pick<Server, "authMode">) =>
  mcp?.ok === false && authMode === "service_managed"

export const deploymentFacts = (deployment: Deployment) => ({
  Version: String(deployment.version),
  Image: deployment.imageUri,
  Digest: deployment.imageDigest,
  Deployment: deployment.status,
  Error: inCommands(deployment),
  MCP: handshake(deployment)
})

/** Tells a deployment that has ended; one that failed fails the command. */
export const showEnd = Effect.fn("cli.showEnd")(function*(deployment: Deployment, server: Server, json: boolean) {
  yield* show(
    json,
    deployment,
    () => facts({ Server: `${server.name} (${server.id})`, URL: server.publicUrl, ...deploymentFacts(deployment) })
  )
  if (deployment.status === "failed") {
    return yield* new CliFailure({
      message: "The deployment failed. berth logs has what the server printed",
      code: exitCodes.deploymentFailed
    })
  }
})
