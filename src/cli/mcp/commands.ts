import { Args, Command, Options } from "@effect/cli"
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { Config, Console, Effect, Either, Option, Redacted } from "effect"
import { parseJsonArguments } from "./arguments.ts"
import { savedToken } from "./credentials.ts"
import { exchangedToken } from "./exchange.ts"
import { McpClientError } from "./failure.ts"
import { callTool, listTools } from "./operations.ts"
import { printable, renderResult, renderTools } from "./render.ts"

const url = Args.text({ name: "url" }).pipe(Args.withDescription("The MCP server: its URL, ending in /mcp or /sse"))

const token = Options.redacted("token").pipe(
  Options.withDescription("Bearer token; when left out BERTH_TOKEN, or what the session of berth login gives for it"),
  Options.withFallbackConfig(Config.redacted("BERTH_TOKEN")),
  Options.optional
)

const raw = Options.boolean("raw").pipe(Options.withDescription("Print the server's answer as JSON"))

/**
 * The `--token`; or the saved session of the platform whose own door the URL is; or, for a server that such a platform
 * hosts, what the session is exchanged for.
 */
const tokenFor = Effect.fnUntraced(function*(url: string, token: Option.Option<Redacted.Redacted>) {
  if (Option.isSome(token)) return token.value
  const saved = yield* savedToken(url)
  return Option.isSome(saved) ? Redacted.make(saved.value) : yield* exchangedToken(url)
})

const field = Options.text("field").pipe(
  Options.withDescription("Print this one field of the result alone, such as id: for scripts"),
  Options.optional
)

const fieldOf = (result: CallToolResult, name: string) => {
  const value = result.structuredContent?.[name]
  return value === undefined
    ? new McpClientError({ message: `The result has no field "${name}".` })
    : Effect.succeed(typeof value === "string" ? value : JSON.stringify(value))
}

const print = (value: unknown) => Console.log(JSON.stringify(value, null, 2))

/** Prints an error as one sentence on standard error, without a stack trace; exit code 1. */
const orSay = <R>(effect: Effect.Effect<void, McpClientError, R>) =>
  Effect.catchTag(effect, "McpClientError", ({ message }) =>
    Effect.zipRight(
      Console.error(message),
      Effect.sync(() => {
        process.exitCode = 1
      })
    ))

/** `berth tools URL`: what an MCP server can do. */
export const toolsCommand = Command.make(
  "tools",
  { url, token, raw, json: Options.boolean("json").pipe(Options.withDescription("The same as --raw")) },
  ({ json, raw, token, url }) =>
    tokenFor(url, token).pipe(
      Effect.flatMap((token) => listTools({ url, token })),
      Effect.flatMap((tools) => raw || json ? print(tools) : Console.log(renderTools(tools))),
      orSay
    )
).pipe(Command.withDescription("List the tools of an MCP server"))

/** `berth call URL TOOL --arg name=value`: runs a tool. */
export const callCommand = Command.make(
  "call",
  {
    url,
    tool: Args.text({ name: "tool" }).pipe(Args.withDescription("The tool's name, as berth tools lists it")),
    token,
    raw,
    field,
    args: Options.text("arg").pipe(
      Options.withDescription("An argument as name=value, read by the tool's input schema; may be repeated"),
      Options.repeated
    ),
    json: Options.text("json").pipe(
      Options.withDescription("All arguments as one JSON object; --arg adds to it"),
      Options.optional
    )
  },
  ({ args, field, json, raw, token, tool, url }) =>
    Effect.gen(function*() {
      const base = yield* Either.mapLeft(
        parseJsonArguments(Option.getOrElse(json, () => "{}")),
        (message) => new McpClientError({ message })
      )
      const result = yield* callTool({
        url,
        token: yield* tokenFor(url, token),
        tool,
        args,
        arguments: base,
        onProgress: (message) => process.stderr.write(`${printable(message)}\n`)
      })
      if (!raw && result.isError === true) return yield* new McpClientError({ message: renderResult(result) })
      if (Option.isSome(field)) return yield* Effect.flatMap(fieldOf(result, field.value), Console.log)
      yield* raw ? print(result) : Console.log(renderResult(result))
      if (result.isError === true) process.exitCode = 1
    }).pipe(orSay)
).pipe(Command.withDescription("Call a tool of an MCP server"))
