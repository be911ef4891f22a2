import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Handshakes } from "#src/deployments/Handshakes.ts"
import { MemberTokens } from "#src/oauth/MemberTokens.ts"
import { Clock, Effect, Option, Runtime } from "effect"
import { LRUCache } from "lru-cache"
import { Breaker } from "./breaker.ts"
import { HostedFetch } from "./HostedFetch.ts"
import { failureOf } from "./member-failure.ts"
import { isLostSession, type MemberAddress, type MemberSession, openSession } from "./member-session.ts"

export interface CalledMember extends MemberAddress {
  readonly serverId: string
}

export interface MemberRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** Scopes of the token that the member gets, space-separated. */
  readonly scope: string
}

/** `message` is a sentence without its full stop. */
export type Outcome =
  | { readonly _tag: "Answered"; readonly result: Readonly<Record<string, unknown>> }
  | { readonly _tag: "Failed"; readonly message: string }
  | { readonly _tag: "TimedOut"; readonly message: string }

/** Idle sessions with members are closed after this: they are kept for speed alone, and any instance can open one. */
const idleMillis = 60_000
const mostSessions = 500

/**
 * Requests of composites to their members, on behalf of the caller's account: with a token for that member alone,
 * through the gateway, within a deadline. A member that fails is left alone for a while.
 */
export class MemberCalls extends Effect.Service<MemberCalls>()("composites/MemberCalls", {
  scoped: Effect.gen(function*() {
    const tokens = yield* MemberTokens
    const handshakes = yield* Handshakes
    const hostedFetch = yield* HostedFetch
    const deadline = (yield* CurrentSettings).compositeMemberSeconds * 1000
    const run = Runtime.runPromise(yield* Effect.runtime())
    const breaker = new Breaker()
    const sessions = new LRUCache<string, Promise<MemberSession>>({
      max: mostSessions,
      ttl: idleMillis,
      ttlAutopurge: true,
      updateAgeOnGet: true,
      dispose: (opening) => void opening.then(({ close }) => close(), () => undefined)
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => sessions.clear()))

    /** Each request has the token of that moment: a session outlives its first one. */
    const open = (member: CalledMember, scope: string, actor: CurrentActor["Type"]) => {
      const fetch: typeof globalThis.fetch = async (url, init) => {
        const token = await run(
          Effect.provideService(tokens.keptToken(member.serverId, scope), CurrentActor, actor)
        )
        return hostedFetch({ authorization: `Bearer ${token}` })(url as string | URL, init)
      }
      return openSession(member, fetch as Parameters<typeof openSession>[1], () => {
        void run(handshakes.again(member.serverId)).catch(() => undefined)
      })
    }

    const sessionOf = (key: string, make: () => Promise<MemberSession>) => {
      const kept = sessions.get(key)
      if (kept !== undefined) return kept
      const opening = make()
      sessions.set(key, opening)
      opening.catch(() => sessions.peek(key) === opening && sessions.delete(key))
      return opening
    }

    /** One attempt, and a second one where the first met a session that the member has lost. */
    const ask = async (
      key: string,
      make: () => Promise<MemberSession>,
      { method, params }: MemberRequest,
      signal: AbortSignal
    ) => {
      const wasKept = sessions.has(key)
      const opening = sessionOf(key, make)
      try {
        return await (await opening).request(method, params, signal)
      } catch (error) {
        const isOurs = sessions.peek(key) === opening
        if (isOurs && !signal.aborted && failureOf(error).isBroken || isLostSession(error)) sessions.delete(key)
        if (!wasKept || !isLostSession(error)) throw error
        return await (await sessionOf(key, make)).request(method, params, signal)
      }
    }

    /** Never fails: what went wrong with a member is its outcome. */
    const request = Effect.fn("MemberCalls.request")(function*(member: CalledMember, asked: MemberRequest) {
      const actor = yield* CurrentActor
      const key = `${actor.accountId} ${member.serverId}`
      const wait = breaker.wait(key, yield* Clock.currentTimeMillis)
      if (wait > 0) {
        const message = `its server failed several times in a row and is not asked for ${wait} seconds`
        return { _tag: "Failed", message } satisfies Outcome
      }
      const attempt = Effect.gen(function*() {
        // First alone: why there is no token is said in its own words.
        yield* tokens.tokenFor(member.serverId, asked.scope)
        return yield* Effect.tryPromise({
          try: (signal) => ask(`${key} ${asked.scope}`, () => open(member, asked.scope, actor), asked, signal),
          catch: failureOf
        })
      })
      return yield* attempt.pipe(
        Effect.timeoutOption(deadline),
        Effect.map((answered): Outcome =>
          Option.match(answered, {
            onNone: () => ({ _tag: "TimedOut", message: `no answer within ${deadline / 1000} seconds` }),
            onSome: (result) => ({ _tag: "Answered", result })
          })
        ),
        Effect.tap(({ _tag }) =>
          Effect.map(
            Clock.currentTimeMillis,
            (now) => _tag === "TimedOut" ? breaker.failed(key, now) : breaker.worked(key)
          )
        ),
        Effect.catchTag("MemberRefused", ({ reason }) => Effect.succeed<Outcome>({ _tag: "Failed", message: reason })),
        Effect.catchAll((failure) =>
          Effect.map(Clock.currentTimeMillis, (now): Outcome => {
            if (failure.isBroken) breaker.failed(key, now)
            else breaker.worked(key)
            return { _tag: "Failed", message: failure.message }
          })
        )
      )
    })

    return { request } as const
  })
}) {}
