/** How often a search finds the brand that was meant among its first 20. */
import { anyBrand, mistyped } from "./questions.ts"

interface Page {
  readonly data: ReadonlyArray<{ readonly name: string }>
}

/** The shares that are found of so many brands, asked as they are written and with one typo. */
export const recall = async (get: (path: string) => Promise<string>, count: number) => {
  const finds = async (name: string, search: string) => {
    const { data } = JSON.parse(await get(`/v1/directory?${new URLSearchParams({ search })}`)) as Page
    return data.some((listing) => listing.name.startsWith(name)) ? 1 : 0
  }
  let written = 0
  let wrong = 0
  for (let asked = 0; asked < count;) {
    const { name } = anyBrand()
    const typed = mistyped(name)
    // Its words are too short to have typos in.
    if (typed === name) continue
    asked++
    written += await finds(name, name)
    wrong += await finds(name, typed)
  }
  return { written: written / count, mistyped: wrong / count }
}
