import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { json, show } from "#src/cli/json-output.ts"
import { Region } from "#src/plans/Plan.ts"
import { newServer } from "#src/servers/Server.ts"
import { Command, Options } from "@effect/cli"
import { FileSystem } from "@effect/platform"
import { Console, Effect, Option } from "effect"
import { basename, resolve } from "node:path"
import { orEnd } from "./platform.ts"
import { serverFileJsonSchema } from "./ServerFile.ts"
import { config } from "./target.ts"

/** A basic string of TOML: JSON's escapes are among its own. */
const quoted = (text: string) => JSON.stringify(text)

interface Answers {
  readonly project: string
  readonly name: string
  readonly region: string
  readonly image: Option.Option<string>
}

const fileFor = ({ image, name, project, region }: Answers) =>
  `# What berth deploy creates and updates. Every key: berth schema

[project]
name = ${quoted(project)}

[server]
name = ${quoted(name)}
region = ${quoted(region)}
cpu = ${quoted(newServer.cpu)}
memory = "${newServer.memoryMb}mb"
${
    Option.match(image, {
      onNone: () => "# image = \"registry.example.com/name:tag\"  # or npm:… or pypi:…",
      onSome: (image) => `image = ${quoted(image)}`
    })
  }
# env = ["API_KEY"]  # must be set before a deployment: berth env set API_KEY
# egress = { allow = ["api.example.com"] }  # or "internet", or "none"
# guest_requests_per_minute = 60  # of each caller who is not you, or "any"
# guest_month_percent = 10  # of your plan's requests and machine time of the month, for each

[health]
path = ${quoted(newServer.healthPath)}
timeout = ${newServer.healthTimeoutSeconds}

[deploy]
auto_rollback = ${newServer.rollbackOnHealthCheckFailure}
retention_count = ${newServer.deploymentRetentionCount}  # at most; your plan may keep fewer
# args = ["--verbose"]  # of the program, instead of the image's own
`

const name = Options.text("name").pipe(
  Options.withDescription("The server's name; this folder's without it"),
  Options.optional
)
const project = Options.text("project").pipe(
  Options.withDescription("The project's name; the server's without it"),
  Options.optional
)
const region = Options.choice("region", Region.literals).pipe(
  Options.withDescription("Where the server runs"),
  Options.withDefault(newServer.region)
)
const image = Options.text("image").pipe(
  Options.withDescription("What berth deploy deploys: an OCI image, npm:… or pypi:…"),
  Options.optional
)
const force = Options.boolean("force").pipe(Options.withDescription("Replace a file that is there"))

/** `berth init`: writes berth.toml. */
export const initCommand = Command.make(
  "init",
  { name, project, region, image, config, force, json },
  ({ config, force, image, json, name, project, region }) =>
    Effect.gen(function*() {
      const server = Option.getOrElse(name, () => basename(resolve(".")) || "server")
      const text = fileFor({ name: server, project: Option.getOrElse(project, () => server), region, image })
      yield* (yield* FileSystem.FileSystem).writeFileString(config, text, { flag: force ? "w" : "wx" }).pipe(
        Effect.mapError((error) =>
          new CliFailure({
            message: error._tag === "SystemError" && error.reason === "AlreadyExists"
              ? `${config} is there already; --force replaces it`
              : `${config} can't be written: ${error.message}`,
            code: exitCodes.badFile
          })
        )
      )
      yield* show(json, { file: config }, () => `Wrote ${config}`)
      yield* Console.error(
        Option.isSome(image) ? "Next: berth deploy" : "Next: berth deploy . for this folder, or berth deploy IMAGE"
      )
    }).pipe(orEnd(""))
)
/** `berth schema`: for editors. */
export const schemaCommand = Command.make(
  "schema",
  { json },
  () => show(true, serverFileJsonSchema(), () => "")
)
