import { deployFields, Deployment, ListedDeployment, rollbackFields } from "#src/deployments/Deployment.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { Lifecycle } from "#src/deployments/Lifecycle.ts"
import { TestToken, TestTokens } from "#src/oauth/TestTokens.ts"
import { Server } from "#src/servers/Server.ts"
import { PageArguments, PageOf } from "#src/shared/paging.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

const serverId = { serverId: Schema.String }
const deploy = { toolset: "deploy" } as const

export const deploymentTools = Effect.gen(function*() {
  const deployments = yield* Deployments
  const lifecycle = yield* Lifecycle
  const tokens = yield* TestTokens

  return [
    tool({
      ...deploy,
      name: "deploy",
      title: "Deploy an image",
      description: "Deploys an OCI image to a server and waits for the end: running, or failed with an errorMessage " +
        "(then get_logs tells more). mcp tells whether it speaks MCP, and its tools; a problem there does not fail it. The version that serves goes on until the new one is healthy. Reports progress.",
      effect: "create",
      needs: ["deployments:write"],
      params: Input({ ...serverId, ...deployFields }),
      success: Deployment,
      run: ({ serverId, ...input }, report) =>
        Effect.flatMap(deployments.deploy(serverId, input), ({ id }) => deployments.follow(id, report))
    }),
    tool({
      ...deploy,
      name: "rollback",
      title: "Roll back",
      description: "Deploys the stored image of an earlier version again, as a new deployment, and waits for the end.",
      effect: "create",
      needs: ["deployments:write"],
      params: Input({ ...serverId, ...rollbackFields }),
      success: Deployment,
      run: ({ serverId, ...input }, report) =>
        Effect.flatMap(deployments.rollback(serverId, input), ({ id }) => deployments.follow(id, report))
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
      run: ({ serverId, ...page }) => deployments.list(serverId, page)
    }),
    tool({
      ...deploy,
      name: "get_deployment",
      title: "Read a deployment",
      description:
        "Reads one deployment: its status, image, version, why it failed, whether it speaks MCP, and its server's tools.",
      effect: "read",
      needs: ["deployments:read"],
      params: Input({ ...serverId, deploymentId: Schema.String }),
      success: Deployment,
      run: (input) => deployments.get(input.serverId, input.deploymentId)
    }),
    tool({
      ...deploy,
      name: "start_server",
      title: "Start a server",
      description: "Starts what is deployed on a stopped server.",
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
      description: "Stops a server until it is started or deployed again; its callers get 503 meanwhile.",
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
      description: "Stops and starts what is deployed; requests meanwhile get 503.",
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
