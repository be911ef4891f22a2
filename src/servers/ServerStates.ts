import { Effect } from "effect"
import { ServersRepo } from "./ServersRepo.ts"

/**
 * Where the state of a server changes, by the table of transitions.ts. Each runs in the caller's transaction, if it has
 * one.
 */
export class ServerStates extends Effect.Service<ServerStates>()("servers/ServerStates", {
  effect: Effect.map(ServersRepo, ({ deploymentBegun, deploymentFailed, deploymentServes, happened }) => ({
    deploymentBegun,
    /** Makes the deployment the one that serves: a new generation of the server. */
    deploymentServes,
    deploymentFailed,
    /** The server in its new state; none when it is gone, was deployed to meanwhile, or is in no such state. */
    happened
  }))
}) {}
