import { savedToken } from "#src/cli/mcp/credentials.ts"
import { callTool } from "#src/cli/mcp/operations.ts"
import { printable, renderResult } from "#src/cli/mcp/render.ts"
import { TemplateType } from "#src/format/ReadyConfig.ts"
import { textOf } from "#src/imports/decode.ts"
import { Publication } from "#src/publishing/Publication.ts"
import { Args, Command, Options } from "@effect/cli"
import { FileSystem } from "@effect/platform"
import { Console, Effect, Option, Redacted, Schema } from "effect"
import { basename } from "node:path"
import { fail } from "./fail.ts"
import { installationUrl, isInstallation, notInstallation } from "./login-command.ts"

const file = Args.text({ name: "file" }).pipe(
  Args.withDescription("The catalog: menu.csv, or a .json with the profile")
)
const name = Options.text("name").pipe(
  Options.withDescription("The business's name; a .json file has it already"),
  Options.optional
)
const template = Options.choice("template", TemplateType.literals).pipe(
  Options.withDescription("What kind of business it is"),
  Options.optional
)
const project = Options.text("project").pipe(
  Options.withDescription("The project's id; your newest project without it"),
  Options.optional
)
const hidden = Options.boolean("hidden").pipe(Options.withDescription("Leave the listing out of the directory for now"))

const answer = Schema.decodeUnknown(Publication.pick("businessId", "mcpUrl", "importedItems", "warnings", "deployment"))

const optionalField = <A>(field: string, value: Option.Option<A>) =>
  Option.match(value, { onNone: () => ({}), onSome: (value) => ({ [field]: value }) })

/** `berth publish menu.csv`: from a file to a live MCP server and a listing, on the installation of `berth login`. */
export const publishCommand = Command.make(
  "publish",
  { file, url: installationUrl, name, template, project, hidden },
  ({ file, hidden, name, project, template, url }) =>
    Effect.gen(function*() {
      if (!isInstallation(url)) return yield* fail(notInstallation(url))
      const bytes = yield* (yield* FileSystem.FileSystem).readFile(file)
      const endpoint = `${url.replace(/\/$/, "")}/mcp`
      const token = yield* savedToken(endpoint)
      if (Option.isNone(token)) return yield* fail(`Log in first: berth login --url ${url}`)
      const result = yield* callTool({
        url: endpoint,
        token: Redacted.make(token.value),
        tool: "publish_business",
        args: [],
        arguments: {
          filename: basename(file),
          content: textOf(bytes),
          visible: !hidden,
          ...optionalField("name", name),
          ...optionalField("templateType", template),
          ...optionalField("projectId", project)
        },
        onProgress: (message) => process.stderr.write(`${printable(message)}\n`)
      })
      if (result.isError === true) return yield* fail(renderResult(result))
      const { businessId, deployment, importedItems, mcpUrl, warnings } = yield* answer(result.structuredContent)
      for (const { message } of warnings) yield* Console.error(printable(message))
      if (deployment.status !== "running") {
        return yield* fail(`The deployment failed: ${deployment.errorMessage ?? "see the server's log"}`)
      }
      yield* Console.log(`Business   ${businessId}, ${importedItems} items\nMCP URL    ${mcpUrl}`)
    }).pipe(
      Effect.catchTags({
        McpClientError: ({ message }) => fail(message),
        SystemError: ({ message }) => fail(`${file} can't be read: ${message}`),
        BadArgument: ({ message }) => fail(`${file} can't be read: ${message}`),
        ParseError: () => fail(`${url} does not answer like a Berth installation`)
      })
    )
).pipe(Command.withDescription("Publish a business: its catalog from a file, a server that knows it, a listing"))
