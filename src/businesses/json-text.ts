const storable = (text: string) => !text.includes("\u0000") && text.isWellFormed()

/** Whether PostgreSQL's jsonb accepts a JSON value: it rejects NUL and lone surrogates, in names too. */
export const storableJson = (value: unknown): boolean => {
  if (typeof value === "string") return storable(value)
  if (typeof value !== "object" || value === null) return true
  return Object.entries(value).every(([name, inner]) => storable(name) && storableJson(inner))
}
