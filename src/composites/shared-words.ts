import { type McpToolDefinition } from "#src/servers/McpFeatures.ts"
import { canonicalJson } from "#src/shared/canonical-json.ts"
import { type JsonSchema, sameArguments, withoutWords } from "./input-schema.ts"
import { mergedName } from "./tool-names.ts"

/** A member's tool. */
export interface Copy {
  readonly slug: string
  /** The member's name, without what turns the words after it around: it stands in descriptions. */
  readonly owner: string
  readonly tool: McpToolDefinition
}

const areAlike = (values: ReadonlyArray<unknown>) =>
  new Set(values.map((value) => value === undefined ? "" : canonicalJson(JSON.stringify(value)))).size === 1

/** A schema for all, whose words stay where they are everybody's. */
const sharedSchema = ([first, ...others]: ReadonlyArray<JsonSchema>) =>
  first === undefined || areAlike([first, ...others]) ? first : withoutWords(first)

/** Of a member's answer, where all have the same. */
export const outputOf = (copies: ReadonlyArray<Copy>): JsonSchema | undefined => {
  const schemas = copies.flatMap(({ tool: { outputSchema } }) => outputSchema === undefined ? [] : [outputSchema])
  const isShared = schemas.length === copies.length && new Set(schemas.map(sameArguments)).size === 1
  return isShared ? sharedSchema(schemas) : undefined
}

/** A tool's words, without its owner's name. */
const neutral = ({ owner, tool }: Copy): McpToolDefinition => {
  const without = (text: string) => owner.length < 3 ? text : text.replaceAll(owner, "the business")
  return {
    ...tool,
    description: without(tool.description),
    ...(tool.title === undefined ? {} : { title: without(tool.title) })
  }
}

/** For members whose words differ: nobody speaks for the others. */
const ourWords = (name: string, { properties = {} }: JsonSchema) => {
  const names = Object.keys(properties as object)
  return `Calls ${name}, which each business describes in its own words.` +
    (names.length === 0 ? "" : ` It takes ${names.join(", ")}.`)
}

/** What a merged tool is described by: words that all copies share, and ours in place of those in which they differ. */
export const spokesman = (copies: ReadonlyArray<Copy>): McpToolDefinition => {
  const tools = copies.map(neutral)
  const { title, ...first } = tools[0]!
  const isShared = (part: "title" | "description") => areAlike(tools.map((tool) => tool[part]))
  return {
    ...first,
    ...(title !== undefined && isShared("title") ? { title } : {}),
    description: isShared("description") ? first.description : ourWords(mergedName(first.name), first.inputSchema),
    inputSchema: sharedSchema(tools.map(({ inputSchema }) => inputSchema))!
  }
}
