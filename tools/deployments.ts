import { deployFields, Deployment, ListedDeployment, rollbackFields } from "#src/deployments/Deployment.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { Lifecycle } from "#src/deployments/Lifecycle.ts"
import { TestToken, TestTokens } from "#src/oauth/TestTokens.ts"
import { plans } from "#src/plans/Plan.ts"
import { Vulnerabilities, vulnerabilitiesArguments } from "#src/scanning/Finding.ts"
import { Server } from "#src/servers/Server.ts"
import { PageArguments, PageOf } from "#src/shared/paging.ts"
import { type Report } from "#src/shared/progress.ts"
import { Input, optional } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { resultText } from "./result-text.ts"
import { tool } from "./Tool.ts"

/** Clients give up on a call after 60 seconds. */
const WaitSeconds = Schema.Number.pipe(Schema.int(), Schema.between(1, 55)).annotations({
  jsonSchema: { type: "integer", minimum: 1, maximum: 55, default: 50 }
})

const WaitedFor = Schema.Struct({
  ended: Schema.Boolean.annotations({ description: "false: the time was up, and it goes on" }),
  next: Schema.String.annotations({ description: "What to call next" }),
  deployment: Deployment
})

const serverId = { serverId: Schema.String }
const deploymentId = { serverId: optional(Schema.String), deploymentId: Schema.String }
const deploy = { toolset: "deploy" } as const

/** For readers of the text: to the contract one that a later deploy replaced stays `running`. */
const standing = <D extends Pick<Deployment, "active" | "status">>(deployment: D) =>
  deployment.status === "running" && !deployment.active ? { ...deployment, status: "superseded" } : deployment

/** Where a server says nothing: the plans' setting. */
const usualEgress = `${[...new Set(Object.values(plans).map(({ egress }) => `"${egress}"`))].join(" or ")} (by plan)`

export const deploymentTools = Effect.gen(function*() {
  const deployments = yield* Deployments
  const lifecycle = yield* Lifecycle
  const tokens = yield* TestTokens

  /** What a deployment that was begun is answered with. To cancel the call is not to cancel the deployment. */
  const answered = (wait: boolean, report: Report) => (begun: Deployment) =>
    wait ? deployments.awaitEnd(begun, report) : Effect.succeed(begun)

  return [
    tool({
      ...deploy,
      name: "deploy",
      title: "Deploy an image",
      description:
        "Deploys an OCI image, or a package of npm or PyPI (served over HTTP though it speaks stdio), and waits for " +
        "the end: running, or failed with an errorMessage (then get_logs tells more). mcp tells whether it speaks MCP, " +
        "and its tools; a problem there fails it only where the server's mcpRequired is true. The version that serves " +
        "goes on until the new one is healthy. If your client gives up after 60 seconds, pass wait: false, then " +
        "wait_for_deployment; a canceled call ends no deployment, cancel_deployment (call_tool) does. " +
        `Outside it reaches what its egress says, by default ${usualEgress}; update_server (call_tool) with egress: ` +
        "{add: [\"api.example.com\"]} allows a host, and get_logs names refused ones.",
      effect: "create",
      needs: ["deployments:write"],
      params: Input({ ...serverId, ...deployFields }),
      success: Deployment,
      run: ({ serverId, wait = true, ...input }, report) =>
        Effect.flatMap(deployments.deploy(serverId, input), answered(wait, report))
    }),
    tool({
      ...deploy,
      name: "rollback",
      title: "Roll back",
      description:
        "Deploys an earlier version's stored image again, with the variables of now, and waits as deploy does. Not " +
        "needed after a failed deployment if the version before still serves.",
      effect: "create",
      needs: ["deployments:write"],
      params: Input({ ...serverId, ...rollbackFields }),
      success: Deployment,
      run: ({ serverId, wait = true, ...input }, report) =>
        Effect.flatMap(deployments.rollback(serverId, input), answered(wait, report))
    }),
    tool({
      ...deploy,
      name: "list_deployments",
      title: "List deployments",
      description:
        "Lists a server's deployments, newest first; active marks the one that serves. get_deployment tells its tools.",
      effect: "read",
      needs: ["deployments:read"],
      params: Input({ ...serverId, ...PageArguments }),
      success: PageOf(ListedDeployment),
      text: ({ data, meta }) => resultText({ data: data.map(standing), meta }),
      run: ({ serverId, ...page }) => deployments.list(serverId, page)
    }),
    tool({
      ...deploy,
      name: "get_deployment",
      title: "Read a deployment",
      description:
        "Reads one deployment: its status, progress, image, version, why it failed, whether it speaks MCP, its server's " +
        "tools. After a deploy call that was cut off it goes on.",
      effect: "read",
      needs: ["deployments:read"],
      params: Input(deploymentId),
      success: Deployment,
      text: (found) => resultText(standing(found)),
      run: (input) => deployments.get(input.serverId, input.deploymentId)
    }),
    tool({
      ...deploy,
      name: "wait_for_deployment",
      title: "Wait for a deployment",
      description:
        "Waits until a deployment has ended, at most timeoutSeconds (50 by default): ended false means that it goes on. " +
        "next says what to call. Use it after deploy with wait: false.",
      effect: "read",
      needs: ["deployments:read", "deployments:write"],
      params: Input({ ...deploymentId, timeoutSeconds: optional(WaitSeconds) }),
      success: WaitedFor,
      run: ({ timeoutSeconds = 50, ...which }, report) => deployments.waitFor(which, timeoutSeconds, report)
    }),
    tool({
      ...deploy,
      name: "cancel_deployment",
      title: "Cancel a deployment",
      description:
        "Ends a deployment that is pending or building, which canceling the call of deploy does not: it fails, its " +
        "machine is removed, and the version that serves goes on. For one that runs use rollback or stop_server.",
      effect: "replace",
      needs: ["deployments:write"],
      params: Input({ ...serverId, deploymentId: Schema.String }),
      success: Deployment,
      run: (input) => deployments.cancel(input.serverId, input.deploymentId)
    }),
    tool({
      ...deploy,
      name: "list_vulnerabilities",
      title: "List vulnerabilities",
      description:
        "Lists the vulnerabilities found in a deployment's image, the most severe first, with the versions that fix " +
        "them: rebuild the image with those and deploy it. meta.scanned is false where no scanner looked at the image: then " +
        "nothing is known of it.",
      effect: "read",
      needs: ["deployments:read"],
      params: Input({ ...serverId, deploymentId: Schema.String, ...vulnerabilitiesArguments }),
      success: Vulnerabilities,
      text: (found) =>
        found.meta.scanned
          ? resultText(found)
          : "Not scanned: nothing is known of its vulnerabilities. get_logs tells why",
      run: ({ deploymentId, serverId, ...request }) => deployments.vulnerabilities(serverId, deploymentId, request)
    }),
    tool({
      ...deploy,
      name: "start_server",
      title: "Start a server",
      description: "Starts what is deployed on a stopped server. One that is asleep is also woken by its next request.",
      effect: "update",
      needs: ["servers:write"],
      params: Input(serverId),
      success: Server,
      run: (input) => lifecycle.start(input.serverId)
    }),
    tool({
      ...deploy,
      name: "stop_server",
      title: "Stop a server",
      description:
        "Stops a server until start_server or deploy: no request wakes it, callers get 503, and it uses no machine time.",
      effect: "update",
      needs: ["servers:write"],
      params: Input(serverId),
      success: Server,
      run: (input) => lifecycle.stop(input.serverId)
    }),
    tool({
      ...deploy,
      name: "restart_server",
      title: "Restart a server",
      description:
        "Stops and starts what is deployed, for a server that hangs. Requests meanwhile wait until it runs again; sessions " +
        "begin anew. New variables come with deploy, not with this.",
      effect: "update",
      needs: ["servers:write"],
      params: Input(serverId),
      success: Server,
      run: (input) => lifecycle.restart(input.serverId)
    }),
    tool({
      ...deploy,
      name: "create_test_token",
      title: "Make a test token",
      description:
        "Makes an access token of 15 minutes for one server: connect an MCP client to {publicUrl}/mcp with it.",
      effect: "create",
      needs: ["servers:write"],
      params: Input(serverId),
      success: TestToken,
      run: (input) => tokens.createTestToken(input.serverId)
    })
  ]
})
