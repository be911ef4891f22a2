import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { tidyScope } from "#src/oauth/checks/client-document-fields.ts"
import { clientIdUrlProblem, isClientIdUrl } from "#src/oauth/checks/client-id-url.ts"
import { checkRegistration } from "#src/oauth/checks/registration.ts"
import { Servers } from "#src/servers/Servers.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { addressBucket } from "#src/shared/client-address.ts"
import { GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { newUlid, ulidPattern } from "#src/shared/ids.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { Clock, Deferred, Duration, Effect, FiberId, Option } from "effect"
import { longestLifetime } from "./client-metadata-lifetime.ts"
import { type Fetched, fetchMetadata } from "./client-metadata.ts"
import {
  ClientMetadataError,
  ClientUnknown,
  type OAuthClient,
  type PreRegistration,
  TooManyClients,
  TooManyRegistrations
} from "./Client.ts"
import { type ClientRow, ClientsRepo } from "./ClientsRepo.ts"

/** Prefix of dynamic clients' ids, which no URL starts with. */
const dynamicPrefix = "client_"
const registrationsPerHour = 60
const clientsPerServer = 100
const unusedLifetime = Duration.toMillis("30 days")
const maxUnused = 20_000

const isDynamicId = (text: string) =>
  text.startsWith(dynamicPrefix) && ulidPattern.test(text.slice(dynamicPrefix.length))

const view = ({ clientId, clientName, document, kind, lastFetchedAt, redirectUris, registeredAt, scope }: ClientRow) =>
  ({
    clientId,
    kind,
    clientName,
    redirectUris,
    grantTypes: document.grant_types,
    ...(scope === null ? {} : { scope }),
    ...(lastFetchedAt === null ? {} : { lastFetchedAt }),
    registeredAt
  }) satisfies OAuthClient

/** The row after a fetch. A document without caching headers stays fresh for a day. */
const rowOf = (clientId: string, stored: ClientRow | undefined, fetched: Fetched): ClientRow => {
  const at = new Date(fetched.at)
  const until = (lifetime: number) => new Date(fetched.at + lifetime)
  if (fetched._tag === "NotModified" && stored !== undefined) {
    // A 304 without caching headers keeps the previous lifetime (RFC 9111 §4.3.4).
    const before = (stored.freshUntil?.getTime() ?? 0) - (stored.lastFetchedAt?.getTime() ?? 0)
    return { ...stored, freshUntil: until(fetched.lifetime ?? Math.max(0, before)), lastFetchedAt: at }
  }
  if (fetched._tag === "NotModified") throw new Error("a 304 without a document of ours")
  const { document, etag, lifetime = longestLifetime } = fetched
  return {
    clientId,
    kind: "metadata",
    clientName: document.client_name,
    redirectUris: [...new Set(document.redirect_uris)],
    scope: tidyScope(document.scope),
    document: {
      grant_types: document.grant_types,
      response_types: document.response_types,
      token_endpoint_auth_method: document.token_endpoint_auth_method
    },
    etag,
    freshUntil: until(lifetime),
    lastFetchedAt: at,
    registeredAt: stored?.registeredAt ?? at
  }
}

/** Clients that ask users for access: by metadata document, or by dynamic registration. */
export class OAuthClients extends Effect.Service<OAuthClients>()("oauth/OAuthClients", {
  scoped: Effect.gen(function*() {
    const repo = yield* ClientsRepo
    const servers = yield* Servers
    const http = yield* GuardedHttp
    const limits = yield* RateLimit
    const { allowedPrivateHosts } = yield* CurrentSettings
    const scope = yield* Effect.scope
    const inFlight = new Map<string, Deferred.Deferred<OAuthClient, ClientMetadataError>>()

    const fetchAndSave = Effect.fn("OAuthClients.ask")(function*(clientId: string) {
      const stored = Option.getOrUndefined(yield* repo.find(clientId))
      const fetched = yield* fetchMetadata(http, clientId, stored?.etag ?? null)
      return view(yield* repo.save(rowOf(clientId, stored, fetched)))
    })

    /**
     * Fetches a client's document, once for all concurrent callers; an interrupted caller does not affect the others. A
     * failure reaches the waiting callers and is not cached (CIMD §4.3).
     */
    const refresh = (clientId: string) =>
      Effect.uninterruptibleMask((restore) => {
        const pending = inFlight.get(clientId)
        if (pending !== undefined) return restore(Deferred.await(pending))
        const result = Deferred.unsafeMake<OAuthClient, ClientMetadataError>(FiberId.none)
        inFlight.set(clientId, result)
        return Effect.interruptible(fetchAndSave(clientId)).pipe(
          Effect.onExit((exit) =>
            Effect.zipRight(Effect.sync(() => inFlight.delete(clientId)), Deferred.done(result, exit))
          ),
          Effect.forkIn(scope),
          Effect.zipRight(restore(Deferred.await(result)))
        )
      })

    const byDocument = Effect.fn("OAuthClients.byDocument")(function*(clientId: string, useCached: boolean) {
      const problem = clientIdUrlProblem(clientId, allowedPrivateHosts)
      if (problem !== undefined) return yield* new ClientMetadataError({ clientId, reason: `its URL ${problem}` })
      // While a fetch is in flight, every caller waits for its result.
      if (!useCached || inFlight.has(clientId)) return yield* refresh(clientId)
      const stored = Option.getOrUndefined(yield* repo.find(clientId))
      const now = yield* Clock.currentTimeMillis
      return stored !== undefined && now < (stored.freshUntil?.getTime() ?? 0) ? view(stored) : yield* refresh(clientId)
    })

    /** A stored client, without fetching anything. For what is already authorized. */
    const find = Effect.fn("OAuthClients.find")(function*(clientId: string) {
      const wellFormed = isDynamicId(clientId) || isClientIdUrl(clientId) && clientId.length <= 2048
      return wellFormed ? Option.map(yield* repo.find(clientId), view) : Option.none<OAuthClient>()
    })

    /** The client of an authorization request. Fetches its metadata document unless the stored one is fresh. */
    const resolve = Effect.fn("OAuthClients.resolve")(function*(clientId: string) {
      if (isClientIdUrl(clientId)) return yield* byDocument(clientId, true)
      const found = yield* find(clientId)
      return Option.isSome(found) ? found.value : yield* new ClientUnknown()
    })

    /** Registers a client by its document for one of the caller's servers, which then trusts it. Always fetches. */
    const preRegister = Effect.fn("OAuthClients.preRegister")(
      function*(serverId: string, { clientMetadataUrl }: typeof PreRegistration.Type) {
        const server = yield* servers.visible(serverId)
        const client = yield* byDocument(clientMetadataUrl, false)
        const { clientId, clientName, redirectUris } = client
        const linked = yield* repo.link({ serverId: server.id, clientId, limit: clientsPerServer })
        if (Option.isNone(linked)) {
          // If the server was deleted meanwhile, this fails with not found.
          yield* servers.visible(serverId)
          return yield* new TooManyClients()
        }
        const lastFetchedAt = client.lastFetchedAt ?? client.registeredAt
        return { clientId, clientName, redirectUris, registeredAt: linked.value.registeredAt, lastFetchedAt }
      },
      withPolicy(sessionOnly)
    )

    const admit = Effect.fn("OAuthClients.admit")(function*() {
      const rule = {
        key: `register:${addressBucket(yield* CallerAddress)}`,
        limit: registrationsPerHour,
        window: "1 hour"
      } as const
      const { allowed, retryAfterSeconds } = yield* limits.consumeOrPass(rule)
      if (!allowed) return yield* new TooManyRegistrations({ retryAfter: retryAfterSeconds })
    })

    /**
     * Dynamic registration (RFC 7591 §3.1), open to anybody, with a rate limit for each address. Returns the body of
     * the 201.
     */
    const register = Effect.fn("OAuthClients.register")(function*(input: unknown) {
      const request = yield* checkRegistration(input)
      yield* admit()
      const registeredAt = new Date(yield* Clock.currentTimeMillis)
      const { clientId, document } = yield* repo.save({
        clientId: dynamicPrefix + newUlid(),
        kind: "dynamic",
        clientName: request.clientName,
        redirectUris: request.redirectUris,
        scope: request.scope,
        document: {
          grant_types: request.grantTypes,
          response_types: ["code"],
          token_endpoint_auth_method: "none"
        },
        etag: null,
        freshUntil: null,
        lastFetchedAt: null,
        registeredAt
      })
      return {
        client_id: clientId,
        client_id_issued_at: Math.floor(registeredAt.getTime() / 1000),
        client_name: request.clientName,
        redirect_uris: request.redirectUris,
        ...(request.scope === null ? {} : { scope: request.scope }),
        ...document
      }
    })

    /** Whether the server's owner registered the client for it. */
    const isTrustedFor = (serverId: string, clientId: string) => repo.isLinked(serverId, clientId)

    /** Deletes clients without a grant or a server: after 30 days, or when there are too many. */
    const sweep = Effect.flatMap(
      Clock.currentTimeMillis,
      (now) => repo.sweep({ before: new Date(now - unusedLifetime), limit: maxUnused })
    )

    return { resolve, find, register, preRegister, isTrustedFor, sweep } as const
  })
}) {}
