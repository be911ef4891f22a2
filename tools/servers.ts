import { authFields } from "#src/servers/ByoaConfig.ts"
import { Metrics } from "#src/servers/Metrics.ts"
import { createFields, Server, updateFields } from "#src/servers/Server.ts"
import { logArguments, LogPage } from "#src/servers/ServerLog.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { metricsArguments, MetricsSeries, ServerMetrics, ToolMetrics } from "#src/servers/ServerMetrics.ts"
import { Servers } from "#src/servers/Servers.ts"
import { lineOf } from "#src/shared/outside-text.ts"
import { PageArguments, PageOf } from "#src/shared/paging.ts"
import { Input, optional } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

const logText = ({ items }: typeof LogPage.Encoded) =>
  items.length === 0
    ? "Nothing is logged"
    : items.map(({ level, message, timestamp }) => `${timestamp} ${level} ${message}`).join("\n")

const serverId = { serverId: Schema.String }
const deploy = { toolset: "deploy" } as const

export const serverTools = Effect.gen(function*() {
  const servers = yield* Servers
  const logs = yield* ServerLogs
  const metrics = yield* Metrics
  return [
    tool({
      ...deploy,
      name: "list_servers",
      title: "List servers",
      description:
        "Lists hosted MCP servers, newest first: of one project when projectId is given, else all you can see.",
      effect: "read",
      needs: ["servers:read"],
      params: Input({ projectId: optional(Schema.String), ...PageArguments }),
      success: PageOf(Server),
      run: ({ projectId, ...page }) => projectId === undefined ? servers.list(page) : servers.listOf(projectId, page)
    }),
    tool({
      ...deploy,
      name: "create_server",
      title: "Create a server",
      description:
        "Creates a hosted MCP server in a project. It has an address at once, and runs after its first deploy.",
      effect: "create",
      needs: ["servers:write"],
      params: Input({ projectId: Schema.String, ...createFields }),
      success: Server,
      run: ({ projectId, ...input }) => servers.create(projectId, input)
    }),
    tool({
      ...deploy,
      name: "get_server",
      title: "Read a server",
      description:
        "Reads one server: status (asleep: the next request wakes it), address, size, auth mode, health settings.",
      effect: "read",
      needs: ["servers:read"],
      params: Input(serverId),
      success: Server,
      run: (input) => servers.get(input.serverId)
    }),
    tool({
      ...deploy,
      name: "update_server",
      title: "Change a server",
      description:
        "Changes a server's name, size, auto-stop, egress or health settings. autoStopSeconds counts at once: after so long " +
        "without a request a server falls asleep, and the next one wakes it. egress (hosts outside that it may reach) counts " +
        "at once too: {add: [host]} allows hosts beside those of now, {allow: [host]} replaces the list. " +
        "guestRequestsPerMinute and guestMonthPercent (what each caller who is not you may use) count at once as well, the " +
        "size from the next deploy.",
      effect: "update",
      needs: ["servers:write"],
      params: Input({ ...serverId, ...updateFields }),
      success: Server,
      run: ({ serverId, ...input }) => servers.update(serverId, input)
    }),
    tool({
      ...deploy,
      name: "configure_server_auth",
      title: "Choose a server's protection",
      description:
        "Sets who protects a server: service_managed (ours), or byoa with your own issuer's byoaConfig. access " +
        "says who may use it; list takes the addresses of allowedEmails that the operator has verified. get_server tells " +
        "what holds now: it is replaced.",
      effect: "update",
      needs: ["servers:write"],
      params: Input({ ...serverId, ...authFields }),
      success: Server,
      run: ({ serverId, ...input }) => servers.configureAuth(serverId, input)
    }),
    tool({
      ...deploy,
      name: "delete_server",
      title: "Delete a server",
      description:
        "Stops and deletes a server with its deployments and its address. Irreversible: ask first; stop_server keeps it.",
      effect: "delete",
      needs: ["servers:write"],
      params: Input(serverId),
      confirm: (input) =>
        Effect.map(
          servers.visible(input.serverId),
          ({ name }) =>
            `Stop and delete the server "${lineOf(name, 200)}" with its deployments and logs? It can't be undone.`
        ),
      run: (input) => servers.remove(input.serverId)
    }),
    tool({
      ...deploy,
      name: "get_logs",
      title: "Read a server's log",
      description: "Reads a server's log, newest first: what its deployments did and what its program printed. " +
        "Use it when a deploy failed or a server misbehaves; page with before.",
      effect: "read",
      needs: ["logs:read", "servers:read"],
      params: Input({ ...serverId, ...logArguments }),
      success: LogPage,
      text: logText,
      run: ({ serverId, ...request }) => logs.list(serverId, request)
    }),
    tool({
      ...deploy,
      name: "get_server_metrics",
      title: "Read a server's metrics",
      description:
        "Reads how many requests a server got in the last 1h, 24h (the default), 7d or 30d, how many failed, and how long they took, in milliseconds. Requests of the last seconds may be missing. When many failed: get_tool_metrics, then get_logs.",
      effect: "read",
      needs: ["metrics:read"],
      params: Input({ ...serverId, ...metricsArguments }),
      success: ServerMetrics,
      run: ({ serverId, ...query }) => metrics.read(serverId, query)
    }),
    tool({
      ...deploy,
      name: "get_metrics_series",
      title: "Read a server's metrics over time",
      description:
        "Reads the figures of get_server_metrics step by step, the oldest first: minutes of 1h, hours of 24h, 6 hours of 7d, days of 30d. Use it to find when something changed.",
      effect: "read",
      needs: ["metrics:read"],
      params: Input({ ...serverId, ...metricsArguments }),
      success: MetricsSeries,
      run: ({ serverId, ...query }) => metrics.series(serverId, query)
    }),
    tool({
      ...deploy,
      name: "get_tool_metrics",
      title: "Read a server's metrics by tool",
      description:
        "Reads, for each tool of a server, how often it was called in the period, by which clients, how many calls failed and how long they took. Use it to find which tool fails or is slow. A server in byoa mode has none.",
      effect: "read",
      needs: ["metrics:read"],
      params: Input({ ...serverId, ...metricsArguments }),
      success: ToolMetrics,
      run: ({ serverId, ...query }) => metrics.tools(serverId, query)
    })
  ]
})
