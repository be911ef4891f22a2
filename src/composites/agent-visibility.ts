import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Effect, Predicate } from "effect"
import { AgentCompositeVisibility } from "./Composite.ts"

/**
 * Refuses what a hub key sends as `visibility` of a new composite, whatever it is and whatever else is wrong (contract:
 * Hub error codes): both doors ask before they decode.
 */
export const refuseAgentVisibility = (sent: unknown) =>
  Effect.flatMap(
    CurrentActor,
    ({ credential }) =>
      credential.kind === "hub" && Predicate.isRecord(sent) && Object.hasOwn(sent, "visibility")
        ? new AgentCompositeVisibility()
        : Effect.void
  )
