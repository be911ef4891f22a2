import { Descriptors } from "#http/connection/Descriptors.ts"
import { Effect } from "effect"
import { makeGateway } from "./Gateway.ts"

/** The gateway of this process, for the listener and for composites. */
export class HostedGateway extends Effect.Service<HostedGateway>()("http/Gateway", {
  effect: makeGateway,
  dependencies: [Descriptors.Default]
}) {}
