/** The first repeated parameter (RFC 6749 §3.1, §3.2). `resource` may be repeated (RFC 8707). */
export const duplicated = (params: URLSearchParams): string | undefined => {
  const seen = new Set<string>()
  for (const name of params.keys()) {
    if (seen.has(name) && name !== "resource") return name
    seen.add(name)
  }
  return undefined
}

/** The value of a parameter; one sent without a value counts as left out (RFC 6749 §3.1). */
export const parameter = (params: URLSearchParams, name: string): string | undefined => {
  const value = params.get(name)
  return value === null || value === "" ? undefined : value
}
