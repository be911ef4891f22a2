/** What people ask a directory, made of what is in it, each with what a person expects among the first three. */

/** A listing as far as questions are made of it and answers are judged by it. */
export interface Listed {
  readonly name: string
  readonly city: string
  readonly state: string
  readonly categories: ReadonlyArray<string>
}

export interface Question {
  readonly kind: string
  readonly search: string
  readonly isExpected: (listed: Listed) => boolean
}

/** Numbers that are the same each time. */
const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}

/** As a reader takes it: without case, accents, punctuation and spaces. */
const plain = (text: string) =>
  text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replaceAll("&", "and").replace(
    /[^\p{L}\p{N}]+/gu,
    ""
  )
const wordsOf = (text: string) => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "")

/** What a word of a name may be written as instead. */
const numbers = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]

type Make = (listed: Listed, next: () => number) => string | undefined

const typo: Make = ({ name }, next) => {
  const word = wordsOf(name).toSorted((a, b) => b.length - a.length)[0] ?? ""
  if (word.length < 6) return undefined
  const at = 1 + Math.floor(next() * (word.length - 2))
  const wrong = [
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at) + word.charAt(at) + word.slice(at),
    `${word.slice(0, at)}e${word.slice(at + 1)}`,
    word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2)
  ][Math.floor(next() * 4)]!
  return name.replace(word, wrong)
}

const ofName: Readonly<Record<string, Make>> = {
  "the name": ({ name }) => name,
  "a typo": typo,
  "the, near me": ({ name }, next) => next() < 0.5 ? `the ${name}` : `${name} near me`,
  "and for &": ({ name }) => /\s&\s/.test(name) ? name.replace("&", "and") : undefined,
  "a word that is not in it": ({ name }, next) =>
    `${name} ${["reviews", "menu", "delivery", "quux"][Math.floor(next() * 4)]!}`,
  "no apostrophe": ({ name }) => /['’]/.test(name) ? name.replace(/['’]/g, "") : undefined,
  "numbers as words": ({ name }) => {
    const digit = /(?<![\p{L}\p{N}.-])(10|[0-9])(?![\p{L}\p{N}.])/u.exec(name)
    return digit === null ? undefined : name.replace(digit[0], numbers[Number(digit[0])]!)
  },
  "other letters": ({ name }) => /^[^\p{sc=Latin}]*\p{L}[^\p{sc=Latin}]*$/u.test(name) ? name : undefined
}

const plural = (word: string) =>
  /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : /(s|x|ch)$/.test(word) ? word : `${word}s`
const kindWord = ({ categories }: Listed) => categories.find((category) => /^[a-z]{4,}$/.test(category))

/** So many questions of each kind. */
export const questionsOf = (all: ReadonlyArray<Listed>, each: number): ReadonlyArray<Question> => {
  const next = random(11)
  const pick = () => all[Math.floor(next() * all.length)]!
  const some = (kind: string, make: (listed: Listed) => Omit<Question, "kind"> | undefined) => {
    const questions: Array<Question> = []
    for (let tries = 0; questions.length < each && tries < 50_000; tries++) {
      const question = make(pick())
      if (question !== undefined) questions.push({ kind, ...question })
    }
    return questions
  }
  const named = ({ name }: Listed) => (found: Listed) => plain(found.name).startsWith(plain(name))
  return [
    ...Object.entries(ofName).flatMap(([kind, make]) =>
      some(kind, (listed) => {
        const search = make(listed, next)
        return search === undefined ? undefined : { search, isExpected: named(listed) }
      })
    ),
    ...some("a name and its city", (listed) => ({
      search: `${listed.name} ${listed.city}`,
      isExpected: (found) => named(listed)(found) && found.city === listed.city
    })),
    ...some("a kind and a city", (listed) => {
      const kind = kindWord(listed)
      return kind === undefined ? undefined : {
        search: `${kind} ${listed.city}`,
        isExpected: (found) =>
          plain(found.city) === plain(listed.city) &&
          (found.categories.includes(kind) || plain(found.name).includes(kind))
      }
    }),
    ...some("a kind", (listed) => {
      const kind = kindWord(listed)
      return kind === undefined ? undefined : {
        search: kind,
        isExpected: (found) => found.categories.includes(kind) || plain(found.name).includes(kind)
      }
    }),
    ...some("a plural", (listed) => {
      const kind = kindWord(listed)
      return kind === undefined ? undefined : {
        search: plural(kind),
        isExpected: (found) => found.categories.includes(kind) || plain(found.name).includes(kind)
      }
    }),
    ...some("a beginning", ({ name }) => {
      const search = (wordsOf(name)[0] ?? "").slice(0, 1 + Math.floor(next() * 5))
      return search === "" ? undefined : {
        search,
        isExpected: (found) =>
          wordsOf([found.name, found.city, found.state, ...found.categories].join(" ")).some((word) =>
            plain(word).startsWith(plain(search))
          )
      }
    })
  ]
}
