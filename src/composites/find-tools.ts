import { type AnyTool } from "./merge.ts"

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** Singular and plural count as one; so do a word and its beginning. */
const says = (words: ReadonlyArray<string>, asked: string) =>
  words.some((word) => word === asked || asked.length > 3 && word.startsWith(asked.replace(/s$/, "")))

const businessesOf = (tool: AnyTool) => tool.kind === "merged" ? tool.slugs : [tool.slug]
const byReach = (one: AnyTool, other: AnyTool) => businessesOf(other).length - businessesOf(one).length

const scoreOf = (tool: AnyTool, asked: ReadonlyArray<string>) => {
  const name = wordsOf(tool.tool.replaceAll("_", " "))
  const rest = wordsOf(
    `${tool.title ?? ""} ${tool.description} ${Object.keys(tool.inputSchema["properties"] ?? {}).join(" ")}`
  )
  const slugs = businessesOf(tool).flatMap(wordsOf)
  return asked.reduce(
    (sum, word) => sum + (says(name, word) ? 3 : 0) + (says(slugs, word) ? 2 : 0) + (says(rest, word) ? 1 : 0),
    0
  )
}

/**
 * The tools whose name, words, arguments or business have the words of the query, the best first; without a query all.
 * Those that reach more businesses come before those of one: one member's many tools hide nobody else's.
 */
export const findTools = (tools: ReadonlyArray<AnyTool>, query: string): ReadonlyArray<AnyTool> => {
  const asked = wordsOf(query)
  if (asked.length === 0) return [...tools].sort(byReach)
  return tools.map((tool) => ({ tool, score: scoreOf(tool, asked) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || byReach(one.tool, other.tool))
    .map(({ tool }) => tool)
}
