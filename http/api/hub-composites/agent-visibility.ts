import { CurrentCaller } from "#http/callers/caller.ts"
import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { refuseAgentVisibility } from "#src/composites/agent-visibility.ts"
import { AgentCompositeVisibility } from "#src/composites/Composite.ts"
import { HttpApiMiddleware, HttpServerRequest } from "@effect/platform"
import { Effect, Layer } from "effect"

/** What a hub key may not say is refused before the rest of the body is looked at. */
export class NoAgentVisibility extends HttpApiMiddleware.Tag<NoAgentVisibility>()("http/NoAgentVisibility", {
  failure: AgentCompositeVisibility
}) {}

export const NoAgentVisibilityLive = Layer.succeed(
  NoAgentVisibility,
  NoAgentVisibility.of(Effect.gen(function*() {
    // Other callers get 401 before any error of the body.
    const caller = yield* CurrentCaller
    if (caller._tag !== "Authenticated") return
    const { json } = yield* HttpServerRequest.HttpServerRequest
    // Errors of the text itself are defects, as those of a payload are in HttpApi.
    yield* Effect.provideService(refuseAgentVisibility(yield* Effect.orDie(json)), CurrentActor, caller.actor)
  }))
)
