import { Data, data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { Deployment } from "#src/deployments/Deployment.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { Lifecycle } from "#src/deployments/Lifecycle.ts"
import { TestTokens } from "#src/oauth/TestTokens.ts"
import { HttpApiBuilder, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Schema } from "effect"
import { DeploymentsApi } from "./Api.ts"

const body = Schema.encodeSync(Data(Deployment))

/** RFC 7240 §4.1: the caller does not want to wait. */
const prefersAsync = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers }) => /(^|,)\s*respond-async\s*(;|,|$)/i.test(headers["prefer"] ?? "")
)

export const DeploymentsHandlers = HttpApiBuilder.group(
  apiOf(DeploymentsApi),
  "deployments",
  (handlers) =>
    Effect.gen(function*() {
      const deployments = yield* Deployments
      const lifecycle = yield* Lifecycle
      const tokens = yield* TestTokens

      const started = Effect.fn("http.deployment")(function*(deployment: Deployment, wait: boolean) {
        const preferred = yield* prefersAsync
        const accepted = preferred || !wait
        const location = `/v1/servers/${deployment.serverId}/deployments/${deployment.id}`
        return HttpServerResponse.unsafeJson(
          body(data(accepted ? deployment : yield* deployments.awaitEnd(deployment, () => Effect.void))),
          {
            status: accepted ? 202 : 201,
            headers: {
              ...(accepted ? { location } : {}),
              ...(preferred ? { "preference-applied": "respond-async" } : {})
            }
          }
        )
      })

      return handlers
        .handle("deploy", ({ path, payload: { wait = true, ...input } }) =>
          Effect.flatMap(deployments.deploy(path.serverId, input), (one) =>
            started(one, wait)))
        .handle("rollback", ({ path, payload: { wait = true, ...input } }) =>
          Effect.flatMap(deployments.rollback(path.serverId, input), (one) =>
            started(one, wait)))
        .handle("list", ({ path, urlParams }) =>
          deployments.list(path.serverId, urlParams))
        .handle("get", ({ path }) =>
          Effect.map(deployments.get(path.serverId, path.deploymentId), data))
        .handle("cancel", ({ path }) =>
          Effect.map(deployments.cancel(path.serverId, path.deploymentId), data))
        .handle("vulnerabilities", ({ path, urlParams }) =>
          deployments.vulnerabilities(path.serverId, path.deploymentId, urlParams))
        .handle("start", ({ path }) =>
          Effect.map(lifecycle.start(path.serverId), data))
        .handle("stop", ({ path }) =>
          Effect.map(lifecycle.stop(path.serverId), data))
        .handle("restart", ({ path }) => Effect.map(lifecycle.restart(path.serverId), data))
        .handle("createTestToken", ({ path }) => Effect.map(tokens.createTestToken(path.serverId), data))
    })
)
