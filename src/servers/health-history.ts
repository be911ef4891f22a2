import { Schema } from "effect"

/** Running hours that a health score is about. */
export const window = 24

const hour = 3600

/** Good probes and all probes of a running hour. */
const Hour = Schema.Tuple(Schema.NonNegativeInt, Schema.NonNegativeInt)

/**
 * A server's probes by running hour, the oldest first, at most `window` of them. Hours are counted by probes, each of
 * which stands for the interval since the one before: a time in which nobody probed, because the server was stopped or
 * the platform down, is not in them.
 */
export const HealthHistory = Schema.Struct({
  hours: Schema.Array(Hour),
  /** Seconds of the last hour that have passed. */
  hourSeconds: Schema.NonNegativeInt
})
export type HealthHistory = typeof HealthHistory.Type

const none: HealthHistory = { hours: [], hourSeconds: 0 }

/** The history with one more probe, which stands for `seconds` of running, an hour at most. */
export const afterProbe = ({ hours, hourSeconds }: HealthHistory, isGood: boolean, seconds: number): HealthHistory => {
  const isFull = hourSeconds + seconds > hour
  const [good, probes] = (isFull ? undefined : hours.at(-1)) ?? [0, 0]
  const before = isFull ? hours : hours.slice(0, -1)
  return {
    hours: [...before, [good + (isGood ? 1 : 0), probes + 1] as const].slice(-window),
    hourSeconds: isFull ? seconds : hourSeconds + seconds
  }
}

/** That of a server whose first deployment has passed its checks: they count as one good probe. */
export const firstHistory = afterProbe(none, true, 0)

export const probeCounts = ({ hours }: Pick<HealthHistory, "hours">) => {
  const probes = hours.reduce((sum, [, each]) => sum + each, 0)
  return { probes, failures: probes - hours.reduce((sum, [good]) => sum + good, 0) }
}

/** The documented formula of `health_score`: the share of good probes in percent, rounded; 0 without any. */
export const healthScore = (history: Pick<HealthHistory, "hours">) => {
  const { failures, probes } = probeCounts(history)
  return probes === 0 ? 0 : Math.round(100 * (probes - failures) / probes)
}
