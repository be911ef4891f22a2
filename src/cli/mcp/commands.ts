import { exitCodes } from "#src/cli/exit-codes.ts"
import { fail } from "#src/cli/fail.ts"
import { json, show } from "#src/cli/json-output.ts"
import { savedToken } from "#src/cli/login/tokens.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { Args, Command, Options } from "@effect/cli"
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { Config, Effect, Either, Option, Redacted } from "effect"
import { parseJsonArguments } from "./arguments.ts"
import { endpointOf } from "./endpoint.ts"
import { exchangedToken } from "./exchange.ts"
import { McpClientError } from "./McpClientError.ts"
import { printable, renderResult, renderTools } from "./render.ts"
import { errorOfResult, isFailedDeployment } from "./tool-error.ts"

const url = Args.text({ name: "url" }).pipe(
  Args.withDescription("The MCP server: its URL, such as a server's publicUrl")
)

const token = Options.redacted("token").pipe(
  Options.withDescription("Bearer token; when left out BERTH_TOKEN, or what berth login gives for it"),
  Options.withFallbackConfig(Config.redacted("BERTH_TOKEN")),
  Options.optional
)

/**
 * The `--token`; or the login at the platform whose own door the URL is; or, for a server that such a platform hosts, what
 * the login is exchanged for.
 */
const tokenFor = Effect.fnUntraced(
  function*(url: string, token: Option.Option<Redacted.Redacted>, scope: string) {
    if (Option.isSome(token)) return token.value
    const parsed = parseUrl(url)
    const saved = parsed === undefined ? Option.none() : yield* savedToken(endpointOf(parsed).href)
    return Option.isSome(saved) ? Redacted.make(saved.value) : yield* exchangedToken(url, scope)
  },
  Effect.catchTags({
    CliFailure: ({ code, message }) => new McpClientError({ message, code }),
    SettingError: ({ message }) => new McpClientError({ message })
  })
)

/** The scopes of docs/security.md. A call lists first; which tools `mcp:write` would do for is known only then. */
const toList = "mcp:read"
const toCall = "mcp:read mcp:execute"

const field = Options.text("field").pipe(
  Options.withDescription("Print this one field of the result alone, such as id: for scripts"),
  Options.optional
)

const fieldOf = (result: CallToolResult, name: string) => {
  const value = result.structuredContent?.[name]
  return value === undefined
    ? new McpClientError({ message: `The result has no field "${name}".` })
    : Effect.succeed(value)
}

/** With the MCP SDK, which help does not need. */
const operations = Effect.promise(() => import("./operations.ts"))

const orSay = <R>(effect: Effect.Effect<void, McpClientError, R>) =>
  Effect.catchTag(effect, "McpClientError", ({ code, message }) => fail(message, code))

/** `berth tools URL`: what an MCP server can do. */
export const toolsCommand = Command.make(
  "tools",
  { url, token, json },
  ({ json, token, url }) =>
    Effect.gen(function*() {
      const { listTools } = yield* operations
      const tools = yield* listTools({ url, token: yield* tokenFor(url, token, toList) })
      yield* show(json, tools, () => renderTools(tools))
    }).pipe(orSay)
)
/** `berth call URL TOOL --arg name=value`: runs a tool. */
export const callCommand = Command.make(
  "call",
  {
    url,
    tool: Args.text({ name: "tool" }).pipe(Args.withDescription("The tool's name, as berth tools lists it")),
    token,
    field,
    args: Options.text("arg").pipe(
      Options.withDescription("An argument as name=value, read by the tool's input schema; may be repeated"),
      Options.repeated
    ),
    input: Options.text("input").pipe(
      Options.withDescription("All arguments as one JSON object; --arg adds to it"),
      Options.optional
    ),
    json
  },
  ({ args, field, input, json, token, tool, url }) =>
    Effect.gen(function*() {
      const base = yield* Either.mapLeft(
        parseJsonArguments(Option.getOrElse(input, () => "{}")),
        (message) => new McpClientError({ message })
      )
      const { callTool } = yield* operations
      const result = yield* callTool({
        url,
        token: yield* tokenFor(url, token, toCall),
        tool,
        args,
        arguments: base,
        ...(json ? {} : { onProgress: (message: string) => void process.stderr.write(`${printable(message)}\n`) })
      })
      if (result.isError === true) return yield* new McpClientError(errorOfResult(result))
      if (Option.isSome(field)) {
        const value = yield* fieldOf(result, field.value)
        yield* show(json, value, () => typeof value === "string" ? value : JSON.stringify(value))
      } else {
        yield* show(json, result, () => renderResult(result))
      }
      if (isFailedDeployment(tool, result)) {
        return yield* new McpClientError({ message: "The deployment failed", code: exitCodes.deploymentFailed })
      }
    }).pipe(orSay)
)
