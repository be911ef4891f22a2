/** A token bucket for the lines of a machine: a burst, then this many per second. Each 512 characters cost one more. */
export const burst = 2_000
export const perSecond = 200
const unit = 512

export interface Cap {
  readonly tokens: number
  /** Unix milliseconds of the last refill. */
  readonly at: number
  /** Lines dropped since the last note about it. */
  readonly dropped: number
}

export const fullCap = (now: number): Cap => ({ tokens: burst, at: now, dropped: 0 })

const refill = (cap: Cap, now: number): Cap => ({
  ...cap,
  tokens: Math.min(burst, cap.tokens + (Math.max(0, now - cap.at) * perSecond) / 1000),
  at: Math.max(now, cap.at)
})

/** The admitted lines, in order, and the cap after them. */
export const admit = <A extends { readonly text: string }>(cap: Cap, now: number, lines: ReadonlyArray<A>) => {
  const { at, ...start } = refill(cap, now)
  let { dropped, tokens } = start
  const admitted: Array<A> = []
  for (const line of lines) {
    const cost = 1 + Math.floor(line.text.length / unit)
    if (cost <= tokens) {
      tokens -= cost
      admitted.push(line)
    } else dropped += 1
  }
  return { admitted, cap: { at, tokens, dropped } satisfies Cap }
}
