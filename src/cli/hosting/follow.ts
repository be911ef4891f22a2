import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { show } from "#src/cli/json-output.ts"
import { oneLine } from "#src/cli/mcp/render.ts"
import { type Deployment, type ListedDeployment } from "#src/deployments/Deployment.ts"
import { type Server } from "#src/servers/Server.ts"
import { Console, Effect, Schedule } from "effect"
import { type Connected, facts } from "./platform.ts"

const isUnderWay = ({ status }: Deployment) => status === "pending" || status === "building"

/** A moment without an answer, such as a restart of the platform, is no end: the deployment goes on there. */
const patience = Schedule.spaced("1 second").pipe(Schedule.intersect(Schedule.recurs(60)))

/** Waits for a deployment's end, and says on standard error what it does. */
export const follow = Effect.fn("cli.follow")(
  function*({ api }: Connected, begun: Deployment) {
    const path = { serverId: begun.serverId, deploymentId: begun.id }
    let latest = begun
    let told = ""
    while (isUnderWay(latest)) {
      const doing = latest.progress === null ? "" : oneLine(latest.progress)
      if (doing !== told && doing !== "") yield* Console.error(doing)
      told = doing
      yield* Effect.sleep("400 millis")
      latest = (yield* api.deployments.get({ path }).pipe(
        Effect.retry({ schedule: patience, while: ({ _tag }) => _tag === "RequestError" })
      )).data
    }
    return latest
  },
  (effect, _connected, { id }) =>
    Effect.onInterrupt(
      effect,
      () => Console.error(`The deployment ${id} goes on without this command; berth status tells its end`)
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
  State: deployment.status,
  Error: deployment.errorMessage,
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
