import { mostBusinesses } from "./input-schema.ts"

/** What becomes of the businesses of one call, each in the order of rank. */
export interface Chosen {
  /** Those with an answer: whom it asks, and who can't be called, whose answer says why. */
  readonly answering: ReadonlyArray<string>
  /** Those that could be called, and for which there is no room. */
  readonly notAsked: ReadonlyArray<string>
}

/** However many there are, the best ranked that can be called are asked, and nobody vanishes without a word. */
const bestOf = (slugs: ReadonlyArray<string>, isCallable: (slug: string) => boolean): Chosen => {
  const notAsked = slugs.filter(isCallable).slice(mostBusinesses)
  const tooMany = new Set(notAsked)
  return { answering: slugs.filter((slug) => !tooMany.has(slug)), notAsked }
}

/** Whom a merged tool asks, of those that have it; a text says what is wrong with the argument. */
export const chosenBusinesses = (
  asked: unknown,
  slugs: ReadonlyArray<string>,
  isCallable: (slug: string) => boolean
): Chosen | string => {
  if (asked === undefined || asked === null) return bestOf(slugs, isCallable)
  // Models often send one where a list is asked for.
  const list: unknown = typeof asked === "string" ? [asked] : asked
  if (!Array.isArray(list) || !list.every((one) => typeof one === "string")) return "must be a list of slugs"
  const chosen = [...new Set(list as ReadonlyArray<string>)]
  if (chosen.length === 0 || chosen.length > mostBusinesses) return `must have 1 to ${mostBusinesses} entries`
  const unknown = chosen.find((slug) => !slugs.includes(slug))
  if (unknown === undefined) return { answering: chosen, notAsked: [] }
  const named = slugs.slice(0, mostBusinesses).join(", ")
  const more = slugs.length > mostBusinesses ? " and others, which composite_members lists" : ""
  return `no business with this tool is called ${
    JSON.stringify(unknown.slice(0, 100).toWellFormed())
  }; there are ${named}${more}`
}
