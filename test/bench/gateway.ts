/**
 * How many requests a second pass the gateway, beside the same requests sent to the machine directly, and through the
 * barest proxy that Node can be: ratios, since load, gateway and machine share the cores. Loopback only, a minute.
 *
 *   npm run bench gateway [seconds a round]
 */
import { authorizer } from "#http/gateway/authorize.ts"
import { makeGateway } from "#http/gateway/Gateway.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { ServerCards } from "#src/directory/ServerCards.ts"
import { HubKeys } from "#src/hub/HubKeys.ts"
import { Jobs } from "#src/jobs/Jobs.ts"
import { JobsRepo } from "#src/jobs/JobsRepo.ts"
import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { SigningKeys } from "#src/oauth/SigningKeys.ts"
import { type Route } from "#src/routing/Route.ts"
import { Routes } from "#src/routing/Routes.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { UsageRepo } from "#src/usage/UsageRepo.ts"
import { Effect, Layer } from "effect"
import { generateKeyPair } from "jose"
import { fork } from "node:child_process"
import { once } from "node:events"
import { Agent, createServer, type IncomingMessage, request, type RequestListener } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { settingsTest } from "../support/Settings.ts"

const answerBody = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  result: { content: [{ type: "text", text: "x".repeat(200) }] }
})
const connections = 32

/** The machine: a process of its own. */
const machine = async () => {
  const server = createServer((req, res) => {
    req.resume().on("end", () => {
      res.writeHead(200, { "Content-Type": "application/json", "Content-Length": answerBody.length }).end(answerBody)
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  process.send?.((server.address() as AddressInfo).port)
}

/** The load, in a process of its own: each connection sends its next request when the last is answered. */
const load = async () => {
  const [port, path, token, seconds] = process.argv.slice(3) as [string, string, string, string]
  let answered = 0
  let total = 0
  let id = 0
  const latencies: Array<number> = []
  const one = () => {
    let due = 0
    let sentAt = 0
    const send = () => {
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: ++id,
        method: "tools/call",
        params: { name: "x", arguments: {} }
      })
      sentAt = performance.now()
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: berth.test\r\nAuthorization: Bearer ${token}\r\nAccept: application/json, text/event-stream\r\n` +
          `Mcp-Protocol-Version: 2025-11-25\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      )
    }
    const socket = connect(Number(port), "127.0.0.1", send)
    socket.on("data", (chunk) => {
      if (due === 0) {
        if (!chunk.toString("latin1", 0, 12).endsWith(" 200")) throw new Error(chunk.toString())
        due = chunk.indexOf("\r\n\r\n") + 4 + answerBody.length
      }
      due -= chunk.length
      if (due > 0) return
      due = 0
      answered++
      total++
      latencies.push(performance.now() - sentAt)
      send()
    })
    return socket
  }
  const sockets = Array.from({ length: connections }, one)
  const rate = async (seconds: number) => {
    answered = 0
    latencies.length = 0
    const start = performance.now()
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    return answered / (performance.now() - start) * 1000
  }
  await rate(1)
  const perSecond = await rate(Number(seconds))
  const sorted = latencies.sort((a, b) => a - b)
  process.send?.({
    total,
    perSecond,
    p50: sorted[Math.floor(sorted.length / 2)],
    p99: sorted[Math.floor(sorted.length * 0.99)]
  })
  for (const socket of sockets) socket.destroy()
  process.exit()
}

const child = <A>(...args: ReadonlyArray<string>) => {
  const process_ = fork(import.meta.filename, args, { execArgv: process.execArgv })
  return { process_, message: once(process_, "message").then(([message]) => message as A) }
}

interface Result {
  /** Requests answered, the warm-up included. */
  readonly total: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

const keys = Layer.effect(
  SigningKeys,
  Effect.promise(async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256")
    return SigningKeys.make({
      rotate: Effect.dieMessage("keys are not rotated in a bench"),
      signing: Effect.succeed({ kid: "bench", key: privateKey }),
      verifyingKey: () => Effect.succeed(publicKey),
      jwks: Effect.succeed({ keys: [] })
    })
  })
)
const repo = Layer.succeed(
  UsageRepo,
  UsageRepo.make({
    settle: () => Effect.void,
    take: ({ block }) =>
      Effect.succeed({ granted: block, counted: false, used: 0, elsewhere: 0, resetsAt: new Date() }),
    ofPeriod: () => Effect.die("not asked here"),
    daysOf: () => Effect.die("not asked here"),
    meter: () => Effect.void
  })
)
const jobs = Layer.provide(
  Jobs.Default,
  Layer.succeed(
    JobsRepo,
    JobsRepo.make({
      due: () => Effect.succeed({ due: null, waitMillis: 0 }),
      claim: () => Effect.succeedNone,
      record: () => Effect.void,
      forget: Effect.void,
      all: Effect.succeed([])
    })
  )
)

/** What any proxy on Node's own streams costs: no routing, no token, no metering. */
const pipe = (port: number): RequestListener => {
  const agent = new Agent({ keepAlive: true })
  return (req, res) => {
    const { headers, method } = req
    const up = request({ host: "127.0.0.1", port, method, path: "/mcp", headers, agent }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    req.pipe(up)
  }
}

const serve = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(listener).listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  ).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1]!.toFixed(2)

const compare = Effect.gen(function*() {
  const seconds = process.argv[2] ?? "2"
  const upstream = child<number>("machine")
  const machinePort = yield* Effect.promise(() => upstream.message)
  const { baseUrl } = yield* CurrentSettings
  const resource = `${baseUrl}/s/bench`
  const route: Route = {
    serverId: "srv",
    slug: "bench",
    accountId: "account",
    // The month's limit is checked as ever, and not reached.
    plan: "pro",
    authMode: "service_managed",
    byoaConfig: null,
    status: "running",
    activeDeploymentId: "dep",
    port: 8080,
    replayToken: "replay",
    resources: { host: "http://bench.mcp.test", path: resource },
    audiences: [resource],
    host: "localhost:8080",
    machine: { _tag: "Tcp", host: "127.0.0.1", port: machinePort }
  }
  // The month's limit is checked as ever, and never reached.
  const routes = Routes.make({
    peek: () => ({ ...route, plan: "enterprise" }),
    find: async () => route,
    expire: () => {}
  })
  const tokens = yield* AccessTokens
  const gateway = yield* Effect.provideService(makeGateway, Routes, routes)
  const gatewayPort = yield* serve((req, res) => {
    const match = gateway.match(req)
    if (match !== undefined) gateway.handle(match, req, res)
  })
  const pipePort = yield* serve(pipe(machinePort))
  const { token } = yield* tokens.mint({
    accountId: "account",
    audience: resource,
    scope: allMcpScopes,
    clientId: "bench",
    serverId: "srv"
  })

  /** `cpu`: microseconds of this process, the proxy, per request. */
  const measure = (port: number, path: string) =>
    Effect.promise(async () => {
      const before = process.cpuUsage()
      const result = await child<Result>("load", String(port), path, token, seconds).message
      const { system, user } = process.cpuUsage(before)
      return { ...result, cpu: (user + system) / result.total }
    })
  const rows: Array<Record<"direct" | "pipe" | "gateway", Result & { readonly cpu: number }>> = []
  for (let round = 1; round <= 5; round++) {
    const row = {
      direct: yield* measure(machinePort, "/mcp"),
      pipe: yield* measure(pipePort, "/mcp"),
      gateway: yield* measure(gatewayPort, "/s/bench/mcp")
    }
    rows.push(row)
    const cells = Object.entries(row).map(([name, { p50, p99, perSecond }]) =>
      `${name} ${perSecond.toFixed(0)}/s (p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)} ms)`
    )
    console.log(`round ${round}: ${cells.join(", ")}`)
  }
  const ratio = (of: "pipe" | "gateway", to: "direct" | "pipe") =>
    median(rows.map((row) => row[of].perSecond / row[to].perSecond))
  console.log(`of direct: gateway × ${ratio("gateway", "direct")}, bare pipe × ${ratio("pipe", "direct")}`)
  console.log(`of the bare pipe: gateway × ${ratio("gateway", "pipe")}`)
  const cpu = (of: "pipe" | "gateway") => median(rows.map((row) => row[of].cpu))
  console.log(`processor time a request: gateway ${cpu("gateway")} µs, bare pipe ${cpu("pipe")} µs`)

  const runtime = yield* Effect.runtime()
  const authorize = authorizer(tokens, runtime)
  /** Microseconds that the gateway's decision on a request costs, by processor time. */
  const deciding = (credentials: ReadonlyArray<string>, times: number) =>
    Effect.promise(async () => {
      const before = process.cpuUsage()
      for (let i = 0; i < times; i++) {
        const authorization = `Bearer ${credentials[i % credentials.length]}`
        const verdict = await authorize({ url: "/s/bench/mcp", headers: { authorization } } as IncomingMessage, route)
        if (verdict._tag === "Rejected") throw new Error(verdict.message)
      }
      const { system, user } = process.cpuUsage(before)
      return (user + system) / times
    })
  const fresh = yield* Effect.forEach(Array.from({ length: 2000 }), () =>
    Effect.map(
      tokens.mint({ accountId: "a", audience: resource, scope: allMcpScopes, clientId: "bench", serverId: "srv" }),
      (minted) => minted.token
    ))
  const first = yield* deciding(fresh, fresh.length)
  const known = yield* deciding([token], 200_000)
  const share = (part: number) => `${(part / Number(cpu("gateway")) * 100).toFixed(1)} %`
  console.log(
    `validating a token: ${known.toFixed(2)} µs, ${share(known)} of a proxied request; ` +
      `the first time it is seen ${first.toFixed(0)} µs, ${share(first)}`
  )
  upstream.process_.kill()
})

if (process.argv[2] === "machine") await machine()
else if (process.argv[2] === "load") await load()
else {
  const cards = ServerCards.make({
    own: {} as ServerCards["own"],
    directory: {} as ServerCards["directory"],
    ofServer: () => Effect.succeedNone,
    catalog: Effect.die("not asked for")
  })
  const never = () => Effect.die("not asked for")
  const hubKeys = HubKeys.make({ create: never, list: never, revoke: never, authenticate: () => Effect.succeedNone })
  const services = Layer.mergeAll(
    Layer.succeed(ServerCards, cards),
    Layer.succeed(HubKeys, hubKeys),
    AccessTokens.Default.pipe(Layer.provide(keys)),
    RequestMetering.Default.pipe(Layer.provide([repo, jobs])),
    RateLimit.Default
  ).pipe(Layer.provideMerge(settingsTest({ BASE_URL: "http://berth.test" })))
  await Effect.runPromise(Effect.scoped(Effect.provide(compare, services)))
}
