/** RFC 9728 §3: the path of protected-resource metadata. */
export const protectedResource = "/.well-known/oauth-protected-resource"

/** A resource's own document: the well-known path goes between its host and its path (RFC 9728 §3.1). */
export const documentUrl = (resource: string) => {
  const { origin, pathname } = new URL(resource)
  return `${origin}${protectedResource}${pathname === "/" ? "" : pathname}`
}
