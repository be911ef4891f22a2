import { plainHeader } from "./header-words.ts"

/** Values by which programs mark what their customers don't see, by the column's name. */
const marks: ReadonlyMap<string, RegExp> = new Map([
  ["status", /^(?:draft|archived|inactive|disabled|deleted|hidden|unpublished)$/i],
  ["published", /^(?:0|-1|false|no|n)$/i],
  ["archived", /^(?:1|true|yes|y)$/i],
  ["hidden", /^(?:1|true|yes|y)$/i],
  ["visible", /^(?:0|false|no|n)$/i],
  ["product visible", /^(?:0|false|no|n)$/i],
  ["active", /^(?:0|false|no|n)$/i]
])

export interface Marking {
  readonly at: number
  readonly name: string
  readonly hides: RegExp
}

/** The columns that may say that an item is a draft or hidden. */
export const markingsOf = (names: ReadonlyArray<string>): ReadonlyArray<Marking> =>
  names.slice(0, 1000).flatMap((name, at) => {
    const hides = marks.get(plainHeader(name))
    return hides === undefined ? [] : [{ at, name: name.trim(), hides }]
  })

/** What a row says of its item: `Status "draft"`. */
export const markingIn = (cells: ReadonlyArray<string>, markings: ReadonlyArray<Marking>) => {
  const marking = markings.find(({ at, hides }) => hides.test(cells[at]?.trim() ?? ""))
  return marking === undefined ? undefined : `${marking.name} "${cells[marking.at]?.trim() ?? ""}"`
}
