import { json, show } from "#src/cli/json-output.ts"
import { listing, oneLine } from "#src/cli/mcp/render.ts"
import { hoursOf, type MetricsPeriod, type ServerMetrics, type ToolMetrics } from "#src/servers/ServerMetrics.ts"
import { Command, Options } from "@effect/cli"
import { Effect, Struct } from "effect"
import { access, connect, facts, orEnd } from "./platform.ts"
import { findServer, target } from "./target.ts"

const period = Options.choice("period", Struct.keys(hoursOf)).pipe(
  Options.withDescription("Until now"),
  Options.withDefault<MetricsPeriod>("24h")
)
const tools = Options.boolean("tools").pipe(Options.withDescription("The figures of each tool, too, and who called it"))

const millis = (value: number) => `${Number(value.toFixed(1))} ms`

const share = (part: number, of: number) => part === 0 ? "0" : `${part} (${Number((100 * part / of).toFixed(1))} %)`

const figures = ({ avgLatencyMs, errorCount, p99LatencyMs, requestCount }: typeof ServerMetrics.Type) => ({
  Requests: String(requestCount),
  Errors: share(errorCount, requestCount),
  Average: requestCount === 0 ? null : millis(avgLatencyMs),
  "99 of 100": requestCount === 0 ? null : `within ${millis(p99LatencyMs)}`
})

type Figures = NonNullable<typeof ToolMetrics.Type["other"]>

const callers = ({ clients, otherClients }: Figures) =>
  [...clients, ...(otherClients > 0 ? [{ name: "others", calls: otherClients }] : [])]
    .map(({ calls, name }) => `${oneLine(name)} ${calls}`).join(", ")

const perTool = ({ items, other }: typeof ToolMetrics.Type) => {
  const row = (tool: string, one: Figures) => [
    oneLine(tool),
    String(one.calls),
    share(one.errors, one.calls),
    millis(one.avgLatencyMs),
    millis(one.p99LatencyMs),
    callers(one)
  ]
  const rows = items.map((one) => row(one.tool, one))
  return items.length === 0 && other === null
    ? "No tool was called"
    : listing(
      ["TOOL", "CALLS", "ERRORS", "AVERAGE", "99 OF 100", "CLIENTS"],
      other === null ? rows : [...rows, row("(all others)", other)]
    )
}

/** `berth metrics`: how much a server is used, how often it fails, how long it takes. */
export const metricsCommand = Command.make(
  "metrics",
  { ...access, ...target, period, tools, json },
  ({ config, json, period, server, token, tools, url }) =>
    Effect.gen(function*() {
      const connected = yield* connect({ url, token })
      const { id, name } = yield* findServer(connected, { config, server })
      const asked = { path: { serverId: id }, urlParams: { period } }
      const { data: all } = yield* connected.api.servers.metrics(asked)
      const each = tools ? (yield* connected.api.servers.metricsTools(asked)).data : undefined
      yield* show(json, each === undefined ? all : { ...all, tools: each }, () =>
        facts({ Server: `${name} (${id})`, Period: `the last ${period}`, ...figures(all) }) +
        (each === undefined ? "" : `\n\n${perTool(each)}`))
    }).pipe(orEnd(url))
)
