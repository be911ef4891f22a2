import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { json, show } from "#src/cli/json-output.ts"
import { printable } from "#src/cli/mcp/render.ts"
import { type LogEntry, LogLevel } from "#src/servers/ServerLog.ts"
import { Command, Options } from "@effect/cli"
import { Console, Effect, Option, Stream } from "effect"
import { access, connect, orEnd } from "./platform.ts"
import { findServer, target } from "./target.ts"

const options = {
  follow: Options.boolean("follow").pipe(Options.withAlias("f"), Options.withDescription("Go on with new lines")),
  limit: Options.integer("limit").pipe(
    Options.withAlias("n"),
    Options.withDescription("The newest lines to print, 1 to 200"),
    Options.withDefault(50)
  ),
  level: Options.choice("level", LogLevel.literals).pipe(Options.withDescription("Of this level"), Options.optional),
  search: Options.text("search").pipe(Options.withDescription("With this text"), Options.optional)
}

const given = <A>(name: string, value: Option.Option<A>) => Option.isSome(value) ? { [name]: value.value } : {}

/** `berth logs -f`: what a server's deployments did, and what it printed. */
export const logsCommand = Command.make(
  "logs",
  { ...access, ...target, ...options, json },
  ({ config, follow, json, level, limit, search, server, token, url }) =>
    Effect.gen(function*() {
      const print = (entry: typeof LogEntry.Type) =>
        Console.log(
          json
            ? JSON.stringify(entry)
            : `${entry.timestamp.toISOString()} ${entry.level.padEnd(5)} ${printable(entry.message)}`
        )
      if (follow && (Option.isSome(level) || Option.isSome(search))) {
        return yield* new CliFailure({
          message: "--level and --search are for lines that are there: leave them out beside --follow",
          code: exitCodes.failed
        })
      }
      const connected = yield* connect({ url, token })
      const { id } = yield* findServer(connected, { config, server })
      const { data } = yield* connected.api.servers.logs({
        path: { serverId: id },
        urlParams: { limit, ...given("level", level), ...given("search", search) }
      })
      const lines = data.items.toReversed()
      if (json && !follow) return yield* show(json, lines, () => "")
      yield* Effect.forEach(lines, print)
      if (!follow) return
      const { followLog } = yield* Effect.promise(() => import("./log-stream.ts"))
      yield* followLog(connected, id, data.items[0]?.id).pipe(
        Stream.runForEach(print),
        Effect.catchTag("Refused", ({ status }) =>
          new CliFailure({
            message: `The installation answered with status ${status}`,
            code: status === 404 ? exitCodes.notFound : exitCodes.notLetIn
          }))
      )
    }).pipe(orEnd(url))
)
