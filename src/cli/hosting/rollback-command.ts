import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { json } from "#src/cli/json-output.ts"
import { Args, Command } from "@effect/cli"
import { Effect, Option } from "effect"
import { follow, showEnd } from "./follow.ts"
import { access, connect, type Connected, orEnd } from "./platform.ts"
import { all, findServer, target } from "./target.ts"

const version = Args.integer({ name: "version" }).pipe(
  Args.withDescription("The version to go back to; the one that served before without it"),
  Args.optional
)

/** The newest version that worked and is older than the one that serves. */
const before = Effect.fn("cli.versionBefore")(function*({ api }: Connected, serverId: string) {
  const deployments = yield* all((cursor) =>
    api.deployments.list({ path: { serverId }, urlParams: { limit: 100, ...cursor } })
  )
  const active = deployments.find((deployment) => deployment.active)
  const worked = deployments.find(({ deployedAt, imageDigest, status, version }) =>
    deployedAt !== null && status !== "failed" && version < (active?.version ?? 0) &&
    imageDigest !== active?.imageDigest
  )
  return worked?.version ?? (yield* new CliFailure({
    message: "There is no earlier version with another image to go back to; name one with berth rollback VERSION",
    code: exitCodes.notFound
  }))
})

/** `berth rollback [VERSION]`: an earlier version's stored image, as a new deployment. */
export const rollbackCommand = Command.make(
  "rollback",
  { version, ...access, ...target, json },
  ({ config, json, server, token, url, version }) =>
    Effect.gen(function*() {
      const connected = yield* connect({ url, token })
      const found = yield* findServer(connected, { config, server })
      const path = { serverId: found.id }
      const { data } = yield* connected.api.deployments.rollback({
        path,
        payload: { version: Option.isSome(version) ? version.value : yield* before(connected, found.id), wait: false }
      })
      yield* showEnd(yield* follow(connected, data), found, json)
    }).pipe(orEnd(url))
)
