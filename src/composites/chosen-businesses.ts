import { mostBusinesses } from "./input-schema.ts"

/** The best ranked that can be called; others fill up, since it is told why they don't answer. In the order of rank. */
const bestOf = (slugs: ReadonlyArray<string>, isCallable: (slug: string) => boolean) => {
  const callableFirst = [...new Set([...slugs.filter(isCallable), ...slugs])]
  const most = new Set(callableFirst.slice(0, mostBusinesses))
  return slugs.filter((slug) => most.has(slug))
}

/** Whom a merged tool asks, of those that have it; a text says what is wrong with the argument. */
export const chosenBusinesses = (
  asked: unknown,
  slugs: ReadonlyArray<string>,
  isCallable: (slug: string) => boolean
): ReadonlyArray<string> | string => {
  if (asked === undefined || asked === null) return bestOf(slugs, isCallable)
  // Models often send one where a list is asked for.
  const list: unknown = typeof asked === "string" ? [asked] : asked
  if (!Array.isArray(list) || !list.every((one) => typeof one === "string")) return "must be a list of slugs"
  const chosen = [...new Set(list as ReadonlyArray<string>)]
  if (chosen.length === 0 || chosen.length > mostBusinesses) return `must have 1 to ${mostBusinesses} entries`
  const unknown = chosen.find((slug) => !slugs.includes(slug))
  if (unknown === undefined) return chosen
  const named = slugs.slice(0, mostBusinesses).join(", ")
  const more = slugs.length > mostBusinesses ? " and others, which composite_members lists" : ""
  return `no business with this tool is called ${
    JSON.stringify(unknown.slice(0, 100).toWellFormed())
  }; there are ${named}${more}`
}
