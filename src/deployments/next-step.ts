import { type Actor } from "#src/accounts/CurrentActor.ts"
import { type Deployment } from "./Deployment.ts"

const canceled = "Canceled by"

/** What an agent calls after it waited for a deployment. `serving`: the version that serves all the same. */
export const nextStep = (
  { errorMessage, status }: Pick<Deployment, "errorMessage" | "status">,
  serving: number | undefined
) => {
  const stays = serving === undefined ? "" : `Version ${serving} still serves, so no rollback is needed. `
  if (errorMessage?.startsWith(canceled)) return `${stays}deploy begins another one`
  if (status === "failed") return `${stays}get_logs tells what its program printed; deploy again when it is mended`
  return status === "pending" || status === "building"
    ? "wait_for_deployment again; cancel_deployment (call_tool) ends it"
    : "create_test_token makes a token to try it with"
}

/** Who canceled a deployment, for its record and log. */
export const canceledBy = (actor: Actor) => `${canceled} ${callerName(actor)}`

const callerName = ({ credential, email }: Actor) =>
  credential.kind === "session"
    ? email
    : credential.kind === "oauth"
    ? `the client ${credential.id}`
    : `the key ${credential.id}`
