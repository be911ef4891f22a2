import { decodeReadyConfig, describeIssue } from "#src/format/ReadyConfig.ts"
import { Either, Option, Predicate } from "effect"
import { served, type ServedConfig } from "./served-config.ts"

/** Resolves when the configuration is of now, or nearly, or can't be had: a request waits no longer than a second. */
export type Follow = () => Promise<void>

export interface Following {
  readonly current: () => ServedConfig
  readonly follow: Follow
}

export interface FollowingOptions {
  /** What the server was deployed with. */
  readonly initial: ServedConfig
  /** `OAUTH_BASE_URL`: the one address outside that a machine reaches. */
  readonly baseUrl: string
  /** `PLATFORM_MCP_REPLAY_TOKEN`: who asks, and so whose configuration is meant. */
  readonly credential: string
  readonly fetch?: typeof globalThis.fetch
  readonly now?: () => number
  readonly complain?: (message: string) => void
}

/** An answer is of this age at most, which with the wait below stays under ten seconds. */
const freshMs = 5_000
const patienceMs = 1_000
const timeoutMs = 10_000

export const noFollow: Follow = () => Promise.resolve()

export const notFollowing = (initial: ServedConfig): Following => ({ current: () => initial, follow: noFollow })

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())

/**
 * Keeps to the business's configuration while it changes: a request that finds it old asks the platform first, with the
 * tag of what is known (RFC 9110 §13.1.2). Nobody asks while nobody is served. Where there is no answer, or none that is
 * a configuration, what is known stands.
 */
export const following = (options: FollowingOptions): Following => {
  const { baseUrl, credential, fetch = globalThis.fetch, initial, now = Date.now } = options
  const complain = options.complain ?? ((message) => void process.stderr.write(`${message}\n`))
  let config = initial
  let tag: string | undefined
  let askedAt = -Infinity
  let asking: Promise<void> | undefined
  let complained = ""

  const complainOnce = (message: string) => {
    if (message !== complained) complain(`Warning: the configuration is not followed: ${message}`)
    complained = message
  }

  const take = (body: unknown, etag: string | null) => {
    const decoded = decodeReadyConfig(Predicate.hasProperty(body, "data") ? body.data : undefined)
    Either.match(decoded, {
      onLeft: (error) => complainOnce(describeIssue(error)),
      onRight: (next) => {
        config = served(next)
        tag = etag ?? undefined
        complained = ""
      }
    })
  }

  const ask = async () => {
    try {
      const response = await fetch(`${baseUrl}/api/v1/ready/self/config`, {
        headers: { authorization: `Bearer ${credential}`, ...(tag === undefined ? {} : { "if-none-match": tag }) },
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs)
      })
      if (response.status === 200) return take(await response.json(), response.headers.get("etag"))
      await response.body?.cancel()
      // 404: no business is linked, and what the server was deployed with counts.
      if (response.status !== 304 && response.status !== 404) complainOnce(`the platform answered ${response.status}`)
    } catch (error) {
      complainOnce(
        Option.getOrElse(Option.liftPredicate(error, Predicate.isError), () => new Error("no answer")).message
      )
    }
  }

  const follow = async () => {
    if (asking === undefined && now() - askedAt >= freshMs) {
      askedAt = now()
      asking = ask().finally(() => {
        asking = undefined
      })
    }
    // Counted from the question: who comes later does not wait for what is late already.
    const left = askedAt + patienceMs - now()
    if (asking !== undefined && left > 0) await Promise.race([asking, pause(left)])
  }

  return { current: () => config, follow }
}
