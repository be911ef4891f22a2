import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { json, show } from "#src/cli/json-output.ts"
import { savedCredentials } from "#src/cli/login/credentials.ts"
import { isNothingAt } from "#src/cli/mcp/endpoint.ts"
import { printable } from "#src/cli/mcp/render.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { Args, Command, Options } from "@effect/cli"
import { FileSystem } from "@effect/platform"
import { Console, Effect, Option } from "effect"
import { dirname } from "node:path"
import { clients, withServer } from "./client-config.ts"
import { clientLines, type Found, foundAt } from "./client-lines.ts"
import { isUnusable } from "./follow.ts"
import { access, connect, type Connected, facts, orEnd } from "./platform.ts"
import { findServer, target } from "./target.ts"

type Name = keyof typeof clients
const names = Object.keys(clients) as Array<Name>

const flag = (name: Name) =>
  Options.boolean(name).pipe(Options.withDescription(`For ${clients[name].title}: ${clients[name].file}`))

const write = Options.boolean("write").pipe(
  Options.withDescription("Write it into the client's file in this folder, beside what is there")
)

/** The text of a file, "" when there is none. */
const textOf = Effect.fn("cli.textOf")(function*(file: string) {
  return yield* (yield* FileSystem.FileSystem).readFileString(file).pipe(
    Effect.catchIf(
      (error) => error._tag === "SystemError" && error.reason === "NotFound",
      () => Effect.succeed("")
    ),
    Effect.mapError(({ message }) => new CliFailure({ message, code: exitCodes.badFile }))
  )
})

/** Written aside and renamed, so that a crash leaves the file as it was. */
const save = Effect.fn("cli.saveClientFile")(
  function*(file: string, text: string) {
    const files = yield* FileSystem.FileSystem
    yield* files.makeDirectory(dirname(file), { recursive: true })
    yield* files.writeFileString(`${file}.new`, text)
    yield* files.rename(`${file}.new`, file)
  },
  (effect, file) =>
    Effect.mapError(
      effect,
      ({ message }) => new CliFailure({ message: `${file} can't be written: ${message}`, code: exitCodes.badFile })
    )
)

const address = Args.text({ name: "url" }).pipe(
  Args.withDescription(
    "The URL of any hosted server, such as a listing names; left out: your own, of berth.toml or --server"
  ),
  Args.optional
)

/** By its URL. The installation of the command, or of a login here, is asked whether it is there; nobody else is told. */
const foundIn = Effect.fn("cli.connectUrl")(function*(text: string, installation: string) {
  const url = parseUrl(text)
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return yield* new CliFailure({
      message: `${JSON.stringify(text)} is not the URL of a server`,
      code: exitCodes.failed
    })
  }
  const own = parseUrl(installation)?.origin
  const found = foundAt(url, own)
  const origins = [own, ...Object.keys(yield* savedCredentials)]
  if (origins.includes(url.origin) && (yield* isNothingAt(new URL(found.endpoint)))) {
    return yield* new CliFailure({
      message: `No server of this platform has this URL: ${found.endpoint}`,
      code: exitCodes.notFound
    })
  }
  return found
})

/** One of the account's own servers. One that does not run because its deployment failed is not written into a client's file. */
const foundOf = Effect.fn("cli.connectServer")(
  function*(connected: Connected, target: Parameters<typeof findServer>[1], write: boolean) {
    const { authMode, id, publicUrl, slug, status } = yield* findServer(connected, target)
    // SSE alone: the handshake of its newest deployment has told.
    const { data: [newest] } = yield* connected.api.deployments.list({
      path: { serverId: id },
      urlParams: { limit: 1 }
    })
    // What was asked for is told all the same: somebody may set a client up before the server.
    if (newest === undefined) yield* Console.error("Nothing is deployed to it yet: berth deploy")
    else if (newest.status === "failed" && status === "error") {
      const message = printable(`Its deployment failed: ${newest.errorMessage ?? ""}\nMend that and deploy again`)
      if (write) return yield* new CliFailure({ message, code: exitCodes.deploymentFailed })
      yield* Console.error(message)
    } else if (isUnusable(newest, { authMode })) {
      yield* Console.error(printable(
        `Clients may fail, as the platform's own MCP handshake with it failed: ${newest.mcp?.problem ?? ""}`
      ))
    }
    return { name: slug, endpoint: `${publicUrl}/${newest?.mcp?.transport === "sse" ? "sse" : "mcp"}` } satisfies Found
  }
)

/** `berth connect`: what a client must know to use a server. Its user signs in there, in a browser. */
export const connectCommand = Command.make(
  "connect",
  {
    address,
    claude: flag("claude"),
    cursor: flag("cursor"),
    vscode: flag("vscode"),
    write,
    ...access,
    ...target,
    json
  },
  ({ address, config, json, server, token, url, write, ...flags }) =>
    Effect.gen(function*() {
      const [chosen, second] = names.filter((name) => flags[name])
      if (second !== undefined || write && chosen === undefined) {
        return yield* new CliFailure({
          message: "Say which one client: --claude, --cursor or --vscode",
          code: exitCodes.failed
        })
      }
      const found = Option.isSome(address)
        ? yield* foundIn(address.value, url)
        : yield* foundOf(yield* connect({ url, token }), { config, server }, write)
      const { endpoint, name } = found
      if (chosen === undefined) {
        const lines = clientLines(found)
        return yield* show(json, { name, url: endpoint, lines }, () => facts(lines))
      }
      const client = clients[chosen]
      const before = write ? yield* textOf(client.file) : ""
      const text = Option.fromNullable(withServer(before, client, name, endpoint))
      if (Option.isNone(text)) {
        return yield* new CliFailure({
          message: `${client.file} is not a configuration of ${client.title}; mend it, or leave --write out`,
          code: exitCodes.badFile
        })
      }
      if (!write) {
        yield* show(
          json,
          { file: client.file, url: endpoint, written: false, configuration: JSON.parse(text.value) as unknown },
          () => text.value.trimEnd()
        )
        return yield* Console.error(`For ${client.file}; --write writes it there`)
      }
      yield* save(client.file, text.value)
      yield* show(
        json,
        { file: client.file, url: endpoint, written: true },
        () => `${client.title} finds ${endpoint} in ${client.file}`
      )
    }).pipe(orEnd(url))
)
