/** The questions that are asked: each filter, each pair, and some of more, made of what is in the directory. */
import { type Brand, brands, zips } from "./data.ts"

const draw = (() => {
  let seed = 7
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }
})()
const pick = <A>(values: ReadonlyArray<A>) => values[Math.floor(draw() * values.length)]!

type Parameters = Readonly<Record<string, string | number>>
interface Subject {
  readonly brand: Brand
  readonly zip: (typeof zips)[number]
}

/** One letter left out, doubled, changed or swapped in the longest word. */
export const mistyped = (name: string) => {
  const word = name.split(/[^\p{L}\p{N}]+/u).sort((a, b) => b.length - a.length)[0] ?? ""
  if (word.length < 5) return name
  const at = 1 + Math.floor(draw() * (word.length - 2))
  const wrong = pick([
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at) + word.charAt(at) + word.slice(at),
    `${word.slice(0, at)}e${word.slice(at + 1)}`,
    word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2)
  ])
  return name.replace(word, wrong)
}

const circleOf = (miles: number) => ({ zip }: Subject): Parameters => ({
  lat: zip.latitude,
  lng: zip.longitude,
  radius_miles: miles
})

const filters: Readonly<Record<string, (subject: Subject) => Parameters>> = {
  search: ({ brand }) => ({ search: draw() < 0.5 ? brand.name : mistyped(brand.name) }),
  category: ({ brand }) => ({ category: pick(brand.categories) }),
  location: ({ zip }) => ({ location: draw() < 0.3 ? zip.state : zip.city.slice(0, 5).trim() }),
  templateType: ({ brand }) => ({ templateType: brand.templateType }),
  city: ({ zip }) => ({ city: zip.city.toLowerCase() }),
  circle: circleOf(25),
  min_verification: () => ({ min_verification: pick(["phone_verified", "business_verified", "premium_verified"]) })
}

const metropoles: ReadonlyArray<readonly [number, number]> = [[40.71, -74.01], [34.05, -118.24], [41.88, -87.63]]

/** A brand that has listings, seldom ones as often as others. */
export const anyBrand = () => pick(brands)

/** Brands as the listings have them: some are everywhere. */
const subject = (): Subject => ({ brand: brands[Math.floor(draw() ** 2 * brands.length)]!, zip: pick(zips) })

const asking = (...parts: ReadonlyArray<(subject: Subject) => Parameters>) => () => {
  const about = subject()
  return Object.assign({}, ...parts.map((part) => part(about))) as Parameters
}

const lettersOf = (name: string, count: number) => name.trim().slice(0, count)
const kindOf = ({ brand }: Subject) => (brand.categories[0] ?? "restaurant").replaceAll("_", " ")

export interface Case {
  readonly name: string
  readonly aim: number
  readonly question: () => Parameters
}

const names = Object.keys(filters)
const together = (...chosen: ReadonlyArray<string>) => ({
  name: chosen.join(" + "),
  aim: 50,
  question: asking(...chosen.map((name) => filters[name]!))
})

export const cases: ReadonlyArray<Case> = [
  { name: "no filter", aim: 50, question: () => ({}) },
  { name: "search, as it is written", aim: 50, question: asking(({ brand }) => ({ search: brand.name })) },
  { name: "search, one typo", aim: 50, question: asking(({ brand }) => ({ search: mistyped(brand.name) })) },
  { name: "search, three letters", aim: 50, question: asking(({ brand }) => ({ search: lettersOf(brand.name, 3) })) },
  { name: "search, one letter", aim: 50, question: asking(({ brand }) => ({ search: lettersOf(brand.name, 1) })) },
  {
    name: "search, a name and its city",
    aim: 50,
    question: asking(({ brand, zip }) => ({ search: `${brand.name} ${zip.city}` }))
  },
  { name: "search, a kind", aim: 50, question: asking((subject) => ({ search: kindOf(subject) })) },
  {
    name: "search, a kind and a city",
    aim: 50,
    question: asking((subject) => ({ search: `${kindOf(subject)} ${subject.zip.city}` }))
  },
  {
    name: "a kind and a state",
    aim: 50,
    question: asking((subject) => ({ search: kindOf(subject), location: subject.zip.state }))
  },
  { name: "location, three letters", aim: 50, question: asking(({ zip }) => ({ location: lettersOf(zip.city, 3) })) },
  { name: "location, a state", aim: 50, question: asking(({ zip }) => ({ location: zip.state })) },
  { name: "circle of 10 miles", aim: 50, question: asking(circleOf(10)) },
  {
    name: "circle of 50 miles, metropolis",
    aim: 200,
    question: () => {
      const [lat, lng] = pick(metropoles)
      return { lat: lat + draw() / 100, lng, radius_miles: 50 }
    }
  },
  ...names.map((name) => together(name)),
  ...names.flatMap((first, at) => names.slice(at + 1).map((second) => together(first, second))),
  together("search", "category", "circle"),
  together("city", "templateType", "min_verification"),
  together("location", "category", "min_verification"),
  together("category", "templateType", "circle", "min_verification"),
  together(...names)
]
