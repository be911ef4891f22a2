import { type OwnComposites } from "#src/composites/Composite.ts"
import { HttpApp, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

const withHeader = (name: string, value: string): Effect.Effect<void> =>
  HttpApp.appendPreResponseHandler((_, response) => Effect.succeed(HttpServerResponse.setHeader(response, name, value)))

/** Contract: composites are computed on every request, not cached. */
export const computedNow = withHeader("cache-control", "no-store")

/** Contract: Composite skill, a capped list of one's own. */
export const truncatedHeader = ({ truncated }: OwnComposites) =>
  truncated === true ? withHeader("x-truncated", "true") : Effect.void
