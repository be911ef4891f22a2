/** The UTC calendar month around a moment: [start, end). */
export const monthOf = (millis: number) => {
  const at = new Date(millis)
  const start = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1))
  return { start, end: new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)) }
}

/** The UTC day, `YYYY-MM-DD`, as the table of days keys it. */
export const dayKey = (millis: number) => new Date(millis).toISOString().slice(0, 10)

/** First day of the UTC month, `YYYY-MM-01`. */
export const monthKey = (millis: number) => dayKey(monthOf(millis).start.getTime())
