import { sameKindAs } from "#src/directory/kinds.ts"
import { contentOf } from "#src/directory/stop-words.ts"
import { openNowOf } from "#src/syndication/open-now.ts"
import { describe, expect, it } from "vitest"

describe("a word for a kind of business", () => {
  it.each([
    ["zahnarzt", "dentist"],
    ["Bäckerei", "bakery"],
    ["drugstore", "pharmacy"],
    ["кофейня", "coffee"],
    ["歯医者", "dental"],
    ["치과", "zahnarzt"]
  ])("%s stands for %s, too", (asked, other) => {
    expect(sameKindAs(asked)).toContain(other)
  })

  it("is spelled as the vocabulary has it, without marks over letters", () => {
    expect(sameKindAs("coffee")).toContain("кофеиня")
  })

  it("that is only found asks for itself alone", () => {
    expect(sameKindAs("autowerkstatt")).toContain("repair")
    expect(sameKindAs("repair")).toEqual([])
  })

  it("is none where it is a word of names", () => {
    expect(sameKindAs("fox")).toEqual([])
  })
})

describe("of the words of a search", () => {
  const places = new Set(["kansas", "city", "denver", "sandwich"])
  const content = (search: string) => contentOf(search.split(" "), (word) => places.has(word)).join(" ")
  it.each([
    ["shoe store kansas city", "shoe kansas city"],
    ["sandwich shop", "sandwich"],
    ["restaurants in denver", "restaurants denver"],
    ["where can i get clam chowder in denver", "clam chowder denver"],
    ["fast food denver", "fast food denver"],
    ["thai food denver", "thai denver"],
    ["vape shop denver", "vape denver"],
    ["shop", "shop"],
    ["the best", "the best"]
  ])("%j those that tell what is looked for are %j", (search, telling) => {
    expect(content(search)).toBe(telling)
  })
})

describe("a search asks for what is open now", () => {
  it.each([
    ["pub open now", "pub"],
    ["which pubs are open right now in denver", "which pubs are in denver"],
    ["pubs that are open now", "pubs"],
    ["Zahnarzt jetzt geöffnet", "Zahnarzt"],
    ["open now", ""]
  ])("%j, for %j", (query, rest) => {
    expect(openNowOf(query)).toBe(rest)
  })
  it.each(["open late", "Open Nowhere Bar", "open 24 hours"])("not by %j", (query) => {
    expect(openNowOf(query)).toBeUndefined()
  })
})
