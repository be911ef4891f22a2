import { LogAsJson } from "#src/shared/logging.ts"
import { Command, Options } from "@effect/cli"
import { Effect, Option } from "effect"
import cluster from "node:cluster"
import { availableParallelism } from "node:os"
import { enoughDescriptors } from "./descriptors.ts"
import { fail, orSay } from "./fail.ts"

const noDemo = Options.boolean("no-demo").pipe(
  Options.withDescription("Leave out the sample restaurant that is deployed in an empty home")
)

const json = Options.boolean("json").pipe(
  Options.withDescription("Log in lines of JSON, as it does in production without it")
)

const role = Options.choice("role", ["all", "gateway"]).pipe(
  Options.withDefault("all"),
  Options.withDescription("all, or gateway: the way to hosted servers alone, beside a process that has the rest")
)

const mostProcesses = 64

const processes = Options.integer("processes").pipe(
  Options.optional,
  Options.withDescription("How many processes of a gateway share the port; as many as there are processors by default")
)

// Imported where they are needed, so that client commands start without loading the platform.
const serveAll = (options: { readonly demo: boolean }) =>
  Effect.flatMap(
    Effect.promise(() => import("./platform-process.ts")),
    ({ platform }) => Effect.zipRight(enoughDescriptors, platform(options))
  )

const serveGateway = (count: number) =>
  count > 1 && cluster.isPrimary
    ? Effect.flatMap(Effect.promise(() => import("./workers.ts")), ({ superviseWorkers }) => superviseWorkers(count))
    : Effect.flatMap(
      Effect.promise(() => import("./gateway-process.ts")),
      ({ gateway }) => Effect.zipRight(enoughDescriptors, gateway)
    )

/** `berth serve`: runs until SIGINT or SIGTERM. */
export const serveCommand = Command.make(
  "serve",
  { noDemo, processes, role, json },
  ({ json, noDemo, processes, role }) => {
    if (role === "all") {
      return Option.isSome(processes)
        ? fail("--processes is for --role gateway: one process alone runs machines")
        : orSay(Effect.scoped(serveAll({ demo: !noDemo }))).pipe(Effect.provideService(LogAsJson, json))
    }
    const count = Option.getOrElse(processes, availableParallelism)
    return count < 1 || count > mostProcesses
      ? fail(`--processes must be from 1 to ${mostProcesses}`)
      : orSay(Effect.scoped(serveGateway(count))).pipe(Effect.provideService(LogAsJson, json))
  }
)
