import { Array, Effect, Either } from "effect"
import {
  type DescribedTools,
  type FindTools,
  type FoundTools,
  mostListedTools,
  NotOffered,
  usuallyFound
} from "./CallableComposite.ts"
import { described } from "./described-tool.ts"
import { findTools } from "./find-tools.ts"
import { businessesArgument } from "./input-schema.ts"
import { type AnyTool, type MergedTool } from "./merge.ts"
import { memberName, shortestSlug } from "./tool-names.ts"

/** A tool as one member's that several have alike, and whose it would be. */
const mergedOf = (tools: ReadonlyArray<AnyTool>, name: string) => {
  const merged = tools.filter((tool): tool is MergedTool => tool.kind === "merged")
  for (const tool of merged) {
    // A long slug is cut in a name, and to make all names that there might be takes long.
    const slug = tool.slugs.find((one) =>
      name.startsWith(one.slice(0, shortestSlug)) && memberName(one, tool.tool) === name
    )
    if (slug !== undefined) return { name: tool.name, slug }
  }
  return undefined
}

/** Those that are listed and found. */
export const forModels = (tools: ReadonlyArray<AnyTool>) => tools.filter((tool) => !tool.isForViews)

export const areSearched = (tools: ReadonlyArray<AnyTool>) => forModels(tools).length + 1 > mostListedTools

/** What to do instead of calling a tool that is not there. */
export const insteadOf = (tools: ReadonlyArray<AnyTool>, name: string) => {
  const merged = mergedOf(tools, name)
  if (merged !== undefined) {
    return `Several businesses have it alike: ${areSearched(tools) ? "call_tool" : "call"} ${merged.name} with ` +
      `${businessesArgument}: ["${merged.slug}"].`
  }
  return areSearched(tools) ? "find_tools finds one by what it does." : "tools/list has those that there are."
}

export const toolNamed = (tools: ReadonlyArray<AnyTool>, name: string): Either.Either<AnyTool, NotOffered> => {
  const tool = tools.find((one) => one.name === name)
  return tool === undefined
    ? Either.left(new NotOffered({ what: "tool", name, instead: insteadOf(tools, name) }))
    : Either.right(tool)
}

const nothingFound = (query: string) =>
  `No tool matches "${query}". Say in other words what you want to do, or leave query out: all tools come then, those ` +
  "of most businesses first."

/** `find_tools`. */
export const foundIn = (
  tools: ReadonlyArray<AnyTool>,
  { limit = usuallyFound, offset = 0, query = "" }: typeof FindTools.Type
): FoundTools => {
  const matching = findTools(forModels(tools), query)
  return {
    tools: matching.slice(offset, offset + limit).map((tool) => ({
      name: tool.name,
      description: tool.description,
      businesses: tool.kind === "merged" ? tool.slugs : [tool.slug],
      arguments: Object.keys(tool.inputSchema["properties"] ?? {}),
      readOnly: tool.annotations.readOnlyHint
    })),
    total: matching.length,
    ...(matching.length === 0 ? { hint: nothingFound(query) } : {})
  }
}

/** `describe_tools`: those that there are; fails where there is none of them. */
export const describedIn = Effect.fnUntraced(
  function*(tools: ReadonlyArray<AnyTool>, names: ReadonlyArray<string>) {
    const [missing, known] = Array.separate(names.map((name) => toolNamed(tools, name)))
    const [first] = missing
    if (first !== undefined && known.length === 0) return yield* first
    const unknown = missing.map(({ instead, name }) => ({ name, instead }))
    return { tools: known.map(described), ...(unknown.length === 0 ? {} : { unknown }) } satisfies DescribedTools
  }
)
