/** The UTC calendar month around a moment: [start, end). */
export const monthOf = (millis: number) => {
  const at = new Date(millis)
  const start = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1))
  return { start, end: new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)) }
}

/** First day of the UTC month, `YYYY-MM-01`, as the table keys it. */
export const monthKey = (millis: number) => monthOf(millis).start.toISOString().slice(0, 10)
