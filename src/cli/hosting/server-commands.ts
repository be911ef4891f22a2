import { json, show } from "#src/cli/json-output.ts"
import { listing } from "#src/cli/mcp/render.ts"
import { Command } from "@effect/cli"
import { Effect } from "effect"
import { deploymentFacts } from "./follow.ts"
import { access, connect, facts, orEnd } from "./platform.ts"
import { allServers, findServer, target } from "./target.ts"

/** `berth servers`: all that the credential may see. */
export const serversCommand = Command.make(
  "servers",
  { ...access, json },
  ({ json, token, url }) =>
    Effect.gen(function*() {
      const servers = yield* allServers(yield* connect({ url, token }))
      yield* show(json, servers, () =>
        servers.length === 0 ? "There is no server yet: berth init, then berth deploy" : listing(
          ["SERVER", "STATE", "REGION", "SIZE", "URL"],
          servers.map(({ asleep, cpu, memoryMb, name, publicUrl, region, status }) => [
            name,
            asleep ? "asleep" : status,
            region,
            `${cpu}, ${memoryMb} MB`,
            publicUrl
          ])
        ))
    }).pipe(orEnd(url))
)
/** `berth status`: a server, and its newest deployment. */
export const statusCommand = Command.make(
  "status",
  { ...access, ...target, json },
  ({ config, json, server, token, url }) =>
    Effect.gen(function*() {
      const connected = yield* connect({ url, token })
      const found = yield* findServer(connected, { config, server })
      const { data: latest } = yield* connected.api.deployments.list({
        path: { serverId: found.id },
        urlParams: { limit: 20 }
      })
      const [newest] = latest
      const serving = latest.find(({ active }) => active)
      const deployment = newest === undefined ? null : yield* Effect.map(
        connected.api.deployments.get({ path: { serverId: found.id, deploymentId: newest.id } }),
        ({ data }) => data
      )
      yield* show(json, { server: found, deployment }, () => {
        const { asleep, authMode, egress, id, mcpRequired, name, publicUrl, region, registryCredential, status } = found
        return facts({
          Server: `${name} (${id})`,
          Status: asleep ? "stopped: asleep, the next request wakes it" : status,
          URL: publicUrl,
          Region: region,
          Access: authMode,
          Egress: typeof egress === "string" ? egress : egress.allow.join(", ") || "none",
          Registry: registryCredential,
          "MCP required": mcpRequired ? "yes" : "no",
          Serving: serving === undefined || serving.id === newest?.id
            ? null
            : `version ${serving.version}, ${serving.imageUri}`,
          ...deployment === null ? { Deployment: "nothing is deployed yet" } : deploymentFacts(deployment)
        })
      })
    }).pipe(orEnd(url))
)
/** `berth token`: a token for a server, for a quarter of an hour. */
export const tokenCommand = Command.make(
  "token",
  { ...access, ...target, json },
  ({ config, json, server, token, url }) =>
    Effect.gen(function*() {
      const connected = yield* connect({ url, token })
      const { id } = yield* findServer(connected, { config, server })
      const { data } = yield* connected.api.deployments.createTestToken({ path: { serverId: id } })
      yield* show(json, data, () => data.accessToken)
    }).pipe(orEnd(url))
)
