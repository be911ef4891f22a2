import { typos } from "#src/directory/spelling.ts"
import { nearest } from "#src/format/nearest.ts"
import MiniSearch from "minisearch"
import {
  ambiguous,
  ending,
  isUnclear,
  mayBegin,
  silent,
  stem,
  stemsIn,
  vague,
  verbs,
  wordOf,
  wordsIn
} from "./search-words.ts"
import { groupOf, wordsOf } from "./tool-words.ts"
import { type Tool } from "./Tool.ts"

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
  const close = asked.flatMap((word) => all.some((one) => stem(one) === wordOf(word)) ? [] : nearest(word, all) ?? [])
  return [...new Set(close)]
}

/** How much of a query's words a tool must have: one common word in passing is no match. */
const enough = 0.7
/** And where one of the words is of few tools alone. */
const enoughOfFew = 0.55
/** A word that more tools are called or described by tells none of them apart. */
const few = 6
/** A word that more descriptions than these have tells nothing of any of them. */
const rare = 4

/** How far a tool is what the query's words ask for, from 0 to 1; 0: not at all. A word may have several spellings. */
const coverageIn = (tools: ReadonlyArray<Tool>) => {
  const known = tools.map((tool) => {
    const { group, name, title, words } = aboutOf(tool)
    const { description, inputs } = saidOf(tool)
    return { tool, own: stemsIn(name, title, words), group: stemsIn(group), said: stemsIn(description, inputs) }
  })
  const withWord = (part: "own" | "group" | "said", word: string) => {
    const has = (stems: ReadonlySet<string>) =>
      stems.has(word) || mayBegin(word) && [...stems].some((one) => one.startsWith(word))
    return new Set(known.filter((one) => has(one[part])).map(({ tool }) => tool))
  }
  const meaningOf = (word: string) => {
    const [own, group, said] = [withWord("own", word), withWord("group", word), withWord("said", word)]
    return {
      worth: (tool: Tool) =>
        own.has(tool) ? 1 : group.has(tool) ? 0.7 : !said.has(tool) ? 0 : said.size > rare ? 0.2 : 0.8,
      isTelling: (tool: Tool) => own.has(tool) && own.size <= few && !verbs.has(word) && !ambiguous.has(word)
    }
  }
  const weightOf = (spellings: ReadonlyArray<string>) =>
    spellings.some((word) => vague.has(word)) ? 0.2 : spellings.some((word) => verbs.has(word)) ? 0.5 : 1

  return (asked: ReadonlyArray<ReadonlyArray<string>>) => {
    if (isUnclear(asked.flat())) return () => 0
    const meanings = asked.map((spellings) => ({ weight: weightOf(spellings), words: spellings.map(meaningOf) }))
    const all = meanings.reduce((sum, { weight }) => sum + weight, 0)
    return (tool: Tool) => {
      const found = meanings.reduce(
        (sum, { weight, words }) => sum + weight * Math.max(...words.map(({ worth }) => worth(tool))),
        0
      )
      const isFew = meanings.some(({ words }) => words.some(({ isTelling }) => isTelling(tool)))
      return all === 0 || found / all < (isFew ? enoughOfFew : enough) ? 0 : found / all
    }
  }
}

/** A tool that loses something comes late, unless the query says one of its words or that something shall end. */
const rankOf = ({ annotations, name }: Tool, asked: ReadonlyArray<string>) => {
  if (annotations.destructiveHint !== true) return 1
  const own = stemsIn(name.replaceAll("_", " "), wordsOf[name] ?? "")
  return asked.some((word) => ending.has(word) || verbs.has(word) && own.has(word)) ? 1 : 0.1
}

export interface Matches {
  /** Those that the query names. */
  readonly named: ReadonlyArray<Tool>
  /** Further ones that its words fit, the best first. */
  readonly found: ReadonlyArray<Tool>
}

/** Of the tools, those that fit a query's words: by name, by what they are about, by what they take. */
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
      prefix: mayBegin,
      weights: { fuzzy: 0.3, prefix: 0.6 },
      boostTerm: (term) => vague.has(term) ? 0.1 : 1,
      processTerm: (term) => spelled(term)
    }
  })
  const covers = coverageIn(tools)
  index.addAll(tools.map((tool, id) => ({ id, ...aboutOf(tool), ...saidOf(tool) })))
  const stems = [...new Set(vocabulary.values())]

  /** A word that no tool has, nor the beginning of one, is one mistyped. */
  const spelled = (term: string) => {
    const word = wordOf(term)
    if (
      word === null || verbs.has(word) ||
      stems.some((known) => known === word || word.length > 3 && known.startsWith(word))
    ) return word
    const slips = [...vocabulary].flatMap(([known, base]) => {
      const count = slipsFrom(term.toLowerCase(), known)
      return count === undefined ? [] : [{ base, count }]
    })
    const fewest = Math.min(...slips.map(({ count }) => count))
    return slips.length === 0 ? word : [...new Set(slips.flatMap(({ base, count }) => count === fewest ? base : []))]
  }

  /** A tool that is called by its name is meant, whatever else the query says. */
  const namedIn = (query: string) => {
    const whole = query.trim().toLowerCase()
    const names = new Set(whole.match(/[a-z]+(?:_[a-z]+)+/g))
    return tools.filter(({ name }) => name === whole || names.has(name))
  }

  return (query: string): Matches => {
    // The parts of a host's or an image's name are about nothing.
    const words = [...new Set(wordsIn(query.toLowerCase().replace(/\S+[./:]\S+/g, " ")))]
    const asked = words.flatMap((term) => {
      const spellings = spelled(term)
      return spellings === null ? [] : [[spellings].flat()]
    })
    const covered = covers(asked)
    const ranked = index.search(words.join(" ")).flatMap(({ id, score }) => {
      const tool = tools[Number(id)]!
      const coverage = covered(tool)
      return coverage === 0 ? [] : [{ tool, rank: score * coverage ** 3 * rankOf(tool, asked.flat()) }]
    })
    const named = namedIn(query)
    const found = ranked.toSorted((a, b) => b.rank - a.rank).map(({ tool }) => tool)
    return { named, found: found.filter((tool) => !named.includes(tool)) }
  }
}
