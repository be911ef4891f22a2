import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { NoDescriptorLeft, TooManyStreams } from "#http/callers/OpenStreams.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { PlanLimitReached } from "#src/plans/PlanLimitReached.ts"
import { ProjectNotFound } from "#src/projects/Project.ts"
import { ConfigureAuth } from "#src/servers/ByoaConfig.ts"
import { CreateServer, Server, ServerNotFound, SlugTaken, UpdateServer } from "#src/servers/Server.ts"
import { LogPage, LogQuery } from "#src/servers/ServerLog.ts"
import { MetricsQuery, MetricsSeries, ServerMetrics, ToolMetrics } from "#src/servers/ServerMetrics.ts"
import { BadRequest, Invalid } from "#src/shared/Failure.ts"
import { PageOf, PageQuery } from "#src/shared/paging.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"

export const serverPath = Schema.Struct({ serverId: Schema.String })
const projectPath = Schema.Struct({ projectId: Schema.String })

export class ServersApi extends HttpApiGroup.make("servers")
  .add(
    HttpApiEndpoint.get("list", "/v1/servers")
      .setUrlParams(PageQuery)
      .addSuccess(PageOf(Server))
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "List servers of all projects (session) or of the key's project, newest first")
  )
  .add(
    HttpApiEndpoint.get("listOf", "/v1/projects/:projectId/servers")
      .setPath(projectPath)
      .setUrlParams(PageQuery)
      .addSuccess(PageOf(Server))
      .addError(ProjectNotFound)
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "List a project's servers, newest first")
  )
  .add(
    HttpApiEndpoint.post("create", "/v1/projects/:projectId/servers")
      .setPath(projectPath)
      .setPayload(CreateServer)
      .addSuccess(Data(Server), { status: 201 })
      .addError(ProjectNotFound)
      .addError(SlugTaken)
      .addError(PlanLimitReached)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Create a server")
      .annotate(
        OpenApi.Description,
        "It runs from its first deployment on. The plan limits servers, region, auto-stop."
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/v1/servers/:serverId")
      .setPath(serverPath)
      .addSuccess(Data(Server))
      .addError(ServerNotFound)
      .annotate(OpenApi.Summary, "Read a server")
  )
  .add(
    HttpApiEndpoint.patch("update", "/v1/servers/:serverId")
      .setPath(serverPath)
      .setPayload(UpdateServer)
      .addSuccess(Data(Server))
      .addError(ServerNotFound)
      .addError(PlanLimitReached)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Change a server; at least one field")
      .annotate(
        OpenApi.Description,
        "cpu, memory and health settings take effect at the next deployment, autoStopSeconds and egress at once. " +
          "egress takes {add: [host]} too: these hosts beside those that are allowed now."
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/v1/servers/:serverId")
      .setPath(serverPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(ServerNotFound)
      .annotate(OpenApi.Summary, "Stop and delete a server with its deployments; irreversible")
  )
  .add(
    HttpApiEndpoint.put("configureAuth", "/v1/servers/:serverId/auth")
      .setPath(serverPath)
      .setPayload(ConfigureAuth)
      .addSuccess(Data(Server))
      .addError(ServerNotFound)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Choose who protects the server: service_managed, or byoa with your own issuer")
      .annotate(
        OpenApi.Description,
        "With access list only the owner, and the users of allowedEmails whose addresses the operator has verified, are " +
          "let in; the answer's notice says so. Who is let in counts from the next consent or refresh on."
      )
  )
  .add(
    HttpApiEndpoint.get("logs", "/v1/servers/:serverId/logs")
      .setPath(serverPath)
      .setUrlParams(LogQuery)
      .addSuccess(Data(LogPage))
      .addError(ServerNotFound)
      .addError(BadRequest)
      .addError(TooManyStreams)
      .addError(NoDescriptorLeft)
      .annotate(OpenApi.Summary, "Read a server's log, newest first: its deployments' stages and its own output")
  )
  .add(
    HttpApiEndpoint.get("metrics", "/v1/servers/:serverId/metrics")
      .setPath(serverPath)
      .setUrlParams(MetricsQuery)
      .addSuccess(Data(ServerMetrics))
      .addError(ServerNotFound)
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "Read how many requests a server got in a period, its errors and its latency")
  )
  .add(
    HttpApiEndpoint.get("metricsSeries", "/v1/servers/:serverId/metrics/series")
      .setPath(serverPath)
      .setUrlParams(MetricsQuery)
      .addSuccess(Data(MetricsSeries))
      .addError(ServerNotFound)
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "Read the same step by step: minutes of 1h, hours of 24h, 6 hours of 7d, days of 30d")
  )
  .add(
    HttpApiEndpoint.get("metricsTools", "/v1/servers/:serverId/metrics/tools")
      .setPath(serverPath)
      .setUrlParams(MetricsQuery)
      .addSuccess(Data(ToolMetrics))
      .addError(ServerNotFound)
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "Read how often each tool of a server was called, by whom, its errors and its latency")
      .annotate(
        OpenApi.Description,
        "Calls in bodies of up to 64 KiB, that are not compressed. None of a server in byoa mode."
      )
  )
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Servers")
{}
