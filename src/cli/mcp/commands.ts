import { Args, Command, Options } from "@effect/cli"
import { Config, Console, Effect, Either, Option } from "effect"
import { parseJsonArguments } from "./arguments.ts"
import { McpClientError } from "./failure.ts"
import { callTool, listTools } from "./operations.ts"
import { renderResult, renderTools } from "./render.ts"

const url = Args.text({ name: "url" }).pipe(Args.withDescription("The MCP server: its URL, ending in /mcp or /sse"))

const token = Options.redacted("token").pipe(
  Options.withDescription("Bearer token; BERTH_TOKEN when left out"),
  Options.withFallbackConfig(Config.redacted("BERTH_TOKEN")),
  Options.optional
)

const raw = Options.boolean("raw").pipe(Options.withDescription("Print the server's answer as JSON"))

const print = (value: unknown) => Console.log(JSON.stringify(value, null, 2))

/** One sentence on standard error and exit code 1, without the stack that a failed program would show. */
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
    listTools({ url, token: Option.getOrUndefined(token) }).pipe(
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
    args: Options.text("arg").pipe(
      Options.withDescription("An argument as name=value, read by the tool's input schema; may be repeated"),
      Options.repeated
    ),
    json: Options.text("json").pipe(
      Options.withDescription("All arguments as one JSON object; --arg adds to it"),
      Options.optional
    )
  },
  ({ args, json, raw, token, tool, url }) =>
    Effect.gen(function*() {
      const base = yield* Either.mapLeft(
        parseJsonArguments(Option.getOrElse(json, () => "{}")),
        (message) => new McpClientError({ message })
      )
      const result = yield* callTool({ url, token: Option.getOrUndefined(token), tool, args, arguments: base })
      if (!raw && result.isError === true) return yield* new McpClientError({ message: renderResult(result) })
      yield* raw ? print(result) : Console.log(renderResult(result))
      if (result.isError === true) process.exitCode = 1
    }).pipe(orSay)
).pipe(Command.withDescription("Call a tool of an MCP server"))
