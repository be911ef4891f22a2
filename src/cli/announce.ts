import { BlobStore } from "#src/blobs/BlobStore.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Cause, Console, Effect } from "effect"
import { demo, shouldShowDemo } from "./Demo.ts"

/** How to call the command in a checkout. */
const command = "npx berth"

const show = ({ email, token, url }: Effect.Effect.Success<ReturnType<typeof demo>>) =>
  Console.log(`
A restaurant's MCP server is live, protected by OAuth:

  MCP URL    ${url}
  Account    ${email}, its password is in demo.json of the home folder

Read the menu through the gateway, in another terminal. The token is good for 15 minutes; after ${command} login the
tool create_test_token makes another:

  ${command} call ${url} browse_catalog --token ${token}
`)

/** Logs the driver, the URLs and what is wrong with the store of documents at start; in an empty development home it sets up the demo. */
export const announce = Effect.fn("cli.announce")(function*(options: { readonly demo: boolean }) {
  const { baseUrl } = yield* CurrentSettings
  const { driver, guarantees } = yield* Machines
  const { enforces, lacks } = yield* guarantees
  yield* Effect.log(`Machines run in the ${driver.name} driver (${driver.tier}): ${enforces.join("; ")}`)
  if (lacks.length > 0) yield* Effect.logWarning(`Machines on this host lack: ${lacks.join("; ")}`)
  // Nobody waits for it: the rest works without.
  yield* Effect.fork(Effect.ignore((yield* BlobStore).check))
  yield* Effect.log(`Berth is ready: ${baseUrl} (API at ${baseUrl}/docs, MCP at ${baseUrl}/mcp)`)
  if (!options.demo || !(yield* shouldShowDemo())) return
  yield* Effect.matchCauseEffect(demo(), {
    onSuccess: show,
    onFailure: (cause) => Effect.logError(`The demo stopped: ${Cause.pretty(cause)}`)
  })
})
