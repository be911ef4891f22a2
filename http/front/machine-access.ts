import { machineBehind } from "#http/callers/machine-caller.ts"
import { pathOf } from "#http/connection/path-of.ts"
import { routeMiddleware } from "#http/traits/route-middleware.ts"
import { type Settings } from "#src/config/Settings.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Schema } from "effect"

/** A machine requested a route that is not open to machines. */
export class NotForMachines extends Schema.TaggedError<NotForMachines>()("NotForMachines", {}, failsWith(403)) {
  override get message() {
    return "From inside a machine only token introspection, the signing keys, the metadata documents and the server's " +
      "own configuration (/api/v1/ready/self/config) can be reached"
  }
}

/**
 * Limits machines to routes with the trait `forMachines`. None of these acts for a client or fetches from elsewhere
 * (docs/decisions/what-a-machine-reaches.md). The path must be exactly the route's, since the router ignores a slash at
 * the end.
 */
export const restrictsMachines = ({ trustProxy }: Settings) =>
  routeMiddleware<NotForMachines>((request, { path, traits }, app) => {
    const isAllowed = traits.forMachines && pathOf(request.url) === path
    if (isAllowed) return app
    const machine = machineBehind(NodeHttpServerRequest.toIncomingMessage(request), trustProxy)
    return machine === undefined ? app : new NotForMachines()
  })
