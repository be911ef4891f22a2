import { typos } from "#src/directory/spelling.ts"
import { nearest } from "#src/format/nearest.ts"
import MiniSearch, { type SearchResult } from "minisearch"
import { groupOf, wordsOf } from "./tool-words.ts"
import { type Tool } from "./Tool.ts"

/** Words that say nothing of what a tool is for. */
const silent = new Set(
  ("a an and are as at be by can could do does for from have hello help hi how i in is it its me my of on one or our " +
    "please so some tell that the their them there these thing this to tool want we what which with would you your need " +
    "needs use using").split(" ")
)

const wordsIn = (text: string): ReadonlyArray<string> => text.match(/[\p{L}\p{N}']+/gu) ?? []

/** Without its ending, so that `servers`, `deploying` and `deployed` are found as `server` and `deploy`. */
const stem = (word: string) => {
  const bare = word.replace(/(?:'s|ies|ing|ed|es|s)$/, (ending) => ending === "ies" ? "y" : "")
  const base = bare.length >= 3 ? bare : word
  return base.length > 4 ? base.replace(/e$/, "") : base
}

const wordOf = (term: string) => {
  const word = term.toLowerCase()
  return silent.has(word) ? null : stem(word)
}

const lettersOf = (word: string) => [...word].toSorted().join("")

/** How many slips make the one word of the other; undefined: it is another word. The first letter is seldom mistyped. */
const slipsFrom = (typed: string, known: string) => {
  if (typed[0] !== known[0] || typed.length < 4) return undefined
  const count = typos(typed, known, typed.length < 6 ? 1 : 2)
  return count === Infinity || typed.length === 4 && lettersOf(typed) !== lettersOf(known) ? undefined : count
}

/** What a tool is called and is about, and beside that what is said of it. */
const aboutOf = ({ name, title }: Tool) => ({
  name: name.replaceAll("_", " "),
  title,
  words: wordsOf[name] ?? "",
  group: groupOf(name)?.words ?? ""
})
const aboutFields: ReadonlySet<string> = new Set(["name", "title", "words", "group"])
const saidOf = ({ description, inputSchema }: Tool) => ({
  description,
  // "projectId" is "project Id" to who searches.
  inputs: Object.keys(inputSchema["properties"] ?? {}).join(" ").replace(/([a-z])([A-Z])/g, "$1 $2")
})

/** Words to try in place of those that no tool has. */
export const closestWords = (tools: ReadonlyArray<Tool>, query: string): ReadonlyArray<string> => {
  const known = tools.flatMap((tool) => Object.values(aboutOf(tool)).flatMap(wordsIn)).map((word) => word.toLowerCase())
  const all = [...new Set(known)].filter((word) => word.length > 3 && !silent.has(word))
  const asked = wordsIn(query).slice(0, 10).filter((word) => word.length > 3 && wordOf(word) !== null)
  return [...new Set(asked.flatMap((word) => nearest(word, all) ?? []))]
}

/** Of the tools, those that fit a query's words, the best first: by name, by what they are about, by what they take. */
export const searchTools = (tools: ReadonlyArray<Tool>) => {
  const vocabulary = new Map<string, string>()
  const index = new MiniSearch<{ readonly id: number }>({
    fields: ["name", "title", "words", "group", "description", "inputs"],
    processTerm: (term) => {
      const word = wordOf(term)
      if (word !== null) vocabulary.set(term.toLowerCase(), word)
      return word
    },
    tokenize: (text) => [...wordsIn(text)],
    searchOptions: {
      boost: { name: 4, title: 3, words: 4, group: 0.7, description: 1, inputs: 0.5 },
      prefix: (term) => term.length > 3,
      weights: { fuzzy: 0.3, prefix: 0.6 },
      processTerm: (term) => spelled(term)
    }
  })
  index.addAll(tools.map((tool, id) => ({ id, ...aboutOf(tool), ...saidOf(tool) })))
  const stems = [...new Set(vocabulary.values())]

  /** A word that no tool has, nor the beginning of one, is one mistyped. */
  const spelled = (term: string) => {
    const word = wordOf(term)
    if (word === null || stems.some((known) => known === word || word.length > 3 && known.startsWith(word))) return word
    const slips = [...vocabulary].flatMap(([known, base]) => {
      const count = slipsFrom(term.toLowerCase(), known)
      return count === undefined ? [] : [{ base, count }]
    })
    const fewest = Math.min(...slips.map(({ count }) => count))
    return slips.length === 0 ? word : [...new Set(slips.flatMap(({ base, count }) => count === fewest ? base : []))]
  }

  /** A passing word of a description is not what the tool is for: there most of the query's words must be. */
  const isMeant = ({ match, queryTerms }: SearchResult, asked: number) =>
    Object.values(match).flat().some((field) => aboutFields.has(field)) || queryTerms.length > asked / 2

  return (query: string): ReadonlyArray<Tool> => {
    const exact = tools.find(({ name }) => name === query.trim().toLowerCase())
    // The parts of a host's or an image's name are about nothing.
    const words = query.replace(/\S+[./:]\S+/g, " ")
    const asked = wordsIn(words).filter((word) => wordOf(word) !== null).length
    const found = index.search(words).filter((result) => isMeant(result, asked)).flatMap(({ id }) =>
      tools[Number(id)] ?? []
    )
    return exact === undefined ? found : [exact, ...found.filter((tool) => tool !== exact)]
  }
}
