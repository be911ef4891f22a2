import { savedToken } from "#src/cli/login/tokens.ts"
import { oneLine, outline, printable } from "#src/cli/mcp/render.ts"
import { errorOfResult } from "#src/cli/mcp/tool-error.ts"
import { TemplateType } from "#src/format/ReadyConfig.ts"
import { ImportMode } from "#src/imports/Import.ts"
import { type Mappings } from "#src/imports/Mappings.ts"
import { DryRun, Publication } from "#src/publishing/Publication.ts"
import { Args, Command, Options } from "@effect/cli"
import { FileSystem, Terminal } from "@effect/platform"
import { type CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { Console, Effect, Either, Option, Redacted, Schema } from "effect"
import { basename } from "node:path"
import { exitCodes } from "./exit-codes.ts"
import { fail } from "./fail.ts"
import { installationUrl, isInstallation, notInstallation } from "./installation.ts"
import { json, show } from "./json-output.ts"
import { askForMapping, type Finding, findingIn, mappingsOf, withSuggestion } from "./publish-mapping.ts"
import { inOptions, refusalInOptions, refusalOf, type Typed, withSuggested } from "./publish-refusal.ts"
import { unreadable } from "./unreadable.ts"

const file = Args.text({ name: "file" }).pipe(
  Args.withDescription("The catalog: menu.csv, or a .json with business and items (docs/businesses.md)")
)
const name = Options.text("name").pipe(
  Options.withDescription("The business's name; a .json file has it already"),
  Options.optional
)
const template = Options.choice("template", TemplateType.literals).pipe(
  Options.withDescription("What kind of business it is"),
  Options.optional
)
const city = Options.text("city").pipe(
  Options.withDescription("Where it is: agents look for businesses by city, and composites group them by it"),
  Options.optional
)
const state = Options.text("state").pipe(
  Options.withDescription("The city's state, such as CO or Colorado"),
  Options.optional
)
const project = Options.text("project").pipe(
  Options.withDescription("The project's id; your newest project without it"),
  Options.optional
)
const hidden = Options.boolean("hidden").pipe(Options.withDescription("Leave the listing out of the directory for now"))
const business = Options.text("business").pipe(
  Options.withDescription("The id of an existing business that the file is for; a new one without it"),
  Options.optional
)
const mode = Options.choice("mode", ImportMode.literals).pipe(
  Options.withDescription("With --business: replace its catalog (the default), or add to it"),
  Options.optional
)
const map = Options.text("map").pipe(
  Options.withDescription("COLUMN=FIELD, such as 'Price (USD)=price'; once for each column; ignore leaves one out"),
  Options.repeated
)
const dryRun = Options.boolean("dry-run").pipe(Options.withDescription("Show what would be imported, write nothing"))
const yes = Options.boolean("yes").pipe(
  Options.withDescription("Don't ask: publish with the given --map alone")
)

const tellProgress = (message: string) => void process.stderr.write(`${printable(message)}\n`)

const answer = Schema.decodeUnknown(
  Publication.pick("businessId", "mcpUrl", "importId", "importedItems", "warnings", "unmapped_columns", "deployment")
)
const preview = Schema.decodeUnknown(DryRun)

const optionalField = <A>(field: string, value: Option.Option<A>) =>
  Option.match(value, { onNone: () => ({}), onSome: (value) => ({ [field]: value }) })

/** The part of the profile that has options of its own. */
const profileOf = (city: Option.Option<string>, state: Option.Option<string>) => {
  const address = { ...optionalField("city", city), ...optionalField("state", state) }
  return Object.keys(address).length === 0 ? {} : { profile: { contact: { address } } }
}

/** Ends with an error of the tool, told in the options of this command. */
const failed = (result: CallToolResult, typed: Typed) => {
  const { code, message } = errorOfResult(result)
  return fail(printable(Option.getOrElse(refusalOf(result, typed), () => message)), code)
}

/** A dry run would be refused. */
const refused = ({ refusal, suggested }: Pick<Finding, "refusal" | "suggested">, typed: Typed) =>
  fail(printable(withSuggested(refusalInOptions(refusal ?? "", typed), suggested)))

/** Ends a dry run: its preview on standard output, and exit code 1 when the file would be refused. */
const shown = Effect.fn("cli.shownDryRun")(function*(
  result: CallToolResult,
  typed: Typed,
  json: boolean
) {
  if (result.isError === true) return yield* failed(result, typed)
  const { encoding: _encoding, delimiter: _delimiter, dryRun: _dryRun, refusal, warnings, ...rest } = yield* preview(
    result.structuredContent
  )
  const told = warnings.map(({ message }) => `\n  ${oneLine(inOptions(message))}`)
  yield* show(
    json,
    result.structuredContent,
    () => `${outline(rest)}\nwarnings:${told.length === 0 ? " (none)" : told.join("")}`
  )
  if (refusal !== null) yield* refused({ refusal, suggested: rest.suggested_mappings }, typed)
})

const published = Effect.fn("cli.published")(function*(
  result: CallToolResult,
  typed: Typed,
  json: boolean
) {
  if (result.isError === true) return yield* failed(result, typed)
  const { businessId, deployment, importId, importedItems, mcpUrl, unmapped_columns, warnings } = yield* answer(
    result.structuredContent
  )
  for (const { message } of warnings) yield* Console.error(printable(inOptions(message)))
  if (deployment.status !== "running") {
    if (json) yield* show(json, result.structuredContent, () => "")
    return yield* fail(
      `The deployment failed: ${deployment.errorMessage ?? "see the server's log"}`,
      exitCodes.deploymentFailed
    )
  }
  const items = `${importedItems} ${importedItems === 1 ? "item" : "items"}`
  const leftOut = unmapped_columns.length === 0 ? "" : `\nLeft out   ${oneLine(unmapped_columns.join(", "))}`
  yield* show(
    json,
    result.structuredContent,
    () => `Business   ${businessId}, ${items}${leftOut}\nImport     ${importId}\nMCP URL    ${mcpUrl}`
  )
})

/** `berth publish menu.csv`: from a file to a live MCP server and a listing, on the installation of `berth login`. */
export const publishCommand = Command.make(
  "publish",
  { file, url: installationUrl, name, template, city, state, project, business, mode, hidden, map, dryRun, yes, json },
  ({ business, city, dryRun, file, hidden, json, map, mode, name, project, state, template, url, yes }) =>
    Effect.gen(function*() {
      if (!isInstallation(url)) return yield* fail(notInstallation(url))
      const given = mappingsOf(map)
      if (Either.isLeft(given)) return yield* fail(given.left)
      const bytes = yield* (yield* FileSystem.FileSystem).readFile(file)
      const endpoint = `${url.replace(/\/$/, "")}/mcp`
      const token = yield* savedToken(endpoint)
      if (Option.isNone(token)) return yield* fail(`Log in first: berth login --url ${url}`, exitCodes.notLetIn)
      // With the MCP SDK and the tables of encodings, which help does not need.
      const { callTool } = yield* Effect.promise(() => import("./mcp/operations.ts"))
      const { decode } = yield* Effect.promise(() => import("#src/imports/decode.ts"))
      const { encoding, isGuess, utf8 } = decode(bytes)
      if (isGuess) {
        yield* Console.error(`${basename(file)} is not in UTF-8 and was read as ${encoding}: check its accents`)
      }
      const content = utf8.toString("utf8")
      const call = (mappings: Mappings, more: { readonly dryRun?: true }) =>
        callTool({
          url: endpoint,
          token: Redacted.make(token.value),
          tool: "publish_business",
          args: [],
          arguments: {
            filename: basename(file),
            content,
            mappings,
            ...more,
            ...(hidden ? { visible: false } : {}),
            ...optionalField("businessId", business),
            ...optionalField("mode", mode),
            ...optionalField("name", name),
            ...optionalField("templateType", template),
            ...optionalField("projectId", project),
            ...profileOf(city, state)
          },
          ...(json ? {} : { onProgress: tellProgress })
        })
      const typed = { file: basename(file), business, project, mappings: given.right }
      if (dryRun) return yield* shown(yield* call(given.right, { dryRun: true }), typed, json)
      const asks = !yes && !json && (yield* (yield* Terminal.Terminal).isTTY)
      const first = asks ? yield* call(given.right, { dryRun: true }) : undefined
      const finding = first === undefined ? undefined : Option.getOrUndefined(findingIn(first))
      const canAsk = finding !== undefined &&
        (Object.keys(finding.suggested).length > 0 || finding.undecided.length > 0)
      const taken = canAsk
        ? yield* askForMapping(basename(file), {
          ...finding,
          leftOut: (finding.leftOut ?? []).map(inOptions),
          refusal: refusalInOptions(finding.refusal ?? "", typed)
        })
        : Option.none()
      // What the dry run refuses is refused again: nothing has to be sent for it.
      if (
        first !== undefined && Option.isNone(taken) && (first.isError === true || typeof finding?.refusal === "string")
      ) {
        return yield* finding === undefined || first.isError === true ? failed(first, typed) : refused(finding, typed)
      }
      const mappings = withSuggestion(given.right, Option.getOrElse(taken, () => ({})))
      yield* published(yield* call(mappings, {}), { ...typed, mappings }, json)
    }).pipe(
      Effect.catchTags({
        McpClientError: ({ code, message }) => fail(message, code),
        CliFailure: ({ code, message }) => fail(message, code),
        SettingError: ({ message }) => fail(message),
        SystemError: (error) => fail(unreadable(file, error), exitCodes.badFile),
        BadArgument: (error) => fail(unreadable(file, error), exitCodes.badFile),
        ParseError: () => fail(`${url} does not answer like a Berth installation`),
        QuitException: () => fail("Cancelled")
      })
    )
)
