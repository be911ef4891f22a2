import { Effect } from "effect"
import { ServersRepo } from "./ServersRepo.ts"

/**
 * Changes the state of a server, by the table of transitions.ts. Each call runs in the caller's transaction, if there
 * is one.
 */
export class ServerStates extends Effect.Service<ServerStates>()("servers/ServerStates", {
  effect: Effect.map(
    ServersRepo,
    ({ deploymentBegun, deploymentFailed, deploymentServes, apply, fallAsleep, pausing, restarting, wakeFailed }) => ({
      deploymentBegun,
      /** Makes the deployment the active one: a new generation of the server. */
      deploymentServes,
      deploymentFailed,
      /**
       * The server in its new state; none when it is gone, has a newer deployment, or its state does not allow the event.
       */
      apply,
      /** Once more under the condition, in the same statement: none when it does not hold. */
      fallAsleep,
      restarting,
      pausing,
      wakeFailed
    })
  )
}) {}
