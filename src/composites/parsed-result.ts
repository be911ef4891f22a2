import { Predicate } from "effect"

/** An invalid item costs twenty times what a valid one does: a union tells of each of its members why it is not that. */
const atOnce = 200

/**
 * A member's result by its schema, whose list is the only part of it that may be long; undefined when it is invalid. The
 * list is looked at piece by piece and no further than its first invalid item: zod would gather the issues of all.
 */
export const parsedResult = <A>(
  schema: { readonly safeParse: (value: unknown) => { data?: A } },
  list: "content" | "contents" | "messages",
  result: unknown
): A | undefined => {
  const items: unknown = Predicate.isRecord(result) ? result[list] : undefined
  if (Array.isArray(items) && items.length > atOnce) {
    for (let at = 0; at < items.length; at += atOnce) {
      if (schema.safeParse({ [list]: items.slice(at, at + atOnce) }).data === undefined) return undefined
    }
  }
  return schema.safeParse(result).data
}
