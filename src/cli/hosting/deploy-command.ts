import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { json, show } from "#src/cli/json-output.ts"
import { word } from "#src/cli/word.ts"
import { type ConfigureAuth } from "#src/servers/ByoaConfig.ts"
import { type Server } from "#src/servers/Server.ts"
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Option, Predicate, Record } from "effect"
import { ensureServer } from "./ensure-server.ts"
import { follow, isUnusable, showEnd } from "./follow.ts"
import { makeFolder } from "./make-folder.ts"
import { access, connect, type Connected, orEnd } from "./platform.ts"
import { type ServerFile } from "./ServerFile.ts"
import { takingBack } from "./take-back.ts"
import { config } from "./target.ts"
import { whatToDeploy } from "./what-to-deploy.ts"

const image = word("image").pipe(
  Args.withDescription("A folder, an OCI image, npm:… or pypi:…; server.image of berth.toml without it"),
  Args.optional
)
const transport = Options.choice("transport", ["stdio", "http"]).pipe(
  Options.withDescription("Of a folder: how its server speaks MCP; found out without it"),
  Options.optional
)
const fresh = Options.boolean("fresh").pipe(
  Options.withDescription("Of a package: resolve what it needs anew, also of a version that served before")
)
const noWait = Options.boolean("no-wait").pipe(Options.withDescription("Don't wait for the deployment's end"))

const byoaUrl = (name: string, what: string) =>
  Options.text(name).pipe(Options.withDescription(`With --auth-mode byoa: ${what}`), Options.optional)

/** Contract: Resources and their fields, BYOA settings. */
const auth = {
  authMode: Options.choice("auth-mode", ["service_managed", "byoa"]).pipe(
    Options.withDescription("Who protects the server; as it is without it"),
    Options.optional
  ),
  issuer: byoaUrl("byoa-issuer", "the issuer of your authorization server"),
  jwksUri: byoaUrl("byoa-jwks-uri", "where its keys are"),
  authorizationEndpoint: byoaUrl("byoa-authorization-endpoint", "its authorization endpoint"),
  tokenEndpoint: byoaUrl("byoa-token-endpoint", "its token endpoint")
}
type AuthOptions = Readonly<Record<Exclude<keyof typeof auth, "authMode">, Option.Option<string>>> & {
  readonly authMode: Option.Option<"byoa" | "service_managed">
}

const badOptions = (message: string) => new CliFailure({ message, code: exitCodes.failed })

/** What the options say of the server's authorization; none when they say nothing. */
const authOf = ({ authMode, ...urls }: AuthOptions) =>
  Effect.gen(function*() {
    const given = Object.values(urls).filter(Option.isSome).length
    if (Option.isNone(authMode) || authMode.value === "service_managed") {
      if (given > 0) return yield* badOptions("--byoa-… options are for --auth-mode byoa")
      return Option.map(authMode, (authMode): typeof ConfigureAuth.Type => ({ authMode }))
    }
    const byoaConfig = Option.all(urls)
    if (Option.isNone(byoaConfig)) {
      return yield* badOptions(
        "--auth-mode byoa needs --byoa-issuer, --byoa-jwks-uri, --byoa-authorization-endpoint and --byoa-token-endpoint"
      )
    }
    return Option.some<typeof ConfigureAuth.Type>({ authMode: "byoa", byoaConfig: byoaConfig.value })
  })

const needVariables = Effect.fn("cli.needVariables")(function*(
  { api }: Connected,
  server: Server,
  names: ReadonlyArray<string>
) {
  if (names.length === 0) return
  const { data: set } = yield* api.environment.names({ path: { serverId: server.id } })
  const missing = names.filter((name) => !set.includes(name))
  if (missing.length > 0) {
    return yield* badOptions(
      `The server lacks ${missing.join(", ")}, which server.env of the file names. Set each: berth env set ${
        missing[0]
      }`
    )
  }
})

/** What the file says of how the program is run. How a folder's server speaks MCP is in the image made of it. */
const runOf = ({ deploy = {} }: ServerFile, isFolder: boolean) => {
  const { args, command, node, package_scripts: packageScripts, processes, transport } = deploy
  const said = { args, command, node, packageScripts, processes, transport: isFolder ? undefined : transport }
  return Record.filter(said, Predicate.isNotUndefined)
}

/** `berth deploy`: makes the server what berth.toml says, and deploys an image to it. */
export const deployCommand = Command.make(
  "deploy",
  { image, ...access, config, fresh, noWait, transport, json, ...auth },
  ({ config, fresh, image, json, noWait, token, transport, url, ...options }) =>
    Effect.scoped(Effect.gen(function*() {
      const { chosen, file } = yield* whatToDeploy(image, config)
      if (Option.isSome(transport) && !("folder" in chosen)) {
        return yield* badOptions(
          "--transport is for folders: an image serves HTTP, and deploy.transport of berth.toml is for a package"
        )
      }
      const change = yield* authOf(options)
      const connected = yield* connect({ url, token })
      const made = "folder" in chosen
        ? yield* makeFolder(chosen.folder, Option.getOrElse(transport, () => file.deploy?.transport))
        : chosen
      const { begun, server } = yield* takingBack((created) =>
        Effect.gen(function*() {
          const server = yield* ensureServer(connected, file, config, created)
          const path = { serverId: server.id }
          if (Option.isSome(change)) yield* connected.api.servers.configureAuth({ path, payload: change.value })
          yield* needVariables(connected, server, file.server.env ?? [])
          const imageUri = "image" in made ? made.image : yield* made.push(connected, server)
          const again = fresh ? { freshDependencies: true } : {}
          const payload = { imageUri, ...runOf(file, "folder" in chosen), ...again, wait: false }
          const { data: begun } = yield* connected.api.deployments.deploy({ path, payload })
          return { begun, server }
        })
      )
      if (noWait) return yield* show(json, begun, () => `${begun.id}  version ${begun.version} of ${server.publicUrl}`)
      const ended = yield* follow(connected, begun)
      yield* showEnd(ended, server, json)
      yield* Console.error(
        isUnusable(ended, { authMode: Option.getOrUndefined(options.authMode) ?? server.authMode })
          ? "It runs, but clients may fail: the platform's own MCP handshake with it failed, as shown above. Mend that and " +
            "deploy again; berth logs has what the server printed"
          : "Connect a client: berth connect --claude, --cursor or --vscode"
      )
    })).pipe(orEnd(url))
)
