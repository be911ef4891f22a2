/** Whether `If-None-Match` has the tag, by the weak comparison (RFC 9110 §13.1.2). */
export const isKnown = (header: string | undefined, etag: string) =>
  header !== undefined &&
  (header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag))
