import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { OpenStreams } from "#http/callers/OpenStreams.ts"
import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Metrics } from "#src/servers/Metrics.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Servers } from "#src/servers/Servers.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"
import { ServersApi } from "./Api.ts"
import { logEvents, wantsEvents } from "./log-events.ts"

export const ServersHandlers = HttpApiBuilder.group(apiOf(ServersApi), "servers", (handlers) =>
  Effect.gen(function*() {
    const servers = yield* Servers
    const logs = yield* ServerLogs
    const metrics = yield* Metrics
    const streams = yield* OpenStreams

    return handlers
      .handle("list", ({ urlParams }) => servers.list(urlParams))
      .handle("listOf", ({ path, urlParams }) => servers.listOf(path.projectId, urlParams))
      .handle("create", ({ path, payload }) => Effect.map(servers.create(path.projectId, payload), data))
      .handle("get", ({ path }) => Effect.map(servers.get(path.serverId), data))
      .handle("update", ({ path, payload }) => Effect.map(servers.update(path.serverId, payload), data))
      .handle("remove", ({ path }) => servers.remove(path.serverId))
      .handle("configureAuth", ({ path, payload }) => Effect.map(servers.configureAuth(path.serverId, payload), data))
      .handle("metrics", ({ path, urlParams }) => Effect.map(metrics.read(path.serverId, urlParams), data))
      .handle("metricsSeries", ({ path, urlParams }) => Effect.map(metrics.series(path.serverId, urlParams), data))
      .handle("metricsTools", ({ path, urlParams }) => Effect.map(metrics.tools(path.serverId, urlParams), data))
      .handle("logs", ({ path, request, urlParams }) =>
        wantsEvents(request)
          ? logs.follow(path.serverId, urlParams, request.headers["last-event-id"]).pipe(
            Effect.zipLeft(Effect.flatMap(CurrentActor, streams.enter)),
            Effect.map(logEvents)
          )
          : Effect.map(logs.list(path.serverId, urlParams), data))
  })).pipe(Layer.provide(OpenStreams.Default))
