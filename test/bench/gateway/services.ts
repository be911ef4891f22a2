import { Descriptors } from "#http/connection/Descriptors.ts"
import { clientLayer } from "#sql/Client.ts"
import { type Settings } from "#src/config/Settings.ts"
import { ServerCards } from "#src/directory/ServerCards.ts"
import { HubKeys } from "#src/hub/HubKeys.ts"
import { Jobs } from "#src/jobs/Jobs.ts"
import { JobsRepo } from "#src/jobs/JobsRepo.ts"
import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { SigningKeys } from "#src/oauth/SigningKeys.ts"
import { type PlanName } from "#src/plans/Plan.ts"
import { type Route } from "#src/routing/Route.ts"
import { Routes } from "#src/routing/Routes.ts"
import { ServerUse } from "#src/routing/ServerUse.ts"
import { ServerUseRepo } from "#src/routing/ServerUseRepo.ts"
import { Sessions } from "#src/routing/Sessions.ts"
import { Wakes } from "#src/routing/Wakes.ts"
import { BrokenAnswers } from "#src/servers/BrokenAnswers.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { GuestRequests } from "#src/usage/GuestRequests.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { ServerRequests } from "#src/usage/ServerRequests.ts"
import { ServerRequestsRepo } from "#src/usage/ServerRequestsRepo.ts"
import { ToolCalls } from "#src/usage/ToolCalls.ts"
import { ToolCallsRepo } from "#src/usage/ToolCallsRepo.ts"
import { UsageRepo } from "#src/usage/UsageRepo.ts"
import { Effect, Layer, Redacted } from "effect"
import { generateKeyPair } from "jose"
import { settingsTest } from "../../support/Settings.ts"

export const resourceOf = ({ baseUrl }: Pick<Settings, "baseUrl">) => `${baseUrl}/s/bench`

export const routeTo = (socketPath: string, resource: string): Route => ({
  serverId: "srv",
  slug: "bench",
  accountId: "account",
  // The month's limit is checked as ever, and not reached.
  plan: "enterprise",
  authMode: "service_managed",
  byoaConfig: null,
  status: "running",
  asleep: false,
  autoStopSeconds: 300,
  computeSpent: null,
  guestRequestsPerMinute: 60,
  guestMonthPercent: 10,
  wakeProblem: null,
  wakeRetrySeconds: 0,
  activeDeploymentId: "dep",
  port: 8080,
  mark: { version: 1, run: 1 },
  draining: [],
  replayToken: "replay",
  resources: { host: "http://bench.mcp.test", path: resource },
  audiences: [resource],
  host: "localhost:8080",
  machine: { _tag: "Unix", path: socketPath }
})

const baseUrl = "http://berth.test"

export const routesTo = (socketPath: string, plan: PlanName) => {
  const route = { ...routeTo(socketPath, resourceOf({ baseUrl })), plan }
  return Layer.succeed(
    Routes,
    Routes.make({
      peek: () => route,
      find: async () => route,
      expire: () => {},
      changed: () => {},
      onChange: () => () => {}
    })
  )
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
const usage = Layer.succeed(
  UsageRepo,
  UsageRepo.make({
    settle: () => Effect.void,
    take: ({ block }) =>
      Effect.succeed({ granted: block, counted: false, used: 0, elsewhere: 0, resetsAt: new Date() }),
    ofPeriod: () => Effect.die("not asked here"),
    daysOf: () => Effect.die("not asked here"),
    reached: Effect.die("not asked here")
  })
)
const usageIn = (url: string) => Layer.orDie(Layer.provide(UsageRepo.Default, clientLayer(Redacted.make(url), 3)))
const requests = Layer.succeed(
  ServerRequestsRepo,
  ServerRequestsRepo.make({
    add: () => Effect.void,
    ofLast: () => Effect.die("not asked here"),
    seriesOf: () => Effect.die("not asked here"),
    fold: Effect.void
  })
)
const toolCalls = Layer.succeed(
  ToolCallsRepo,
  ToolCallsRepo.make({
    add: () => Effect.void,
    callsOfLast: () => Effect.die("not asked here"),
    clientsOfLast: () => Effect.die("not asked here"),
    fold: Effect.void
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
const use = Layer.succeed(
  ServerUseRepo,
  ServerUseRepo.make({
    report: () => Effect.void,
    beat: () => Effect.void,
    leave: () => Effect.void,
    want: () => Effect.void,
    forget: Effect.void
  })
)
const cards = ServerCards.make({
  own: {} as ServerCards["own"],
  directory: {} as ServerCards["directory"],
  ofServer: () => Effect.succeedNone,
  catalog: Effect.die("not asked for")
})
const never = () => Effect.die("not asked for")
const hubKeys = HubKeys.make({
  create: never,
  list: never,
  revoke: never,
  authenticate: () => Effect.succeedNone,
  reads: Effect.void,
  tierOf: never
})

/** What the gateway needs, without a database, or with one for usage alone. */
export const gatewayServices = (variables: Readonly<Record<string, string>> = {}, databaseUrl?: string) =>
  Layer.mergeAll(
    Layer.succeed(ServerCards, cards),
    Layer.succeed(HubKeys, hubKeys),
    Layer.succeed(BrokenAnswers, BrokenAnswers.make({ tell: () => Effect.void })),
    AccessTokens.Default.pipe(Layer.provide(keys)),
    RequestMetering.Default.pipe(Layer.provide([databaseUrl === undefined ? usage : usageIn(databaseUrl), jobs])),
    Layer.succeed(GuestRequests, GuestRequests.make({ admit: () => undefined, sweep: Effect.void })),
    ServerRequests.Default.pipe(Layer.provide([requests, jobs])),
    ToolCalls.Default.pipe(Layer.provide([toolCalls, jobs])),
    ServerUse.Default.pipe(Layer.provide([use, jobs])),
    Layer.succeed(Wakes, Wakes.make({ wait: () => Promise.reject(new Error("nothing sleeps here")) })),
    Layer.succeed(Sessions, Sessions.make({ opened: () => {}, closed: () => {}, openOf: never })),
    RateLimit.Default,
    Descriptors.Default
  ).pipe(Layer.provideMerge(settingsTest({ BASE_URL: baseUrl, ...variables })))
