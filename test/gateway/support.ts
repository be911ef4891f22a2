import { Descriptors } from "#http/connection/Descriptors.ts"
import { LingeringResponse } from "#http/connection/linger.ts"
import { TakeableRequest } from "#http/connection/taken-body.ts"
import { makeGateway } from "#http/gateway/Gateway.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { PublicListingsRepo } from "#src/directory/PublicListingsRepo.ts"
import { ServerCards } from "#src/directory/ServerCards.ts"
import { Subregistry } from "#src/directory/Subregistry.ts"
import { HubKeys } from "#src/hub/HubKeys.ts"
import { HubKeysRepo } from "#src/hub/HubKeysRepo.ts"
import { JobsLive } from "#src/jobs/Live.ts"
import { type MachineAddress, MachineStates } from "#src/machines/Machines.ts"
import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { SigningKeys } from "#src/oauth/SigningKeys.ts"
import { SigningKeysRepo } from "#src/oauth/SigningKeysRepo.ts"
import { RoutingLive } from "#src/routing/Live.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { BrokenAnswers } from "#src/servers/BrokenAnswers.ts"
import { type ByoaConfig } from "#src/servers/ByoaConfig.ts"
import { newServer as defaults } from "#src/servers/Server.ts"
import { ServerLogsRepo } from "#src/servers/ServerLogsRepo.ts"
import { newId, newUlid } from "#src/shared/ids.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { GuestRequests } from "#src/usage/GuestRequests.ts"
import { GuestRequestsRepo } from "#src/usage/GuestRequestsRepo.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { ServerRequests } from "#src/usage/ServerRequests.ts"
import { ServerRequestsRepo } from "#src/usage/ServerRequestsRepo.ts"
import { ToolCalls } from "#src/usage/ToolCalls.ts"
import { ToolCallsRepo } from "#src/usage/ToolCallsRepo.ts"
import { UsageRepo } from "#src/usage/UsageRepo.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { DatabaseTest } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

/** Machines that a test starts itself; the gateway may only ask where they are. */
export class FakeMachines extends Effect.Service<FakeMachines>()("test/FakeMachines", {
  sync: () => ({ addresses: new Map<string, MachineAddress>(), inspected: [] as Array<string> })
}) {}

const machines = Layer.effect(
  MachineStates,
  Effect.map(FakeMachines, ({ addresses, inspected }) =>
    MachineStates.of({
      inspect: (name) =>
        Effect.sync(() => {
          inspected.push(name)
          const address = addresses.get(name)
          return address === undefined ? undefined : { name, owner: "", status: "running", address, exitCode: null }
        })
    }))
)

export const tokensTest = AccessTokens.Default.pipe(
  Layer.provideMerge(SigningKeys.Default),
  Layer.provide([SigningKeysRepo.Default, Secrets.Default])
)

/** The cards of listed servers, without the rest of the directory. */
const cardsTest = ServerCards.Default.pipe(
  Layer.provide(Subregistry.Default),
  Layer.provide(PublicListingsRepo.Default)
)

const hubKeysTest = Layer.provide(HubKeys.Default, HubKeysRepo.Default)

/** Everything below the data path, on a database of its own. */
export const gatewayServices = (variables: Readonly<Record<string, string>> = {}) =>
  Layer.mergeAll(
    RoutingLive,
    RequestMetering.Default,
    GuestRequests.Default,
    ServerRequests.Default,
    ToolCalls.Default,
    tokensTest,
    RateLimit.Default,
    Descriptors.Default,
    cardsTest,
    hubKeysTest,
    Layer.provide(BrokenAnswers.Default, ServerLogsRepo.Default)
  ).pipe(
    Layer.provide([
      UsageRepo.Default,
      GuestRequestsRepo.Default,
      ServerRequestsRepo.Default,
      ToolCallsRepo.Default,
      machines
    ]),
    Layer.provideMerge(FakeMachines.Default),
    Layer.provideMerge(JobsLive),
    Layer.provideMerge(DatabaseTest),
    Layer.provideMerge(settingsTest({ BASE_URL: "http://berth.test", MCP_DOMAIN: "mcp.test", ...variables }))
  )

const listening = (server: Server<typeof IncomingMessage, typeof LingeringResponse> | Server) =>
  Effect.acquireRelease(
    Effect.async<number>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    }),
    () =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

export const startUpstream = (listener: RequestListener) =>
  Effect.map(listening(createServer(listener)), (port): MachineAddress => ({ _tag: "Tcp", host: "127.0.0.1", port }))

/** A listener as `berth serve` has it: the gateway first, the platform (here: 418) for what it does not want. */
export const startGateway = Effect.gen(function*() {
  const gateway = yield* makeGateway
  const platform: RequestListener = (_req, res) => void res.writeHead(418).end("platform")
  const server = createServer({ IncomingMessage: TakeableRequest, ServerResponse: LingeringResponse }, (req, res) => {
    const match = gateway.match(req)
    if (match === undefined) platform(req, res)
    else gateway.handle(match, req, res)
  })
  server.on("checkContinue", (req, res) => {
    const match = gateway.match(req)
    res.awaitContinue()
    if (match !== undefined) return gateway.handle(match, req, res, true)
    res.writeContinue()
    platform(req, res)
  })
  const port = yield* listening(server)
  return { gateway, port }
})

/** Another process's gateway: nothing but the database and the machines is shared. */
export const startOtherGateway = Effect.gen(function*() {
  const own = Layer.fresh(Layer.provide(RoutingLive, machines))
  return yield* Effect.provide(startGateway, yield* Layer.build(own))
})

interface NewServer {
  readonly machine?: MachineAddress
  readonly byoa?: ByoaConfig
  readonly plan?: string
  readonly accountId?: string
}

export const newAccount = Effect.fnUntraced(function*(plan = "developer") {
  const sql = yield* SqlClient.SqlClient
  const id = newUlid()
  yield* sql`INSERT INTO users ${sql.insert({ id, email: `${id}@example.com`, passwordHash: "", plan })}`
  return id
})

/** A server's rows, and a token for it unless it is byoa; `resource` is its URL in the path form. */
export const newServer = Effect.fnUntraced(function*({ accountId, byoa, machine, plan }: NewServer = {}) {
  const sql = yield* SqlClient.SqlClient
  const settings = yield* CurrentSettings
  const tokens = yield* AccessTokens
  const account = accountId ?? (yield* newAccount(plan))
  const projectId = newId("prj")
  const id = newId("srv")
  const slug = `s${id.slice(-12).toLowerCase()}`
  yield* sql`INSERT INTO projects ${sql.insert({ id: projectId, accountId: account, name: slug, slug })}`
  yield* sql`INSERT INTO slugs ${sql.insert({ slug, accountId: account })}`
  yield* sql`INSERT INTO servers ${
    sql.insert({
      id,
      projectId,
      name: slug,
      slug,
      ...defaults,
      replayToken: "",
      authMode: byoa === undefined ? "service_managed" : "byoa",
      byoaConfig: byoa === undefined ? null : JSON.stringify(byoa)
    })
  }`
  if (machine !== undefined) yield* deploy(id, machine)
  const resource = `${settings.baseUrl}/s/${slug}`
  const audience = publicUrl(settings, slug)
  const { token } = yield* tokens.mint({
    accountId: account,
    audience,
    scope: allMcpScopes,
    clientId: "test",
    serverId: id
  })
  return { accountId: account, id, slug, token, resource, audience, path: `/s/${slug}`, host: `${slug}.mcp.test` }
})

/** Makes a machine the one that serves. */
export const deploy = Effect.fnUntraced(function*(serverId: string, machine: MachineAddress) {
  const sql = yield* SqlClient.SqlClient
  const { addresses } = yield* FakeMachines
  const id = newId("dep")
  addresses.set(id, machine)
  yield* sql`INSERT INTO deployments ${
    sql.insert({ id, serverId, version: addresses.size, type: "deploy", status: "running", imageUri: "test" })
  }`
  yield* sql`UPDATE servers SET active_deployment_id = ${id}, status = 'running' WHERE id = ${serverId}`
  return id
})

/** Sends bytes as they are, and collects what comes until the connection ends or `enough` is there. */
export const raw = (port: number, text: string, enough?: (received: string) => boolean) =>
  Effect.async<string>((resume) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text, "latin1"))
    let received = ""
    const done = () => {
      socket.destroy()
      resume(Effect.succeed(received))
    }
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1")
      if (enough?.(received) === true) done()
    })
    socket.on("close", done)
    socket.on("error", done)
    return Effect.sync(() => socket.destroy())
  }).pipe(Effect.timeout("5 seconds"))

/** One request with exactly these header lines, on a connection of its own. */
export const rawRequest = (port: number, method: string, target: string, headers: ReadonlyArray<string>, body = "") =>
  raw(port, `${[`${method} ${target} HTTP/1.1`, ...headers, "Connection: close", "", ""].join("\r\n")}${body}`)

export const statusOf = (response: string) => Number(response.slice(9, 12))
