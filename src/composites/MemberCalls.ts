import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { type MemberGrantRow } from "#src/oauth/member-standing.ts"
import { MemberTokens } from "#src/oauth/MemberTokens.ts"
import { StaleTools } from "#src/servers/StaleTools.ts"
import { traced } from "#src/shared/traced.ts"
import { wellFormedFields } from "#src/shared/well-formed.ts"
import { type FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect, Runtime } from "effect"
import { LRUCache } from "lru-cache"
import { setMaxListeners } from "node:events"
import { Breaker } from "./breaker.ts"
import { resting, revocation } from "./callable-member.ts"
import { HostedFetch } from "./HostedFetch.ts"
import { type MemberCode, type RpcCode } from "./member-code.ts"
import { failureOf } from "./member-failure.ts"
import { type MemberAddress, type MemberSession, openSession } from "./member-session.ts"

/** A member as the caller's account may use it at this moment. */
export type CalledMember = MemberAddress & MemberGrantRow & {
  /** Whether its server slept when it was looked up: the call wakes it. */
  readonly asleep: boolean
}

export interface MemberRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** Scopes of the token that the member gets, space-separated. */
  readonly scope: string
}

export type Outcome =
  | { readonly _tag: "Answered"; readonly result: Readonly<Record<string, unknown>> }
  /** `message` is a sentence without its full stop. */
  | {
    readonly _tag: "Failed"
    readonly code: MemberCode
    readonly message: string
    readonly rpcCode?: RpcCode | undefined
  }

/** The breaker's state is an account's own. */
const keyOf = (accountId: string, serverId: string) => `${accountId} ${serverId}`

const failed = (code: MemberCode, message: string, rpcCode?: RpcCode): Outcome => ({
  _tag: "Failed",
  code,
  message,
  rpcCode
})

/** Idle sessions with members are closed after this: they are kept for speed alone, and any instance can open one. */
const idleMillis = 60_000
const mostSessions = 500

const late = Symbol("late")

/** The time that all members of a request have together; then, or when the caller is gone, its signal ends what is left. */
const deadlineOf = (millis: number, interrupted: AbortSignal) => {
  const controller = new AbortController()
  const { signal } = controller
  setMaxListeners(0, signal)
  const interrupt = () => controller.abort(interrupted.reason)
  if (interrupted.aborted) interrupt()
  else interrupted.addEventListener("abort", interrupt)
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<typeof late>((resolve) => {
    timer = setTimeout(() => {
      resolve(late)
      controller.abort()
    }, millis)
  })
  const clear = () => {
    clearTimeout(timer)
    interrupted.removeEventListener("abort", interrupt)
  }
  return { passed, signal, interrupted, clear }
}
type Deadline = ReturnType<typeof deadlineOf>

/**
 * Requests of composites to their members, on behalf of the caller's account: with a token for that member alone,
 * through the gateway, within a deadline. A member that fails is left alone for a while. Members are asked by plain
 * promises: a fiber and a race for each would cost more than all that is sent.
 */
export class MemberCalls extends Effect.Service<MemberCalls>()("composites/MemberCalls", {
  scoped: Effect.gen(function*() {
    const tokens = yield* MemberTokens
    const staleTools = yield* StaleTools
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
    const open = (member: CalledMember, scope: string, actor: Actor, now: () => number) => {
      const { serverId } = member
      const renewed = async () => {
        const admission = await run(Effect.provideService(tokens.renew(serverId, scope), CurrentActor, actor))
        if (admission?._tag !== "Admitted") throw new Error("there is no token for it")
        return admission.token
      }
      const fetch: FetchLike = async (url, init) => {
        const token = tokens.kept(actor.accountId, serverId, scope, now()) ?? await renewed()
        return hostedFetch({ authorization: `Bearer ${token}` })(url, init)
      }
      return openSession(member, fetch, () => {
        void run(staleTools.told(serverId)).catch(() => undefined)
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
        const isLost = await opening.then((session) => session.isLost(error), () => false)
        if (isOurs && (isLost || !signal.aborted && failureOf(error).isBroken)) sessions.delete(key)
        if (!wasKept || !isLost) throw error
        return await (await sessionOf(key, make)).request(method, params, signal)
      }
    }

    /** Never rejects: what went wrong with a member is its outcome. */
    const outcomeOf = async (
      member: CalledMember,
      asked: MemberRequest,
      actor: Actor,
      now: () => number,
      { interrupted, passed, signal }: Deadline
    ): Promise<Outcome> => {
      const key = keyOf(actor.accountId, member.serverId)
      const wait = breaker.wait(key, now())
      if (wait > 0) {
        return failed(resting(wait).code, resting(wait).reason)
      }
      try {
        const opening = () => open(member, asked.scope, actor, now)
        const result = await Promise.race([ask(`${key} ${asked.scope}`, opening, asked, signal), passed])
        if (result === late) {
          const silent = `no answer within ${deadline / 1000} seconds`
          // A machine may take longer to start than a member has, which is not its fault.
          if (member.asleep) {
            return failed("member_timeout", `${silent}: it was asleep and is waking, ask it again soon`)
          }
          breaker.failed(key, now())
          return failed("member_timeout", silent)
        }
        breaker.worked(key)
        return { _tag: "Answered", result: wellFormedFields(result) }
      } catch (error) {
        const { code, isBroken, message, rpcCode } = failureOf(error)
        // A caller that hangs up says nothing of the member.
        if (!isBroken) breaker.worked(key)
        else if (!interrupted.aborted) breaker.failed(key, now())
        return failed(code, message, rpcCode)
      }
    }

    /** The members at once; their outcomes in the same order. */
    const request = traced("MemberCalls.request")(
      function*(members: ReadonlyArray<CalledMember>, asked: MemberRequest) {
        const actor = yield* CurrentActor
        const clock = yield* Effect.clock
        const admissions = yield* tokens.admit(members, asked.scope)
        return yield* Effect.promise((interrupted) => {
          const end = deadlineOf(deadline, interrupted)
          const outcomes = members.map((member): Promise<Outcome> | Outcome => {
            const admission = admissions.get(member.serverId)
            if (admission?._tag === "Refused") return failed("member_refused", admission.reason)
            if (admission?._tag === "Revoked") return failed("member_revoked", revocation(admission.grantId).reason)
            return outcomeOf(member, asked, actor, () => clock.unsafeCurrentTimeMillis(), end)
          })
          return Promise.all(outcomes).finally(end.clear)
        })
      }
    )

    /** Seconds that the server still rests for the account. */
    const rest = (accountId: string, serverId: string, now: number) => breaker.rest(keyOf(accountId, serverId), now)

    return { request, rest } as const
  })
}) {}
