/**
 * What the directory must answer, written down once more and another way: it shares no code with the program.
 */

/** A listing as the tests make it. */
export interface Seed {
  readonly id: string
  readonly name: string
  readonly categories: ReadonlyArray<string>
  readonly city: string
  readonly state: string
  readonly industry: string
  readonly templateType: string
  readonly lat: number | null
  readonly lng: number | null
  readonly tier: number
  readonly score: number
  readonly active: boolean
}

/** The query's parameters, as text or numbers. */
export type Question = Readonly<Partial<Record<string, string | number>>>

const ascii: Readonly<Record<string, string>> = {
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  ı: "i",
  œ: "oe",
  æ: "ae",
  ß: "ss",
  þ: "th"
}

const listOf = (name: string) =>
  name.replaceAll("&", " and ").normalize("NFKD").replace(/[\u0300-\u036f'\u2019.]/g, "").normalize("NFC")
    .toLowerCase().replace(/[øłđðıœæßþ]/g, (letter) => ascii[letter]!).split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
const wordsOf = (name: string) => new Set(listOf(name))

/** Pairs of words that are the same. */
const same = [["st", "saint"], ["st", "street"], ["7", "seven"]]
const formsOf = (words: Iterable<string>) =>
  new Set([...words].flatMap((word) => [word, ...same.flatMap((pair) => pair.includes(word) ? pair : [])]))

/** Some of the words that count only when a search has no others. */
const stops = new Set(["and", "the", "of", "near", "me", "best"])

/** Words for the same kind of business: who asks for the first finds the others. */
const kinds = [["pizza", "pizzeria"], ["pizzeria", "pizza"], ["barber", "hair"], ["coffee", "cafe"], ["cafe", "coffee"]]
const sameKind = (asked: string, word: string) => kinds.some(([from, to]) => from === asked && to === word)

/** And each end of a word in a script that goes without spaces. */
const partsOf = (name: string) =>
  formsOf(
    [...wordsOf(name)].flatMap((word) => {
      const signs = [...word]
      return [
        word,
        ...signs.flatMap((sign, i) =>
          /[\p{sc=Hangul}\p{sc=Han}\p{sc=Katakana}ー]/u.test(sign) ? [signs.slice(i).join("")] : []
        )
      ]
    })
  )
/** What a listing is found by: the words of its name, and those of its place and categories. */
const allPartsOf = ({ categories, city, name, state }: Seed) => partsOf([name, city, state, ...categories].join(" "))

/** Trigrams as pg_trgm counts them: of each word with two spaces before and one after. */
const trigrams = (text: string) => {
  const all = new Set<string>()
  for (const word of text.toLowerCase().split(/[^a-z0-9]+/).filter((word) => word !== "")) {
    const padded = `  ${word} `
    for (let i = 0; i + 3 <= padded.length; i++) all.add(padded.slice(i, i + 3))
  }
  return all
}
const similarity = (a: string, b: string) => {
  const [of, other] = [trigrams(a), trigrams(b)]
  const shared = [...of].filter((trigram) => other.has(trigram)).length
  return shared === 0 ? 0 : Math.fround(shared / (of.size + other.size - shared))
}
const alike = (a: string, b: string) => similarity(a, b) >= Math.fround(0.3)

/** Whether so many letters added, left out, changed or swapped with the next lead from one word to the other. */
const within = (from: ReadonlyArray<string>, to: ReadonlyArray<string>, edits: number): boolean => {
  if (from.length === 0 || to.length === 0) return from.length + to.length <= edits
  const [[a, ...restOfFrom], [b, ...restOfTo]] = [from, to] as const
  if (a === b) return within(restOfFrom, restOfTo, edits)
  if (edits === 0) return false
  return within(restOfFrom, restOfTo, edits - 1) || within(restOfFrom, to, edits - 1) ||
    within(from, restOfTo, edits - 1) ||
    (a === restOfTo[0] && restOfFrom[0] === b && within(restOfFrom.slice(1), restOfTo.slice(1), edits - 1))
}

/**
 * How a word of a listing fits one that was asked for: 0 is it; 1 begins with it; 2 one typo (asked for four letters or more);
 * 3 two (both from eight on). Undefined: not at all.
 */
const fitOf = (asked: string, word: string) => {
  if (asked === word) return 0
  if (sameKind(asked, word)) return 1
  const [from, to] = [[...asked], [...word]]
  if (word.startsWith(asked)) return 1
  if (from.length < 4) return undefined
  if (within(from, to, 1)) return 2
  return from.length >= 8 && to.length >= 8 && within(from, to, 2) ? 3 : undefined
}

interface Place {
  readonly lat: number
  readonly lng: number
}

/** As the angle between two directions from the centre of the earth, whose radius is 3958.7613 miles (WGS 84, mean). */
const distanceMiles = (a: Place, b: Place) => {
  const direction = ({ lat, lng }: Place) => {
    const [north, east] = [lat * Math.PI / 180, lng * Math.PI / 180]
    return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)] as const
  }
  const [from, to] = [direction(a), direction(b)]
  const chord = Math.hypot(from[0] - to[0], from[1] - to[1], from[2] - to[2])
  return 2 * 3958.7613 * Math.asin(Math.min(1, chord / 2))
}

const levels = ["unverified", "phone_verified", "business_verified", "premium_verified"]
const holds = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase())

const fits = (seed: Seed, asked: Question) => {
  const { category, city, lat, lng, location, min_verification: level, radius_miles: miles, templateType } = asked
  if (!seed.active) return false
  if (category !== undefined && !seed.categories.includes(String(category))) return false
  if (city !== undefined && seed.city.toLowerCase() !== String(city).toLowerCase()) return false
  if (location !== undefined && !holds(seed.city, String(location)) && !holds(seed.state, String(location))) {
    return false
  }
  if (templateType !== undefined && ![seed.templateType, seed.industry].includes(String(templateType))) return false
  if (level !== undefined && seed.tier < levels.indexOf(String(level))) return false
  if (miles === undefined) return true
  return seed.lat !== null && seed.lng !== null &&
    distanceMiles({ lat: Number(lat), lng: Number(lng) }, { lat: seed.lat, lng: seed.lng }) <= Number(miles)
}

interface Match {
  readonly seed: Seed
  /** How many of the words that were asked for it has. */
  readonly hits: number
  /** Compared from the first to the last, lower first. */
  readonly order: ReadonlyArray<number>
}

/** How each listing matches a search; undefined: not at all. */
const matcher = (seeds: ReadonlyArray<Seed>, search: string) => {
  const last = listOf(search).at(-1)
  const shown = seeds.filter(({ active }) => active)
  const vocabulary = [...new Set(shown.flatMap((seed) => [...allPartsOf(seed)]))]
  /** One or two letters before the last word are no beginning. */
  const isWhole = (word: string) => word !== last && /^[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{N}]{1,2}$/u.test(word)
  const fit = (word: string, other: string) => {
    const found = isWhole(word) && word !== other ? undefined : fitOf(word, other)
    // Two typos only where a trigram search would have led to the word.
    return found === 3 && !alike(word, other) ? undefined : found
  }
  const all = [...wordsOf(search)]
  const telling = all.filter((word) => !stops.has(word))
  const places = wordsOf(shown.map(({ city, state }) => `${city} ${state}`).join(" "))
  const special = telling.filter((word) => word !== "restaurant")
  const content = special.some((word) => !places.has(word)) ? special : telling
  const asked = (content.length === 0 ? all : content)
    .filter((word) => vocabulary.some((other) => fit(word, other) !== undefined))
  const extra = content.length === 0 ? [] : all.filter((word) => !content.includes(word))
  const best = (word: string, parts: ReadonlySet<string>) =>
    Math.min(...[...parts].map((other) => fit(word, other) ?? Infinity))
  return (seed: Seed): Match | undefined => {
    if (asked.length === 0) {
      return alike(seed.name, search)
        ? { seed, hits: 1, order: [Math.round(10 * (1 - similarity(seed.name, search)))] }
        : undefined
    }
    const [name, everything] = [partsOf(seed.name), allPartsOf(seed)]
    const fits = asked.map((word) => best(word, name) === Infinity ? best(word, everything) : best(word, name))
      .filter((fit) => fit !== Infinity)
    if (fits.length === 0) return undefined
    const inName = asked.filter((word) => best(word, name) !== Infinity).length
    const also = extra.filter((word) => name.has(word)).length
    const others = Math.max(0, wordsOf(seed.name).size - inName - also)
    return { seed, hits: fits.length, order: [asked.length - inName, Math.min(2, Math.max(...fits)), others, -also] }
  }
}

/** The ids of all that fit, best first: by how well they match, then by score, then by id. */
export const answerTo = (seeds: ReadonlyArray<Seed>, asked: Question) => {
  const match = asked["search"] === undefined
    ? (seed: Seed): Match | undefined => ({ seed, hits: 0, order: [] })
    : matcher(seeds, String(asked["search"]))
  const matches = seeds.filter((seed) => fits(seed, asked)).flatMap((seed) => match(seed) ?? [])
  const most = Math.max(...matches.map(({ hits }) => hits))
  const byOrder = (a: Match, b: Match) => a.order.reduce((difference, part, i) => difference || part - b.order[i]!, 0)
  return matches
    .filter(({ hits }) => hits === most)
    .sort((a, b) => byOrder(a, b) || b.seed.score - a.seed.score || (a.seed.id < b.seed.id ? -1 : 1))
    .map(({ seed }) => seed.id)
}
