import { HostedFetchLive } from "#http/gateway/hosted-fetch.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { CallableComposites } from "#src/composites/CallableComposites.ts"
import { MemberCalls } from "#src/composites/MemberCalls.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { CompositeDoor } from "#tools/CompositeDoor.ts"
import { HttpRouter } from "@effect/platform"
import { Effect, Layer } from "effect"
import { challenging, enterBy, preflightBy } from "./enter.ts"
import { readAhead } from "./read-ahead.ts"
import { answerWhole, notAllowed } from "./streamable.ts"

const path = "/mcp/composites/:compositeId"
const traits = { credential: "mcp", takes: "sessionOrHubKey", codes: "lower" } as const

const routes = rawRoutes((add) =>
  Effect.gen(function*() {
    const door = yield* CompositeDoor
    const settings = yield* CurrentSettings
    const readings = readAhead(door.begin)
    const enter = enterBy(settings)
    const withChallenge = challenging(settings)

    yield* add(
      "POST",
      path,
      { ...traits, body: "message", ahead: readings.begin },
      Effect.gen(function*() {
        const { actor, request } = yield* enter
        const { compositeId = "" } = yield* HttpRouter.params
        const server = yield* door.open(compositeId, readings.of(request, actor)).pipe(
          Effect.tap((opened) => door.permit(opened, request.json)),
          Effect.flatMap(door.server),
          Effect.provideService(CurrentActor, actor)
        )
        return yield* answerWhole(request, server)
      }).pipe(withChallenge)
    )
    const rejected = withChallenge(Effect.as(enter, notAllowed))
    yield* add("GET", path, { ...traits, alwaysRejects: true }, rejected)
    yield* add("DELETE", path, { ...traits, alwaysRejects: true }, rejected)
    yield* add("OPTIONS", path, traits, preflightBy(settings))
  })
)

const composites = CallableComposites.Default.pipe(
  Layer.provide(MemberCalls.Default),
  Layer.provide(HostedFetchLive)
)

/** Composites over MCP: Streamable HTTP, stateless, so that any instance can answer. Needs the gateway of this process. */
export const CompositeRoutes = Layer.provide(routes, Layer.provide(CompositeDoor.Default, composites))
