import { Data } from "#http/answers/envelope.ts"
import { serverPath } from "#http/api/servers/Api.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { NoBody } from "#http/callers/NoBody.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import {
  DeployInput,
  Deployment,
  DeploymentEnded,
  DeploymentInProgress,
  DeploymentNotFound,
  ListedDeployment,
  NotDeployed,
  RollbackInput,
  VersionNotFound,
  VersionNotKept
} from "#src/deployments/Deployment.ts"
import { TestToken, TokensIssuedElsewhere } from "#src/oauth/TestTokens.ts"
import { ComputeUsedUp } from "#src/plans/PlanLimitReached.ts"
import { Vulnerabilities, VulnerabilitiesQuery } from "#src/scanning/Finding.ts"
import { Server, ServerNotFound } from "#src/servers/Server.ts"
import { LowDisk, NoRoom } from "#src/shared/Disk.ts"
import { BadRequest, Invalid } from "#src/shared/Failure.ts"
import { PageOf, PageQuery } from "#src/shared/paging.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const waits = "Answers when the pipeline ended: `running`, or `failed` with `errorMessage`. With " +
  "`wait: false` or `Prefer: respond-async` it answers 202 at once with the pending deployment and a `Location` to look " +
  "at. Hanging up does not stop it. The new machine must answer healthPath with 200 and JSON; where `/healthz` answers " +
  "404, a successful MCP handshake passes in its place (`admittedBy`). `mcp` says how it answered the handshake, which " +
  "fails the deployment only where the server's `mcpRequired` is true."

const lifecycle = <Name extends "start" | "stop" | "restart">(name: Name, summary: string) =>
  HttpApiEndpoint.post(name, `/v1/servers/:serverId/${name}`)
    .setPath(serverPath)
    .addSuccess(Data(Server))
    .addError(ServerNotFound)
    .addError(NotDeployed)
    .addError(DeploymentInProgress)
    .addError(NoRoom)
    .addError(ComputeUsedUp)
    .middleware(NoBody)
    .annotate(OpenApi.Summary, summary)

export class DeploymentsApi extends HttpApiGroup.make("deployments")
  .add(
    HttpApiEndpoint.post("deploy", "/v1/servers/:serverId/deploy")
      .setPath(serverPath)
      .setPayload(DeployInput)
      .addSuccess(Data(Deployment), { status: 201 })
      .addSuccess(Data(Deployment), { status: 202 })
      .addError(ServerNotFound)
      .addError(DeploymentNotFound)
      .addError(DeploymentInProgress)
      .addError(LowDisk)
      .addError(ComputeUsedUp)
      .addError(Invalid)
      .annotate(
        OpenApi.Summary,
        "Deploy an OCI image or a package: resolve, scan, mirror, provision, health check, traffic swap"
      )
      .annotate(OpenApi.Description, waits)
  )
  .add(
    HttpApiEndpoint.post("rollback", "/v1/servers/:serverId/rollback")
      .setPath(serverPath)
      .setPayload(RollbackInput)
      .addSuccess(Data(Deployment), { status: 201 })
      .addSuccess(Data(Deployment), { status: 202 })
      .addError(ServerNotFound)
      .addError(DeploymentNotFound)
      .addError(VersionNotFound)
      .addError(VersionNotKept)
      .addError(ComputeUsedUp)
      .addError(DeploymentInProgress)
      .annotate(OpenApi.Summary, "Deploy the stored image of an earlier version, as a new deployment")
      .annotate(OpenApi.Description, waits)
  )
  .add(
    HttpApiEndpoint.get("list", "/v1/servers/:serverId/deployments")
      .setPath(serverPath)
      .setUrlParams(PageQuery)
      .addSuccess(PageOf(ListedDeployment))
      .addError(ServerNotFound)
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "List a server's deployments, newest first, without the tools of each")
  )
  .add(
    HttpApiEndpoint.get("get", "/v1/servers/:serverId/deployments/:deploymentId")
      .setPath(Schema.Struct({ serverId: Schema.String, deploymentId: Schema.String }))
      .addSuccess(Data(Deployment))
      .addError(DeploymentNotFound)
      .annotate(OpenApi.Summary, "Read one deployment: where a 202 points to")
  )
  .add(
    HttpApiEndpoint.post("cancel", "/v1/servers/:serverId/deployments/:deploymentId/cancel")
      .setPath(Schema.Struct({ serverId: Schema.String, deploymentId: Schema.String }))
      .addSuccess(Data(Deployment))
      .addError(DeploymentNotFound)
      .addError(DeploymentEnded)
      .middleware(NoBody)
      .annotate(OpenApi.Summary, "Cancel a deployment that has not ended: it fails, and what serves goes on")
      .annotate(
        OpenApi.Description,
        "The record is `failed` at once, with an `errorMessage` that says who canceled it; the pipeline ends before its " +
          "next stage and removes its machine. One that serves or has failed is 409 `DEPLOYMENT_ENDED`."
      )
  )
  .add(
    HttpApiEndpoint.get("vulnerabilities", "/v1/servers/:serverId/deployments/:deploymentId/vulnerabilities")
      .setPath(Schema.Struct({ serverId: Schema.String, deploymentId: Schema.String }))
      .setUrlParams(VulnerabilitiesQuery)
      .addSuccess(Vulnerabilities)
      .addError(DeploymentNotFound)
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "List the vulnerabilities found in a deployment's image, the most severe first")
      .annotate(
        OpenApi.Description,
        "Each id once for a package and version. `meta.scanned` is false where no scanner looked at the image: then " +
          "nothing is known of it. A rollback has those of the version that it deploys again."
      )
  )
  .add(lifecycle("start", "Start what is deployed"))
  .add(lifecycle("stop", "Stop the server until it is started or deployed again; no request wakes it"))
  .add(lifecycle("restart", "Stop and start what is deployed"))
  .add(
    HttpApiEndpoint.post("createTestToken", "/v1/servers/:serverId/test-token")
      .setPath(serverPath)
      .addSuccess(Data(TestToken), { status: 201 })
      .addError(ServerNotFound)
      .addError(TokensIssuedElsewhere)
      .middleware(NoBody)
      .annotate(OpenApi.Summary, "Make an access token of 15 minutes for the server, to try it")
  )
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Deployments")
{}
