import MiniSearch from "minisearch"
import { groupOf, wordsOf } from "./tool-words.ts"
import { type Tool } from "./Tool.ts"

/** Words that say nothing of what a tool is for. */
const silent = new Set(
  ("a an and are as at be by can could do does for from have how i in is it its me my of on one or our please so some that " +
    "the their them there these this to tool want we what which with would you your need needs use using").split(" ")
)

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

/** Of the tools, those that fit a query's words, the best first: by name, by what they are about, by what they take. */
export const searchTools = (tools: ReadonlyArray<Tool>) => {
  const index = new MiniSearch<{ readonly id: number }>({
    fields: ["name", "title", "words", "group", "description", "inputs"],
    processTerm: wordOf,
    tokenize: (text) => text.match(/[\p{L}\p{N}']+/gu) ?? [],
    searchOptions: {
      boost: { name: 4, title: 3, words: 4, group: 0.7, description: 1, inputs: 0.5 },
      prefix: (term) => term.length > 3,
      fuzzy: (term) => term.length > 4 ? 0.3 : false,
      weights: { fuzzy: 0.3, prefix: 0.6 }
    }
  })
  index.addAll(tools.map(({ description, inputSchema, name, title }, id) => ({
    id,
    name: name.replaceAll("_", " "),
    title,
    words: wordsOf[name] ?? "",
    group: groupOf(name)?.words ?? "",
    description,
    // "projectId" is "project Id" to who searches.
    inputs: Object.keys(inputSchema["properties"] ?? {}).join(" ").replace(/([a-z])([A-Z])/g, "$1 $2")
  })))

  return (query: string): ReadonlyArray<Tool> => {
    const exact = tools.find(({ name }) => name === query.trim().toLowerCase())
    // The parts of a host's or an image's name are about nothing.
    const found = index.search(query.replace(/\S+[./:]\S+/g, " ")).flatMap(({ id }) => tools[Number(id)] ?? [])
    return exact === undefined ? found : [exact, ...found.filter((tool) => tool !== exact)]
  }
}
