import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { didYouMean } from "#src/format/nearest.ts"
import { type Server } from "#src/servers/Server.ts"
import { type Page } from "#src/shared/paging.ts"
import { Options } from "@effect/cli"
import { FileSystem } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import { type Connected } from "./platform.ts"

export const fileName = "berth.toml"

export const config = Options.text("config").pipe(
  Options.withAlias("c"),
  Options.withDescription("The server's configuration file"),
  Options.withDefault(fileName)
)

/** Which server a command is about. */
export const target = {
  config,
  server: Options.text("server").pipe(
    Options.withAlias("s"),
    Options.withDescription("The server's id, slug or name; the one of berth.toml without it"),
    Options.optional
  )
}
interface Target {
  readonly config: string
  readonly server: Option.Option<string>
}

/** The server file, or a failure that names each wrong line. `otherwise` says what does without a file. */
export const loadServerFile = Effect.fn("cli.loadServerFile")(function*(path: string, otherwise?: string) {
  const text = yield* (yield* FileSystem.FileSystem).readFileString(path).pipe(
    Effect.mapError((error) =>
      new CliFailure({
        message: error._tag === "SystemError" && error.reason === "NotFound"
          ? `There is no ${path} here: berth init writes one${otherwise === undefined ? "" : `, and ${otherwise}`}`
          : `${path} can't be read: ${error.message}`,
        code: exitCodes.badFile
      })
    )
  )
  // With the schemas of a server: most commands are about one that is named.
  const { readServerFile } = yield* Effect.promise(() => import("./read-server-file.ts"))
  return yield* Either.mapLeft(
    readServerFile(text, path),
    (message) => new CliFailure({ message, code: exitCodes.badFile })
  )
})

/** All of a list, page by page. */
export const all = <A, E, R>(page: (cursor: { readonly cursor?: string }) => Effect.Effect<Page<A>, E, R>) =>
  Effect.gen(function*() {
    const found: Array<A> = []
    let cursor: string | null = null
    do {
      const { data, meta }: Page<A> = yield* page(cursor === null ? {} : { cursor })
      found.push(...data)
      cursor = meta.hasMore ? meta.cursor : null
    } while (cursor !== null)
    return found
  })

export const allServers = ({ api }: Connected) =>
  all((cursor) => api.servers.list({ urlParams: { limit: 100, ...cursor } }))

export const serversOf = ({ api }: Connected, projectId: string) =>
  all((cursor) => api.servers.listOf({ path: { projectId }, urlParams: { limit: 100, ...cursor } }))

const notFound = (message: string) => new CliFailure({ message, code: exitCodes.notFound })

const only = (found: ReadonlyArray<Server>, said: string, among: ReadonlyArray<Server>) => {
  const [first, second] = found
  if (first === undefined) {
    return notFound(`There is no server ${JSON.stringify(said)}.${didYouMean(said, among.map(({ slug }) => slug))}`)
  }
  return second === undefined ? Effect.succeed(first) : notFound(
    `There are ${found.length} servers ${JSON.stringify(said)}; give --server with one of the slugs: ${
      found.map(({ slug }) => slug).join(", ")
    }`
  )
}

/** The project of the file, if it is there. */
export const projectNamed = Effect.fn("cli.projectNamed")(function*({ api }: Connected, name: string) {
  const projects = yield* all((cursor) => api.projects.list({ urlParams: { limit: 100, ...cursor } }))
  const [first, second] = projects.filter((project) => project.name === name)
  if (second === undefined) return Option.fromNullable(first)
  return yield* new CliFailure({
    message: `There are several projects named ${JSON.stringify(name)}; rename all but one of them`,
    code: exitCodes.failed
  })
})

/** The server that `--server` or the file names. */
export const findServer = Effect.fn("cli.findServer")(function*(connected: Connected, { config, server }: Target) {
  if (Option.isSome(server)) {
    const said = server.value
    const servers = yield* allServers(connected)
    const exact = servers.filter(({ id, slug }) => id === said || slug === said)
    return yield* only(exact.length > 0 ? exact : servers.filter(({ name }) => name === said), said, servers)
  }
  const file = yield* loadServerFile(config, "--server names the server without one")
  const project = yield* projectNamed(connected, file.project.name)
  const servers = Option.isNone(project) ? [] : yield* serversOf(connected, project.value.id)
  const named = servers.filter(({ name }) => name === file.server.name)
  return named.length > 0 ? yield* only(named, file.server.name, servers) : yield* notFound(
    `The server ${JSON.stringify(file.server.name)} of ${config} is not there yet: berth deploy creates it`
  )
})
