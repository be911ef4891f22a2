import { decodeReadyConfig, describeIssue } from "#src/format/ReadyConfig.ts"
import { Either, Option, Predicate } from "effect"
import { type ServedConfig, withoutCredentials } from "./served-config.ts"

/** Resolves when the configuration is fresh or can't be fetched; a request waits at most a second. */
export type Follow = () => Promise<void>

export interface ConfigFollower {
  readonly current: () => ServedConfig
  readonly follow: Follow
}

export interface FollowingOptions {
  /** The configuration of the deployment. */
  readonly initial: ServedConfig
  /** `OAUTH_BASE_URL`: the only outside address that a machine reaches. */
  readonly baseUrl: string
  /** `PLATFORM_MCP_REPLAY_TOKEN`: identifies the server whose configuration is fetched. */
  readonly credential: string
  readonly fetch?: typeof globalThis.fetch
  readonly now?: () => number
  readonly warn?: (message: string) => void
}

/** The configuration is fetched again after this; with the wait below it is never older than ten seconds. */
const freshMs = 5_000
const maxWaitMs = 1_000
const timeoutMs = 10_000

export const noFollow: Follow = () => Promise.resolve()

export const notFollowing = (initial: ServedConfig): ConfigFollower => ({ current: () => initial, follow: noFollow })

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())

/**
 * Keeps the business's configuration up to date: a request that finds it stale first fetches it from the platform, with
 * the tag of the current one (RFC 9110 §13.1.2). Without requests nothing is fetched. After a failed fetch, or an
 * invalid configuration, the current one stays in use.
 */
export const following = (options: FollowingOptions): ConfigFollower => {
  const { baseUrl, credential, fetch = globalThis.fetch, initial, now = Date.now } = options
  const warn = options.warn ?? ((message) => void process.stderr.write(`${message}\n`))
  let config = initial
  let tag: string | undefined
  let fetchedAt = -Infinity
  let inFlight: Promise<void> | undefined
  let lastWarning = ""

  const warnOnce = (message: string) => {
    if (message !== lastWarning) warn(`Warning: the configuration is not followed: ${message}`)
    lastWarning = message
  }

  const apply = (body: unknown, etag: string | null) => {
    const decoded = decodeReadyConfig(Predicate.hasProperty(body, "data") ? body.data : undefined)
    Either.match(decoded, {
      onLeft: (error) => warnOnce(describeIssue(error)),
      onRight: (next) => {
        config = withoutCredentials(next)
        tag = etag ?? undefined
        lastWarning = ""
      }
    })
  }

  const fetchConfig = async () => {
    try {
      const response = await fetch(`${baseUrl}/api/v1/ready/self/config`, {
        headers: { authorization: `Bearer ${credential}`, ...(tag === undefined ? {} : { "if-none-match": tag }) },
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs)
      })
      if (response.status === 200) return apply(await response.json(), response.headers.get("etag"))
      await response.body?.cancel()
      // 404: no business is linked, so the configuration of the deployment stays.
      if (response.status !== 304 && response.status !== 404) warnOnce(`the platform answered ${response.status}`)
    } catch (error) {
      warnOnce(
        Option.getOrElse(Option.liftPredicate(error, Predicate.isError), () => new Error("no answer")).message
      )
    }
  }

  const follow = async () => {
    if (inFlight === undefined && now() - fetchedAt >= freshMs) {
      fetchedAt = now()
      inFlight = fetchConfig().finally(() => {
        inFlight = undefined
      })
    }
    // Counted from the start of the fetch: a later request does not wait for one that is already late.
    const remaining = fetchedAt + maxWaitMs - now()
    if (inFlight !== undefined && remaining > 0) await Promise.race([inFlight, pause(remaining)])
  }

  return { current: () => config, follow }
}
